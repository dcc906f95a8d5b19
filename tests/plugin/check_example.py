#!/usr/bin/env python3
"""examples/policy_plugin as its reader meets it: installed with the package, copied, built outside the tree and loaded by
the installed program.

usage: check_example.py CMAKE BUILD_DIR WORK_DIR CXX_COMPILER GENERATOR SANITIZERS
"""

import csv
import decimal
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

LONGEST_WAIT_SECONDS = 120
SHORT_PROMPT = 1000

# Of a later version: what a plugin says of itself begins with the number of the interface, whatever follows.
OTHER_INTERFACE = """
static const int description[] = {99};
extern "C" const void* inferometer_plugin() { return description; }
"""


def call(*command, cwd=None):
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LONGEST_WAIT_SECONDS,
        check=False,
    )


def must(*command, cwd=None):
    done = call(*command, cwd=cwd)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


class Request:
    """A row of requests.csv; times in picoseconds, which it has exactly."""

    def __init__(self, row):
        self.prompt = int(row["prompt_tokens"])
        self.arrived = int(decimal.Decimal(row["arrival_s"]) * 10**12)
        self.begun = self.arrived + int(decimal.Decimal(row["queue_ms"]) * 10**9)


class Example(unittest.TestCase):
    cmake = build = work = compiler = generator = sanitizers = ""

    @classmethod
    def setUpClass(cls):
        work = pathlib.Path(cls.work)
        shutil.rmtree(work, ignore_errors=True)
        must(cls.cmake, "--install", cls.build, "--prefix", work / "first")
        # A package must not remember where it was installed, nor an example where it lay.
        (work / "first").rename(work / "installed")
        cls.folder = work / "mine"
        (example,) = (work / "installed").rglob("policy_plugin")
        shutil.copytree(example, cls.folder)
        cls.flags = [f"-fsanitize={cls.sanitizers}"] if cls.sanitizers else []
        must(cls.cmake, "-S", cls.folder, "-B", cls.folder / "build", "-G", cls.generator,
             f"-DCMAKE_PREFIX_PATH={work / 'installed'}", f"-DCMAKE_CXX_COMPILER={cls.compiler}",
             f"-DCMAKE_CXX_FLAGS={' '.join(cls.flags)}")  # fmt: skip
        must(cls.cmake, "--build", cls.folder / "build")
        cls.program = work / "installed" / "bin" / "inferometer"
        cls.plugin = pathlib.Path("build/libshort_first.so")

    def run_program(self, *arguments):
        return call(self.program, *arguments, cwd=self.folder)

    def run_scenario(self, *arguments, out="out"):
        done = self.run_program("run", "short_first.yaml", "--plugin", self.plugin, "--out", out, "--requests-csv",
                                *arguments)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.folder / out / "requests.csv", encoding="utf-8", newline="") as file:
            return json.loads((self.folder / out / "results.json").read_text(encoding="utf-8")), list(csv.DictReader(file))

    def test_short_prompts_go_first(self):
        _, rows = self.run_scenario()
        self.assertEqual(len(rows), 1000)
        requests = [Request(row) for row in rows]
        chat = [each for each in requests if each.prompt <= SHORT_PROMPT]
        documents = [each for each in requests if each.prompt > SHORT_PROMPT]
        overtaken = 0
        for document in documents:
            for other in chat:
                waited = other.arrived < document.begun < other.begun
                self.assertFalse(waited, "a document was begun while chat waited")
                overtaken += document.arrived < other.arrived and other.begun < document.begun
        self.assertGreater(overtaken, 0)
        for kind in (chat, documents):
            begun = [each.begun for each in sorted(kind, key=lambda each: each.arrived)]
            self.assertEqual(begun, sorted(begun), "within a kind the first come is the first served")

    def test_both_steppers_agree(self):
        results, _ = self.run_scenario("--stepper", "check", out="checked")
        self.assertGreater(results["stepper"]["steps_in_stretches"], results["stepper"]["single_steps"])

    def test_results_name_the_plugin(self):
        results, _ = self.run_scenario(out="named")
        digest = "sha256:" + hashlib.sha256((self.folder / self.plugin).read_bytes()).hexdigest()
        self.assertIn(("plugin libshort_first.so", digest), [(each["name"], each["hash"]) for each in results["inputs"]])

    def test_it_is_described(self):
        done = self.run_program("describe", "policies", "--plugin", self.plugin)
        self.assertIn("one whole prompt a step, short ones first", done.stdout)
        done = self.run_program("describe", "engine", "--plugin", self.plugin)
        self.assertIn("Tokens up to which a prompt goes first", done.stdout)

    def test_without_the_plugin(self):
        done = self.run_program("run", "short_first.yaml")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("short_first.yaml:7:18: engine.policy: \"short_first\" is not one of ", done.stderr)
        self.assertIn(" (--plugin FILE loads others)", done.stderr)

    def test_another_interface_is_refused(self):
        (self.folder / "other.cpp").write_text(OTHER_INTERFACE, encoding="utf-8")
        must(self.compiler, "-shared", "-fPIC", *self.flags, "-o", "libother.so", "other.cpp", cwd=self.folder)
        done = self.run_program("run", "short_first.yaml", "--plugin", "libother.so")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(
            done.stderr,
            r"^error: --plugin: libother\.so was built for version 99 of the interface of plugins, and this program has "
            r"version \d+; build it anew against the package that was installed with this program\n$",
        )

    def compare(self, plugin):
        done = self.run_program("compare", "compare.yaml", "--plugin", plugin, "--out", "compared", "--jobs", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr, json.loads((self.folder / "compared" / "compare.json").read_text(encoding="utf-8"))

    def test_studies_know_it_by_its_contents(self):
        progress, report = self.compare(self.plugin)
        self.assertIn("10 runs in ", progress)
        self.assertIn("plugin libshort_first.so", [each["name"] for each in report["inputs"]])
        progress, _ = self.compare(self.plugin)
        self.assertIn("0 runs in ", progress)
        # Another file by its contents, which does the same: the variant that it serves is run anew, the other is not.
        changed = self.folder / "changed" / "libshort_first.so"
        changed.parent.mkdir()
        changed.write_bytes((self.folder / self.plugin).read_bytes() + b"\n")
        progress, again = self.compare(changed)
        self.assertIn("5 runs in ", progress)
        self.assertIn("5 more known from", progress)
        self.assertEqual(again["loads"], report["loads"])
        # Chat is six requests of seven, so half of all is chat that no longer waits behind documents; those are the slowest.
        first_come, short_first = (each["metrics"] for each in report["loads"][0]["variants"])
        self.assertLess(short_first["p50_ttft_ms"]["mean"], first_come["p50_ttft_ms"]["mean"])
        self.assertGreater(short_first["p99_ttft_ms"]["mean"], first_come["p99_ttft_ms"]["mean"])


if __name__ == "__main__":
    names = ["cmake", "build", "work", "compiler", "generator", "sanitizers"]
    for name, value in zip(names, sys.argv[1:]):
        setattr(Example, name, value)
    if not pathlib.Path(Example.cmake).exists():
        print(f"skipped: there is no {Example.cmake} to install and build with")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
