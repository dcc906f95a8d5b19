#!/usr/bin/env python3
"""`inferometer calibrate host` from end to end: what it prints and writes, and what it makes of wrong inputs.

usage: check_calibrate_host.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
LONGEST_WAIT_SECONDS = 120
COLUMNS = "run,group,model,gpu,concurrency,input,output,requests,mean_tpot_ms,mean_ttft_ms\n"
CLIENTS = (1, 2, 4, 8, 16, 32)
TRUTH = ["--set", "cost_model.host_fixed=1500 us", "--set", "cost_model.host_per_sequence=40 us"]
FITTED = ["--fit", "host_fixed,host_per_sequence"]


def row(clients, tpot=1.0, ttft=1.0):
    return f"{clients} clients,mine,llama-3-8b,h100-sxm,{clients},200,20,{4 * clients},{tpot!r},{ttft!r}\n"


class CalibrateHost(unittest.TestCase):
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
            timeout=LONGEST_WAIT_SECONDS,
            check=False,
        )

    def json(self, name):
        return json.loads((self.path / name).read_text(encoding="utf-8"))

    def write_measured(self):
        """What `validate` predicts with the host times of TRUTH, as if it had been measured."""
        self.write("plain.csv", COLUMNS + "".join(row(clients) for clients in CLIENTS))
        done = self.call("validate", "plain.csv", "--intervals", 0, *TRUTH, "--quiet", "--json", "truth.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        predicted = {(one["run"], one["metric"]): one["predicted"] for one in self.json("truth.json")["runs"]}
        rows = [
            row(clients, predicted[f"{clients} clients", "mean_tpot_ms"], predicted[f"{clients} clients", "mean_ttft_ms"])
            for clients in CLIENTS
        ]
        self.write("measured.csv", COLUMNS + "".join(rows))

    def test_known_host_times_are_found_and_explain_the_runs(self):
        self.write_measured()
        outputs = []
        for jobs in (1, 2):
            done = self.call("calibrate", "host", "measured.csv", *FITTED, "--jobs", jobs,
                             "--json", f"{jobs}.json", "--out", f"{jobs}.yaml")
            self.assertEqual(done.returncode, 0, done.stderr)
            files = [(self.path / f"{jobs}.{end}").read_bytes() for end in ("json", "yaml")]
            outputs.append((done.stdout, *files))
        self.assertEqual(outputs[0], outputs[1])
        (fit,) = self.json("1.json")["fits"]
        self.assertEqual((fit["fitted_runs"], fit["unseen_runs"], fit["settled"]), (6, 0, True))
        fixed, per_sequence = fit["host_times"]
        self.assertEqual((fixed["key"], fixed["before_us"], fixed["determined"]), ("host_fixed", 500, True))
        self.assertLess(abs(fixed["fitted_us"] / 1500 - 1), 0.02)
        self.assertLess(abs(per_sequence["fitted_us"] / 40 - 1), 0.02)
        self.assertLessEqual(fixed["low_us"], fixed["fitted_us"])
        for errors in fit["fitted"]:
            self.assertLess(errors["median_after"], 0.005)
            self.assertGreater(errors["median_before"], 0.01)
        self.assertIn("host_per_sequence", outputs[0][0])
        # The fragment is a scenario's part: with it, validate predicts what was measured.
        self.assertIn("measured.csv", outputs[0][2].decode())
        done = self.call("validate", "measured.csv", "--intervals", 0, "--quiet", "--scenario", "1.yaml",
                         "--json", "after.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        for one in self.json("after.json")["runs"]:
            self.assertLess(abs(one["error"]), 0.01, one)

    def test_others_judge_what_every_second_run_is_fitted_to(self):
        self.write_measured()
        done = self.call("calibrate", "host", "measured.csv", *FITTED, "--every", 2, "--quiet", "--json", "out.json")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        (fit,) = self.json("out.json")["fits"]
        self.assertEqual((fit["fitted_runs"], fit["unseen_runs"]), (3, 3))
        self.assertIsNone(fit["host_times"][0]["low_us"])
        self.assertEqual([errors["count"] for errors in fit["unseen"]], [3, 3])
        self.assertLess(fit["unseen"][0]["median_after"], 0.01)

    def test_a_hidden_host_is_said_to_be_not_determined(self):
        self.write_measured()
        done = self.call("calibrate", "host", "measured.csv", "--fit", "host_fixed",
                         "--set", "cost_model.host_overlap=true", "--out", "out.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not determined by these runs", done.stdout)
        self.assertIn("cost_model: {}", (self.path / "out.yaml").read_text(encoding="utf-8"))

    def test_mistakes_end_it(self):
        self.write("plain.csv", COLUMNS + row(4))
        self.write("throughput.csv", "run,model,gpu,concurrency,input,output,requests,output_throughput\n"
                                     "a,llama-3-8b,h100-sxm,4,200,20,16,900\n")
        self.write("big.csv", COLUMNS + row(4).replace("llama-3-8b", "llama-3-70b"))
        for arguments, words in (
            (["nowhere.csv"], "nowhere.csv"),
            (["throughput.csv"], "throughput.csv: no run has a latency to fit host times to"),
            (["throughput.csv"], "found output_throughput"),
            (["big.csv"], "1 cannot be predicted"),
            (["plain.csv", "--set", "engine.max_num_seqs=2"], "1 of those with latencies are at or past saturation"),
        ):
            done = self.call("calibrate", "host", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
