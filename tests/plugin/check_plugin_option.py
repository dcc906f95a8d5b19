#!/usr/bin/env python3
"""--plugin of the program, with the plugin for tests of the same build: every command that takes it, processes and ranks.

usage: check_plugin_option.py PROGRAM PLUGIN [MPI_MODULE]
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = PLUGIN = MPI_MODULE = ""
LONGEST_WAIT_SECONDS = 120
SCENARIO = """
model: llama-3-8b
hardware: {gpu: h100-sxm}
cost_model: {level: roofline}
engine: {policy: one_by_one}
workload: {generator: poisson, rate: 1 req/s, requests: 20, prompt: {distribution: fixed, tokens: 100},
           output: {distribution: fixed, tokens: 20}}
"""
COMPARE = """
base: scenario.yaml
seeds: 2
variants: {mine: {engine.policy: one_by_one}, theirs: {engine.policy: continuous}}
"""
PLAN = """
base: scenario.yaml
slo: {ttft_p99: 10 s}
candidates: {policy: [one_by_one], replicas: 1..2}
sustained_rate: {of: none}
"""
# What Open MPI needs in a container of one or two cores, with one user.
RANKS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class PluginOption(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("scenario", SCENARIO), ("compare", COMPARE), ("plan", PLAN)):
            (self.folder / f"{name}.yaml").write_text(text, encoding="utf-8")

    def call(self, *arguments, fault="", before=()):
        return subprocess.run(
            [*map(str, before), PROGRAM, *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, **RANKS, "INFEROMETER_TEST_PLUGIN_FAULT": fault},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LONGEST_WAIT_SECONDS,
            check=False,
        )

    def must(self, *arguments, **more):
        done = self.call(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def result(self, name):
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def test_run(self):
        done = self.must("run", "scenario.yaml", "--plugin", PLUGIN)
        self.assertIn("llama-3-8b on 1 x h100-sxm, one_by_one", done.stdout)

    def test_an_embedded_policy_is_none_of_the_next_run(self):
        done = self.call("run", "scenario.yaml")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r'scenario\.yaml:5:18: engine\.policy: "one_by_one" is not one of .* \(--plugin FILE loads')

    def test_describe(self):
        done = self.must("describe", "policies", "--plugin", PLUGIN)
        self.assertRegex(done.stdout, r"one_by_one +one request at a time")
        done = self.must("describe", "routers", "--plugin", PLUGIN)
        self.assertRegex(done.stdout, r"last_replica +the replica with the highest number")
        self.assertIn('"one_by_one"', self.must("describe", "--json-schema", "--plugin", PLUGIN).stdout)

    def test_workload_generate(self):
        done = self.must("workload", "generate", "trace.csv", "--scenario", "scenario.yaml", "--plugin", PLUGIN)
        self.assertEqual(done.stdout, "trace.csv: 20 requests\n")

    def test_worker_processes(self):
        self.must("compare", "compare.yaml", "--plugin", PLUGIN, "--jobs", "2", "--out", "two")
        self.must("compare", "compare.yaml", "--plugin", PLUGIN, "--jobs", "1", "--out", "one")
        self.assertEqual(self.result("two/compare.json"), self.result("one/compare.json"))
        variants = self.result("one/compare.json")["loads"][0]["variants"]
        self.assertEqual([each.get("error") for each in variants], [None, None])

    def test_ranks(self):
        if not MPI_MODULE or shutil.which("mpirun") is None:
            self.skipTest("ranks: no Open MPI was found for this build, or it has no mpirun")
        self.must("compare", "compare.yaml", "--plugin", PLUGIN, "--out", "ranks", before=("mpirun", "-n", 2))
        self.must("compare", "compare.yaml", "--plugin", PLUGIN, "--jobs", "1", "--out", "one")
        self.assertEqual(self.result("ranks/compare.json"), self.result("one/compare.json"))

    def test_plan(self):
        self.must("plan", "plan.yaml", "--plugin", PLUGIN, "--out", "plan")
        self.assertIn(f"plugin {pathlib.Path(PLUGIN).name}", [each["name"] for each in self.result("plan/plan.json")["inputs"]])

    def test_two_plugins_of_one_name(self):
        done = self.call("run", "scenario.yaml", "--plugin", PLUGIN, "--plugin", PLUGIN)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(
            done.stderr,
            f'error: --plugin: {PLUGIN} has a policy "one_by_one", which comes from {PLUGIN}; give it another name\n',
        )

    def test_a_mistake_of_its_code_is_told_from_ours(self):
        done = self.call("run", "scenario.yaml", "--plugin", PLUGIN, fault="throws as it plans")
        self.assertEqual(
            (done.returncode, done.stderr),
            (70, f"internal error: out of ideas\nnote: {PLUGIN} was loaded; the mistake may be there\n"),
        )
        done = self.call("run", "scenario.yaml", "--plugin", PLUGIN, fault="plans too much")
        self.assertEqual(done.returncode, 70)
        self.assertTrue(done.stderr.endswith(f"note: {PLUGIN} was loaded; the mistake may be there\n"), done.stderr)


if __name__ == "__main__":
    PROGRAM, PLUGIN = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    MPI_MODULE = sys.argv[3] if len(sys.argv) > 3 else ""
    unittest.main(argv=sys.argv[:1])
