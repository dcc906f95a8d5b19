#!/usr/bin/env python3
"""`inferometer validate` from end to end: what it prints and writes, and what it makes of wrong inputs.

usage: check_validate.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
LONGEST_WAIT_SECONDS = 120
COLUMNS = "run,group,model,gpu,concurrency,input,output,requests,mean_tpot_ms,output_throughput\n"
RUNS = COLUMNS + "one,mine,llama-3-8b,h100-sxm,4,200,50,40,7.5,500\ntwo,mine,llama-3-8b,h100-sxm,8,200,50,40,8,900\n"
SCENARIO = """
model: llama-3-8b
hardware: {gpu: h100-sxm}
workload:
  generator: closed_loop
  clients: 4
  requests: 40
  prompt: {distribution: fixed, tokens: 200}
  output: {distribution: fixed, tokens: 50}
"""
FIELDS = ["run", "group", "source", "metric", "measured", "predicted", "low", "high", "error"]
FIELDS += ["saturation", "saturated", "counted", "settings", "notes"]


class Validate(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.write("runs.csv", RUNS)

    def write(self, name, text):
        (self.path / name).parent.mkdir(exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")

    def call(self, *arguments, command="validate"):
        return subprocess.run(
            [PROGRAM, command, *map(str, arguments)],
            cwd=self.path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LONGEST_WAIT_SECONDS,
            check=False,
        )

    def judgement(self, *arguments):
        done = self.call(*arguments, "--quiet", "--json", "out.json")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return json.loads((self.path / "out.json").read_text(encoding="utf-8"))

    def test_a_prediction_is_what_run_makes_of_the_scenario(self):
        self.write("scenario.yaml", SCENARIO)
        done = self.call("scenario.yaml", "--set", "engine.max_num_seqs=64", "--quiet", "--out", ".", command="run")
        self.assertEqual(done.returncode, 0, done.stderr)
        metrics = json.loads((self.path / "results.json").read_text(encoding="utf-8"))["metrics"]
        judged = self.judgement("runs.csv", "--intervals", "0", "--set", "engine.max_num_seqs=64")
        self.assertEqual(len(judged["runs"]), 4)
        for one in judged["runs"][:2]:
            self.assertEqual(list(one), FIELDS)
            self.assertEqual((one["run"], one["source"], one["low"]), ("one", "runs.csv:2", None))
            self.assertEqual(one["predicted"], metrics[one["metric"]])
            self.assertAlmostEqual(one["error"], one["predicted"] / one["measured"] - 1, 12)
        self.assertEqual([(row["metric"], row["count"]) for row in judged["summary"]],
                         [("output_throughput", 2), ("mean_tpot_ms", 2)])

    def test_intervals_lie_around_and_the_number_of_processes_changes_nothing(self):
        outputs = []
        for jobs in (1, 2):
            done = self.call("runs.csv", "--intervals", "8", "--runs", "--jobs", jobs, "--json", f"{jobs}.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            outputs.append((done.stdout, (self.path / f"{jobs}.json").read_bytes()))
        self.assertEqual(outputs[0], outputs[1])
        for one in json.loads(outputs[0][1])["runs"]:
            self.assertLess(one["low"], one["high"])
        self.assertIn("mean_tpot_ms", outputs[0][0])

    def test_what_cannot_be_predicted_is_listed_and_the_rest_is(self):
        self.write("more.csv", COLUMNS + "big,mine,llama-3-70b,h100-sxm,4,200,50,40,7.5,500\n")
        judged = self.judgement("runs.csv", "more.csv", "--intervals", "0")
        self.assertEqual([(one["run"], one["metric"]) for one in judged["missing"]], [("big", None)])
        self.assertIn("does not fit", judged["missing"][0]["reason"])
        self.assertEqual(len(judged["runs"]), 4)
        done = self.call("more.csv", "--intervals", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not predicted: big (more.csv:2): ", done.stdout)

    def test_a_folder_is_searched(self):
        self.write("folder/more.csv", RUNS)
        self.assertEqual(len(self.judgement("folder", "--intervals", "0")["runs"]), 4)

    def test_saturated_runs_count_for_throughput_alone(self):
        judged = self.judgement("runs.csv", "--intervals", "0", "--set", "engine.max_num_seqs=4")
        self.assertEqual(
            [(row["metric"], row["saturated"]) for row in judged["summary"]],
            [("output_throughput", False), ("mean_tpot_ms", False), ("output_throughput", True)],
        )
        two = [one for one in judged["runs"] if one["run"] == "two"]
        self.assertEqual([one["saturation"] for one in two], [2.0, 2.0])
        self.assertEqual({one["metric"]: one["counted"] for one in two},
                         {"mean_tpot_ms": False, "output_throughput": True})

    def test_the_scenario_says_what_runs_do_not(self):
        self.write("bare.csv", "run,model,input,output,concurrency,requests,mean_tpot_ms\na,llama-3-8b,200,50,4,40,7.5\n")
        self.write("base.yaml", "hardware: {gpu: h100-sxm}\n")
        (with_base,) = self.judgement("bare.csv", "--intervals", "0", "--scenario", "base.yaml")["runs"]
        whole = self.judgement("runs.csv", "--intervals", "0")["runs"]
        self.assertEqual(with_base["predicted"], [one["predicted"] for one in whole
                                                  if one["metric"] == "mean_tpot_ms"][0])
        (missing,) = self.judgement("bare.csv", "--intervals", "0")["missing"]
        self.assertIn("bare.csv:2", missing["reason"])

    def test_mistakes_end_it(self):
        for arguments, words in (
            (["nowhere.csv"], "nowhere.csv"),
            (["runs.csv", "--intervals", "3"], "--intervals: expected 0 (no intervals) or 8 to 1000 re-runs, found 3"),
            (["runs.csv", "--scenario", "nowhere.yaml"], "nowhere.yaml"),
            ([], "RUNS"),
        ):
            done = self.call(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)
        (self.path / "empty").mkdir()
        self.assertEqual(self.call("empty").returncode, 2)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
