#!/usr/bin/env python3
"""`inferometer compare` from end to end: what it writes, interruption, journal, options.

usage: check_compare.py PROGRAM
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
LONGEST_WAIT_SECONDS = 120
STUDY = """
base:
  model: llama-3-8b
  hardware: {{gpu: h100-sxm}}
  workload: {{preset: azure-conversation, rate: 6 req/s, requests: {requests}}}
seeds: {seeds}
metrics: [p99_ttft_ms, output_throughput]
variants: {{static: {{engine.policy: static}}, chunked: {{engine.policy: chunked_prefill}}}}
"""


class Compare(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def write(self, seeds=2, requests=50, name="study.yaml"):
        (self.path / name).write_text(STUDY.format(seeds=seeds, requests=requests), encoding="utf-8")

    def call(self, *arguments):
        return subprocess.run(
            [PROGRAM, "compare", *map(str, arguments)],
            cwd=self.path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LONGEST_WAIT_SECONDS,
            check=False,
        )

    def result(self, *arguments, folder="study-compare"):
        done = self.call(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done, (self.path / folder / "compare.json").read_bytes()

    def test_results_lie_in_a_folder_of_the_working_directory(self):
        self.write()
        done, _ = self.result("study.yaml")
        self.assertIn("written: study-compare/report.html and study-compare/compare.json", done.stdout)
        self.assertEqual(
            sorted(path.name for path in (self.path / "study-compare").iterdir()),
            ["compare.json", "journal.jsonl", "report.html"],
        )
        self.assertIn("4 runs in", done.stderr)

    def test_quiet_says_nothing(self):
        self.write()
        done, _ = self.result("study.yaml", "--quiet", "--out", "here/below", folder="here/below")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_a_second_time_is_recalled_and_a_fresh_one_is_not(self):
        self.write()
        _, first = self.result("study.yaml")
        again, second = self.result("study.yaml")
        self.assertIn("0 runs in", again.stderr)
        self.assertIn("4 more known from study-compare/journal.jsonl", again.stderr)
        fresh, third = self.result("study.yaml", "--fresh", "--jobs", "3")
        self.assertIn("4 runs in", fresh.stderr)
        self.assertNotIn("known", fresh.stderr)
        self.assertEqual(first, second)
        self.assertEqual(first, third)

    def test_a_change_of_the_base_is_no_recollection(self):
        self.write()
        _, first = self.result("study.yaml")
        done, other = self.result("study.yaml", "--set", "engine.max_num_seqs=4")
        self.assertIn("4 runs in", done.stderr)
        self.assertNotEqual(first, other)
        self.assertEqual(json.loads(other)["resolved_baseline"]["engine"]["max_num_seqs"], 4)

    def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(self):
        self.write(seeds=60, requests=400)
        program = subprocess.Popen(
            [PROGRAM, "compare", "study.yaml", "--jobs", "2"],
            cwd=self.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        journal = self.path / "study-compare" / "journal.jsonl"
        until = time.monotonic() + LONGEST_WAIT_SECONDS
        while time.monotonic() < until and (not journal.exists() or journal.read_bytes().count(b"\n") < 6):
            time.sleep(0.01)
        program.send_signal(signal.SIGINT)
        summary, errors = program.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assertEqual((program.returncode, summary), (130, b""))
        self.assertRegex(errors.decode(), r"interrupted: \d+ runs done; study-compare/journal.jsonl keeps them")
        self.assertFalse((self.path / "study-compare" / "compare.json").exists())
        done, resumed = self.result("study.yaml")
        self.assertIn("more known from", done.stderr)
        _, whole = self.result("study.yaml", "--out", "whole", folder="whole")
        self.assertEqual(resumed, whole)

    def test_every_metric_of_describe_can_be_asked_for(self):
        described = subprocess.run([PROGRAM, "describe", "compare"], capture_output=True, text=True, check=True).stdout
        table = described[described.index("\nmetric ") :].strip().splitlines()[1:]
        names = [line.split()[0] for line in table]
        self.assertIn("p99_ttft_ms", names)
        text = STUDY.format(seeds=1, requests=20).replace("p99_ttft_ms, output_throughput", ", ".join(names))
        (self.path / "study.yaml").write_text(text, encoding="utf-8")
        _, result = self.result("study.yaml")
        metrics = json.loads(result)["loads"][0]["variants"][1]["metrics"]
        self.assertEqual(list(metrics), names)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
