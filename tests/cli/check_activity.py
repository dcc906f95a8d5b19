#!/usr/bin/env python3
"""`inferometer run --activity` and `calibrate activity` from end to end: logs of dcgmi dmon, those of simulated GPUs
in the same form, and both side by side.

usage: check_activity.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
FEW = ("--set", "workload.requests=200")
PERIOD_S = 0.1

HEADER = "#Entity   SMACT        DRAMA        \nID                                  \n"
IDLE, PREFILL, DECODE = "0.010        0.002", "0.960        0.300", "0.900        0.700"
# Two seconds idle, one of prefill, one of decode.
LOG = HEADER + "".join(f"GPU 4     {shares}        \n" for shares in [IDLE] * 20 + [PREFILL] * 10 + [DECODE] * 10)


class ActivityCase(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.path / name).write_text(text, encoding="utf-8")

    def call(self, *arguments):
        return subprocess.run(
            [PROGRAM, *map(str, arguments)],
            cwd=self.path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def answer(self, *arguments):
        done = self.call(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refusal(self, *arguments):
        done = self.call(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def rows(self, *arguments):
        return [line.split() for line in self.answer("calibrate", "activity", *arguments).splitlines()]

    def simulate(self, scenario, *arguments, log="sim.log"):
        self.answer("run", SCENARIOS / scenario, "--quiet", "--activity", log, "--out", "out", *arguments)
        return (self.path / log).read_text(encoding="utf-8")


class Logs(ActivityCase):
    def test_phases_by_the_log_itself(self):
        self.write("a.log", LOG)
        rows = self.rows("a.log")
        self.assertIn("GPU 4 idle 20 50.0 1.0 1.0 1.0 1.0 0.2 0.2 0.2 0.2".split(), rows)
        self.assertIn("GPU 4 prefill-like 10 25.0 96.0 96.0 96.0 96.0 30.0 30.0 30.0 30.0".split(), rows)
        self.assertIn("GPU 4 decode-like 10 25.0 90.0 90.0 90.0 90.0 70.0 70.0 70.0 70.0".split(), rows)

    def test_phases_by_a_file(self):
        self.write("a.log", LOG)
        self.write("p.csv", "start_s,end_s,name\n0,2,warm-up\n2,3.5,load\n")
        rows = self.rows("a.log", "--phases", "p.csv")
        self.assertIn("GPU 4 warm-up 20 50.0 1.0 1.0 1.0 1.0 0.2 0.2 0.2 0.2".split(), rows)
        self.assertEqual([row[3] for row in rows if row[:3] == ["GPU", "4", "load"]], ["15"])
        # Rows of 50 ms: the load begins with row 40, which is not there.
        rows = self.rows("a.log", "--phases", "p.csv", "--period", "50")
        self.assertEqual([row[2] for row in rows if row[:2] == ["GPU", "4"]], ["all", "warm-up"])
        self.assertIn('note: no sample lies in phase "load"'.split(), rows)

    def test_several_logs_keep_their_gpus_apart(self):
        self.write("a.log", LOG)
        self.write("b.log", LOG.replace("0.700", "N/A  "))
        text = self.answer("calibrate", "activity", "a.log", "b.log")
        self.assertIn("a.log GPU 4  all ", text)
        self.assertIn("note: b.log GPU 4: 10 rows with N/A left out\n", text)

    def test_other_columns_are_named(self):
        self.write("a.log", "#Entity SMACT DRAMA POWER\nID W\nGPU 0 0.5 0.5 391.2\n")
        self.assertIn('note: a.log: column "POWER" passed over\n', self.answer("calibrate", "activity", "a.log"))

    def test_mistakes_have_places(self):
        self.write("a.log", HEADER + "GPU 0     81.2         0.5\nGPU 0     0.5\n")
        self.assertEqual(
            self.refusal("calibrate", "activity", "a.log"),
            'error: a.log:3:11: SMACT is a share from 0 to 1, or N/A; found "81.2"\n'
            'error: a.log:4: expected a GPU and 2 values ("SMACT" and "DRAMA"), found 3 words; columns whose values '
            "hold blanks cannot be told apart\n",
        )
        self.assertIn("none.log", self.refusal("calibrate", "activity", "none.log"))
        for option in ("--phases", "--simulated"):
            refusal = self.refusal("calibrate", "activity", "a.log", option, "")
            self.assertIn(f'{option}: expected a file, found ""', refusal)
        self.write("a.log", LOG)
        self.write("p.csv", "start_s,end_s,name\n2,1,x\n")
        self.assertEqual(
            self.refusal("calibrate", "activity", "a.log", "--phases", "p.csv"),
            "error: p.csv:2:3: the phase ends at 1 s, not after its start at 2 s\n",
        )


class Simulated(ActivityCase):
    def test_the_log_agrees_with_the_results(self):
        log = self.simulate("quickstart.yaml", *FEW)
        self.assertTrue(log.startswith(HEADER))
        shares = [tuple(map(float, line.split()[2:])) for line in log.splitlines() if line.startswith("GPU 0 ")]
        results = json.loads((self.path / "out" / "results.json").read_text(encoding="utf-8"))
        # Time neither idle nor the host's; bytes over what the memory could have moved in the time in steps.
        split = results["time_split"]
        busy_s = results["metrics"]["duration"] * (1 - split["idle"] - split["host"])
        moving_s = results["steps"]["all"]["busy_s"] * results["steps"]["all"]["mbu_share"]
        rounded_s = len(shares) * PERIOD_S * 0.0005  # three digits a row
        self.assertAlmostEqual(sum(sm for sm, _ in shares) * PERIOD_S, busy_s, delta=rounded_s)
        self.assertAlmostEqual(sum(dram for _, dram in shares) * PERIOD_S, moving_s, delta=rounded_s)

    def test_steppers_write_the_same(self):
        for scenario in ("quickstart.yaml", "kv_starved.yaml", "sliding_window.yaml"):
            fast = self.simulate(scenario, *FEW)
            self.assertEqual(fast, self.simulate(scenario, *FEW, "--stepper", "reference"), scenario)
            self.assertEqual(fast, self.simulate(scenario, *FEW, "--stepper", "check"), scenario)

    def test_results_do_not_depend_on_it(self):
        self.simulate("quickstart.yaml", *FEW)
        watched = (self.path / "out" / "results.json").read_bytes()
        self.answer("run", SCENARIOS / "quickstart.yaml", "--quiet", "--out", "out", *FEW)
        self.assertEqual(watched, (self.path / "out" / "results.json").read_bytes())

    def test_each_gpu_of_a_replica_has_a_row(self):
        lines = self.simulate("tensor_parallel_70b.yaml", *FEW).splitlines()
        gpus = [line.split()[1] for line in lines[2:6]]
        self.assertEqual(gpus, ["0", "1", "2", "3"])
        self.assertEqual(len({tuple(line.split()[2:]) for line in lines[2:6]}), 1)

    def test_measured_and_simulated_side_by_side(self):
        self.write("a.log", LOG)
        self.write("sim.log", LOG.replace("GPU 4", "GPU 0").replace("0.900", "0.950").replace("0.300", "0.250"))
        rows = self.rows("a.log", "--simulated", "sim.log")
        self.assertIn("GPU 4 / GPU 0 idle 50.0 50.0 +0.0 1.0 1.0 +0.0 0.2 0.2 +0.0".split(), rows)
        self.assertIn("GPU 4 / GPU 0 prefill-like 25.0 25.0 +0.0 96.0 96.0 +0.0 30.0 25.0 -5.0".split(), rows)
        self.assertIn("GPU 4 / GPU 0 decode-like 25.0 25.0 +0.0 90.0 95.0 +5.0 70.0 70.0 +0.0".split(), rows)

    def test_our_own_log_is_read_back(self):
        self.simulate("quickstart.yaml", *FEW)
        rows = self.rows("sim.log")
        self.assertEqual(rows[1][:3], ["GPU", "0", "all"])
        self.assertIn("decode-like", [row[2] for row in rows if len(row) > 2])

    def test_a_file_that_cannot_be_written(self):
        started = self.refusal("run", SCENARIOS / "quickstart.yaml", "--quiet", "--activity", "none/sim.log")
        self.assertIn("none/sim.log", started)
        self.assertIn("--activity", self.refusal("run", SCENARIOS / "quickstart.yaml", "--activity", ""))


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
