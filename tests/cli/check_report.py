#!/usr/bin/env python3
"""`inferometer run --report` from end to end: for each scenario a page whose numbers are those of results.json, the same by
either stepper, of bounded size, that changes no result.

usage: check_report.py PROGRAM
"""

import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
# Of which a run can make a page: those that are no studies.
RUNS = sorted(
    path.name
    for path in SCENARIOS.glob("*.yaml")
    if not re.search(r"^(variants|candidates)\s*:", path.read_text(encoding="utf-8"), re.MULTILINE)
)
FEW = ("--set", "workload.requests=150")
# A page may have so many bytes, however long the run was.
BYTES_MOST = 2_000_000
NUMBER = re.compile(r'data-field="([^"]*)" data-value="([^"]*)"')


def at_path(results, path):
    for word in path.split("."):
        results = results[int(word)] if isinstance(results, list) else results[word]
    return results


class ReportCase(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def call(self, scenario, *arguments):
        return subprocess.run(
            [PROGRAM, "run", str(SCENARIOS / scenario), "--quiet", *map(str, arguments)],
            cwd=self.path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def page(self, scenario, *arguments):
        done = self.call(scenario, "--report", "page.html", "--out", "out", *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), scenario)
        return (self.path / "page.html").read_text(encoding="utf-8")

    def results(self):
        return (self.path / "out" / "results.json").read_bytes()


class Pages(ReportCase):
    def test_numbers_are_those_of_results_json(self):
        for scenario in RUNS:
            with self.subTest(scenario):
                page = self.page(scenario, *(() if scenario == "replay_trace.yaml" else FEW))
                results = json.loads(self.results())
                numbers = NUMBER.findall(page)
                self.assertGreater(len(numbers), 50)
                for path, value in numbers:
                    self.assertEqual(at_path(results, html.unescape(path)), float(value), path)
                self.assertLess(len(page.encode()), BYTES_MOST)

    def test_steppers_write_the_same(self):
        # The page says how the steps were run, and nothing else differs.
        said = re.compile(r"Steps were run [^<]*")
        for scenario in ("quickstart.yaml", "kv_starved.yaml", "disaggregated.yaml", "pipeline_parallel.yaml"):
            arguments = (*FEW, *(("--set", "cluster.network.model=ideal") if scenario == "disaggregated.yaml" else ()))
            fast = said.sub("", self.page(scenario, *arguments))
            self.assertEqual(fast, said.sub("", self.page(scenario, *arguments, "--stepper", "reference")), scenario)
            self.assertEqual(fast, said.sub("", self.page(scenario, *arguments, "--stepper", "check")), scenario)

    def test_results_do_not_depend_on_it(self):
        self.page("quickstart.yaml", *FEW)
        watched = self.results()
        self.assertEqual(self.call("quickstart.yaml", "--out", "out", *FEW).returncode, 0)
        self.assertEqual(watched, self.results())

    def test_the_same_bytes_again(self):
        first = self.page("disaggregated.yaml", *FEW)
        self.assertEqual(first, self.page("disaggregated.yaml", *FEW))

    def test_a_long_run_has_no_larger_page(self):
        short = self.page("quickstart.yaml", "--set", "workload.requests=1000")
        long = self.page("quickstart.yaml", "--set", "workload.requests=20000")
        self.assertLess(len(long), 1.25 * len(short))

    def test_words_of_the_user_stay_text(self):
        (self.path / "b.yaml").write_text(
            f"extends: {SCENARIOS / 'quickstart.yaml'}\ndescription: '<script>alert(1)</script>'\n", encoding="utf-8"
        )
        page = self.page(self.path / "b.yaml", *FEW)
        self.assertNotIn("<script>alert", page)
        self.assertIn("&lt;script&gt;alert", page)

    def test_a_file_that_cannot_be_written_stops_the_run_before_it_starts(self):
        done = self.call("quickstart.yaml", "--report", "none/page.html", "--set", "workload.requests=100000000")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("none/page.html", done.stderr)
        self.assertIn("--report", self.call("quickstart.yaml", "--report", "").stderr)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
