#!/usr/bin/env python3
"""`inferometer calibrate run` from end to end, on a fake GPU that is loaded as the CUDA module is.

usage: check_calibrate_run.py PROGRAM FAKE_GPU_MODULE
"""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
MODULE = ""
LONGEST_WAIT_SECONDS = 120
INTERRUPTED = 130


def environment(**more):
    return {**os.environ, "INFEROMETER_CUDA_MODULE": MODULE, **more}


def calibrate(*arguments, preexec_fn=None, **more):
    return subprocess.run(
        [PROGRAM, "calibrate", "run", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(**more),
        timeout=LONGEST_WAIT_SECONDS,
        preexec_fn=preexec_fn,
        check=False,
    )


def record_lines(folder):
    """Calls of all points of all record files, as tuples of their members but for the measured ones."""
    calls = []
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines()[1:]:
            point = json.loads(line)
            axes = {key: value for key, value in point.items() if key not in MEASURED}
            calls.append(tuple(sorted(axes.items())))
    return calls


MEASURED = {"time_ns_median", "time_ns_q1", "time_ns_q3", "time_ns_min", "samples", "sm_mhz_mean", "kernel",
            "verification", "skipped"}


class CalibrateRun(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.out = pathlib.Path(self.temporary.name) / "out"

    def assert_refused(self, result, *sentences):
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for sentence in sentences:
            self.assertIn(sentence, result.stderr)

    def test_records_fit_profile_and_summary(self):
        result = calibrate("--budget", "12 s", "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = record_lines(self.out)
        self.assertGreater(len(calls), 500)
        self.assertEqual(len(calls), len(set(calls)))
        profile = json.loads((self.out / "profile.json").read_text(encoding="utf-8"))
        self.assertEqual((profile["gpu"], profile["library"]), ("h100-sxm", "inferometer"))
        summary = (self.out / "summary.txt").read_text(encoding="utf-8")
        for words in ("all points were tried", "held out", "kernels on h100-sxm", "share"):
            self.assertIn(words, summary)
        self.assertTrue(result.stdout.endswith("profile.json\n"))
        # The profile is one that a scenario takes.
        run = subprocess.run(
            [PROGRAM, "run", "scenarios/quickstart.yaml", "--set", "workload.requests=50", "--set",
             f"cost_model.kernel_profile={self.out / 'profile.json'}", "--out", str(self.out / "run")],
            capture_output=True, text=True, cwd=pathlib.Path(__file__).parents[2], check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        results = json.loads((self.out / "run" / "results.json").read_text(encoding="utf-8"))
        inputs = {one["name"] for one in results["inputs"]}
        self.assertIn(f"profile {self.out / 'profile.json'}", inputs)

    def test_a_finished_run_measures_nothing_again(self):
        calibrate("--budget", "10 s", "--out", self.out)
        before = record_lines(self.out)
        result = calibrate("--budget", "10 s", "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("were there before", result.stdout)
        self.assertEqual(record_lines(self.out), before)

    def test_a_lost_gpu_ends_the_run_and_the_next_goes_on(self):
        result = calibrate("--budget", "10 s", "--out", self.out, FAKE_GPU_LOST_AT="3000")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("the GPU was lost", result.stdout)
        partly = len(record_lines(self.out))
        result = calibrate("--budget", "10 s", "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = record_lines(self.out)
        self.assertGreater(len(calls), partly)
        self.assertEqual(len(calls), len(set(calls)))
        whole = pathlib.Path(self.temporary.name) / "whole"
        calibrate("--budget", "10 s", "--out", whole)
        self.assertEqual(sorted(calls), sorted(record_lines(whole)))

    def test_a_gpu_lost_at_once_is_what_is_said(self):
        # Before anything was measured, and before anything that is held out of the fit was.
        for lost_at, words in (("0", ()), ("60", ("No shape that is held out", "No call of a size that counts", "profile written"))):
            out = self.out / lost_at
            result = calibrate("--budget", "10 s", "--out", out, FAKE_GPU_LOST_AT=lost_at)
            self.assertEqual((result.returncode, result.stderr), (1, ""))
            for sentence in ("the GPU was lost", "the same command goes on", *words):
                self.assertIn(sentence, result.stdout)
            self.assertEqual((out / "profile.json").exists(), bool(words))
            self.assertEqual((out / "summary.txt").exists(), bool(words))

    def test_a_full_disk_keeps_what_was_measured(self):
        def files_up_to(size):
            return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        result = calibrate("--budget", "10 s", "--out", self.out, preexec_fn=files_up_to(20_000))
        self.assert_refused(result, ".jsonl: cannot write all of it: File too large")
        result = calibrate("--budget", "10 s", "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("was moved to", result.stderr)
        self.assertIn("were there before", result.stdout)
        calls = record_lines(self.out)
        self.assertEqual(len(calls), len(set(calls)))
        (self.out / "profile.json").unlink()
        result = calibrate("--budget", "10 s", "--out", self.out, preexec_fn=files_up_to(20_000))
        self.assert_refused(result, "profile.json: cannot write all of it: File too large")
        self.assertEqual([path.name for path in self.out.iterdir() if path.name.startswith("profile")], [])

    def test_a_directory_of_something_else_loses_nothing(self):
        for name in ("profile.json", "summary.txt"):
            folder = self.out / name.replace(".", "-")
            folder.mkdir(parents=True)
            (folder / name).write_text("mine\n", encoding="utf-8")
            self.assert_refused(calibrate("--budget", "10 s", "--out", folder), name, "overwritten", "h100-sxm")
            self.assertEqual([path.name for path in folder.iterdir()], [name])
            self.assertEqual((folder / name).read_text(encoding="utf-8"), "mine\n")

    def test_the_directory_is_read_as_measurements(self):
        calibrate("--budget", "10 s", "--out", self.out)
        for arguments in (["show", self.out], ["compare", self.out, self.out / "profile.json"],
                          ["fit", self.out, "--out", self.out / "again.json"],
                          ["validate", self.out / "profile.json", self.out]):
            done = subprocess.run([PROGRAM, "calibrate", *map(str, arguments)], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads((self.out / "again.json").read_text(encoding="utf-8"))["library"], "inferometer")

    def test_what_the_fit_leaves_out_is_said(self):
        calibrate("--budget", "10 s", "--out", self.out)
        file = self.out / "h100-sxm.inferometer.elementwise.jsonl"
        header, *lines = file.read_text(encoding="utf-8").splitlines()
        points = sorted(map(json.loads, lines), key=lambda point: point["tokens"] * point["width"])
        # The largest moves far more than the L2 cache holds: no GPU does that in a nanosecond.
        points[-1].update(dict.fromkeys(["time_ns_median", "time_ns_q1", "time_ns_q3", "time_ns_min"], 1))
        points[0] = {key: value for key, value in points[0].items() if key not in MEASURED}
        points[0]["skipped"] = "wrong result: by hand"
        file.write_text("\n".join([header, *map(json.dumps, points)]) + "\n", encoding="utf-8")
        result = calibrate("--budget", "10 s", "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        for sentence in ("Left out of the fit:\n", f"  1 faster than the GPU can be, such as {file}:{len(points) + 1}",
                         "  1 wrong result, such as elementwise ", "wrong result: by hand\n"):
            self.assertIn(sentence, result.stdout)
            self.assertIn(sentence, (self.out / "summary.txt").read_text(encoding="utf-8"))

    def test_ctrl_c_keeps_what_was_measured(self):
        process = subprocess.Popen(
            [PROGRAM, "calibrate", "run", "--budget", "2m", "--out", str(self.out)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while not record_lines_there(self.out) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assertEqual(process.returncode, INTERRUPTED, output + errors)
        self.assertIn("the same command goes on from here", output)
        calls = record_lines(self.out)
        self.assertGreater(len(calls), 0)
        self.assertEqual(len(calls), len(set(calls)))

    def test_dry_run_needs_no_gpu_for_a_name(self):
        result = calibrate("--dry-run", "--gpu", "h200-sxm", "--budget", "5m", INFEROMETER_CUDA_MODULE="/nowhere")
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("NVIDIA H200", "gemm bf16", "decode_attention fp8_kv", "elementwise copy", "all "):
            self.assertIn(words, result.stdout)
        self.assertEqual(result.stdout, calibrate("--dry-run", "--gpu", "h200-sxm", "--budget", "300 s").stdout)

    def test_dry_run_of_a_gpu_writes_nothing(self):
        result = calibrate("--dry-run", "--budget", "2m", "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("H100", result.stdout)
        self.assertFalse(self.out.exists())

    def test_wrong_arguments(self):
        self.assert_refused(calibrate("--out", self.out, "--gpu", "3"), "no GPU 3")
        self.assert_refused(calibrate("--out", self.out, "--gpu", "h100-sxm"), "--gpu", "--dry-run")
        self.assert_refused(calibrate("--dry-run", "--gpu", "h100-smx"), "h100-sxm")
        self.assert_refused(calibrate("--out", self.out, "--budget", "5"), "--budget")
        self.assert_refused(calibrate("--out", self.out, "--budget", "-5m"), "--budget")
        self.assert_refused(calibrate("--out", self.out, "--budget", "1 s"), "--budget", '"1 s"', "10 s to 24 h")
        self.assert_refused(calibrate("--out", self.out, "--budget", "24.1 h"), "--budget", '"24.1 h"', "10 s to 24 h")
        self.assert_refused(calibrate("--out", self.out, "--budget", "5mm"), "--budget", '"5mm"', "10 s to 24 h", "5m")
        self.assert_refused(calibrate(), "--out")
        self.assert_refused(calibrate("--out", self.out, INFEROMETER_CUDA_MODULE="/nowhere/module.so"), "/nowhere")
        self.assertFalse(self.out.exists())


def record_lines_there(folder):
    return any(file.stat().st_size > 10_000 for file in folder.glob("*.jsonl"))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    MODULE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
