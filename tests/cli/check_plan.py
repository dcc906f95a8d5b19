#!/usr/bin/env python3
"""`inferometer plan` from end to end: how many seeds it runs, what it says of the answer's neighbours.

usage: check_plan.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
LONGEST_WAIT_SECONDS = 120
STUDY = """
base:
  model: llama-3-8b
  hardware: {{gpu: h100-sxm}}
  cost_model: {{level: roofline}}
  workload: {workload}
slo: {{ttft_p99: 10 s}}
candidates: {candidates}
sustained_rate: {{of: none}}
"""
PRESET = "{preset: azure-conversation, rate: 2 req/s, requests: 30}"
TRACE = "arrival_s,prompt_tokens,output_tokens\n0.1,100,5\n0.2,300,7\n0.3,50,9\n"


class Plan(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "trace.csv").write_text(TRACE, encoding="utf-8")

    def result(self, candidates, workload=PRESET):
        (self.path / "study.yaml").write_text(
            STUDY.format(workload=workload, candidates=candidates), encoding="utf-8"
        )
        done = subprocess.run(
            [PROGRAM, "plan", "study.yaml", "--quiet"],
            cwd=self.path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LONGEST_WAIT_SECONDS,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return json.loads((self.path / "study-plan" / "plan.json").read_bytes())

    def test_one_seed_will_do_where_no_candidate_draws_anything(self):
        trace = "{trace: trace.csv}"
        self.assertEqual(self.result("{replicas: 2}", trace)["seeds"], 1)
        self.assertEqual(self.result("{cluster.router.policy: [round_robin, random], replicas: 2}", trace)["seeds"], 3)
        self.assertEqual(self.result("{replicas: 2}")["seeds"], 3)

    def test_neighbours_of_another_split_say_which(self):
        study = self.result("{policy: [chunked_prefill, disaggregated], split: [1:1, 1:2], replicas: 1}")
        rows = [row["to"] for row in study["sensitivity"] if row["what"] == "policy"]
        self.assertEqual(rows, ["disaggregated, split 1:1", "disaggregated, split 1:2"])


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
