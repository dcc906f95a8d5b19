#!/usr/bin/env python3
"""`inferometer run` and `describe` from end to end: files, options, interruption, and what results promise.

usage: check_run.py PROGRAM
"""

import csv
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
QUICKSTART = str(SCENARIOS / "quickstart.yaml")
# Without studies, which lay variants or candidates over a scenario.
RUN_SCENARIOS = sorted(
    path
    for path in SCENARIOS.glob("*.yaml")
    if not re.search(r"^(variants|candidates)\s*:", path.read_text(encoding="utf-8"), re.MULTILINE)
)
FEW = ("--set", "workload.requests=50")
# Runs for minutes: time enough to interrupt it.
LONG = ("--set", "workload={generator: constant, rate: 12 req/s, requests: 100000000, lengths: sharegpt}")
LONGEST_WAIT_SECONDS = 60


def run(*arguments, **options):
    return subprocess.run(
        [PROGRAM, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LONGEST_WAIT_SECONDS,
        check=False,
        **options,
    )


class RunCase(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name) / "new" / "results"

    def results(self, *arguments, scenario=QUICKSTART):
        done = run("run", scenario, "--quiet", "--out", str(self.out), *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return json.loads((self.out / "results.json").read_text(encoding="utf-8"))


class Files(RunCase):
    def test_out_makes_the_folder_and_results_json_alone(self):
        self.results(*FEW)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["results.json"])

    def test_requests_csv_has_a_row_a_request(self):
        results = self.results(*FEW, "--requests-csv")
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["requests.csv", "results.json"])
        with open(self.out / "requests.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 50)
        self.assertEqual(
            sum(int(row["output_tokens"]) for row in rows), results["metrics"]["total_output_tokens"]
        )

    def test_without_out_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run("run", QUICKSTART, *FEW, cwd=empty)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("50 of 50 requests done", done.stdout)
            self.assertEqual(os.listdir(empty), [])

    def test_results_are_replaced_whole(self):
        first = self.results(*FEW)
        second = self.results("--set", "workload.requests=60")
        self.assertEqual((first["requests"]["completed"], second["requests"]["completed"]), (50, 60))
        self.assertEqual(os.listdir(self.out), ["results.json"])

    def test_a_folder_that_cannot_be_written(self):
        self.out.parent.mkdir()
        self.out.write_text("a file\n", encoding="utf-8")
        done = run("run", QUICKSTART, *FEW, "--quiet", "--out", str(self.out))
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith(f"error: {self.out}: cannot be made a directory"), done.stderr)


class Options(RunCase):
    def test_seed_is_the_seed_key(self):
        by_option = self.results(*FEW, "--seed", "7")
        by_key = self.results(*FEW, "--set", "seed=7")
        other = self.results(*FEW, "--seed", "8")
        self.assertEqual(by_option, by_key)
        self.assertEqual(by_option["resolved_scenario"]["seed"], 7)
        self.assertNotEqual(by_option["metrics"]["mean_ttft_ms"], other["metrics"]["mean_ttft_ms"])

    def test_quiet_says_nothing_and_changes_nothing(self):
        self.results(*FEW)
        quiet = (self.out / "results.json").read_bytes()
        loud = run("run", QUICKSTART, *FEW, "--out", str(self.out))
        self.assertEqual(loud.returncode, 0)
        self.assertIn("TTFT", loud.stdout)
        self.assertEqual((self.out / "results.json").read_bytes(), quiet)

    def test_every_stepper_gives_the_same_results(self):
        fast, reference, check = (self.results("--stepper", name) for name in ("fast", "reference", "check"))
        steppers = [results.pop("stepper") for results in (fast, reference, check)]
        self.assertEqual(fast, reference)
        self.assertEqual(fast, check)
        self.assertEqual([stepper["name"] for stepper in steppers], ["fast", "reference", "check"])
        steps = fast["steps"]["all"]["steps"]
        for stepper in steppers:
            self.assertEqual(stepper["steps_in_stretches"] + stepper["single_steps"], steps)
            self.assertEqual(sum(stepper["single_steps_because"].values()), stepper["single_steps"])
        self.assertEqual(steppers[1]["stretches"], 0)
        self.assertLess(steppers[0]["stretches"] + steppers[0]["single_steps"], steps / 3)

    def test_a_trace_that_can_be_read_only_once_is_refused(self):
        pipe = self.out.parent.parent / "pipe"
        os.mkfifo(pipe)
        for name in (str(pipe), "/dev/null"):
            done = run("run", QUICKSTART, "--set", f"workload={{trace: {name}}}")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--set workload={trace:", done.stderr)
            self.assertIn(f"{name} is a pipe or a device", done.stderr)

    def test_a_stepper_that_is_not(self):
        done = run("run", QUICKSTART, "--stepper", "referance")
        self.assertEqual(done.returncode, 2)
        self.assertIn('found "referance"; did you mean "reference"?', done.stderr)

    def test_set_of_every_kind(self):
        resolved = self.results(
            *FEW,
            *("--set", "engine.max_num_seqs=17"),
            *("--set", "engine.gpu_memory_utilization=0.85"),
            *("--set", "engine.enable_chunked_prefill=false"),
            *("--set", "engine.max_num_batched_tokens=8192"),
            *("--set", "hardware={gpu: h200-sxm, price: 3.5 $/h}"),
            *("--set", "slo={ttft_p99: 750 ms}"),
            *("--set", "slo.itl_p99=1 s"),
            *("--set", "workload.rate=600 req/min"),
            *("--set", "description='two words: and a colon'"),
            *("--set", "metrics.definitions=mlperf"),
        )["resolved_scenario"]
        self.assertEqual(resolved["engine"]["max_num_seqs"], 17)
        self.assertEqual(resolved["engine"]["gpu_memory_utilization"], 0.85)
        self.assertIs(resolved["engine"]["enable_chunked_prefill"], False)
        self.assertEqual(resolved["hardware"]["gpu"], "h200-sxm")
        self.assertEqual(resolved["hardware"]["tensor_parallel"], 1)
        self.assertEqual(resolved["hardware"]["price"], "3.5 $/h")
        self.assertEqual(resolved["slo"], {"ttft_p99": "750 ms", "itl_p99": "1 s"})
        self.assertEqual(resolved["workload"]["rate"], "10 req/s")
        self.assertEqual(resolved["description"], "two words: and a colon")
        self.assertEqual(resolved["metrics"]["definitions"], "mlperf")

    def test_the_last_set_of_a_key_holds(self):
        resolved = self.results(*FEW, "--set", "seed=3", "--set", "seed=4")["resolved_scenario"]
        self.assertEqual(resolved["seed"], 4)

    def test_a_list(self):
        results = self.results(
            "--set",
            "workload={generator: diurnal, rate: 8 req/s, requests: 50, day: 60 s, weights: [1, 2, 0.5], lengths: sharegpt}",
        )
        self.assertEqual(results["resolved_scenario"]["workload"]["weights"], [1, 2, 0.5])

    def test_another_policy_drops_the_old_one_s_keys_and_says_so(self):
        results = self.results(*FEW, "--set", "engine.policy=orca")
        self.assertEqual(results["resolved_scenario"]["engine"]["policy"], "orca")
        self.assertNotIn("max_num_batched_tokens", results["resolved_scenario"]["engine"])
        self.assertTrue(any("engine.max_num_batched_tokens" in note for note in results["notes"]), results["notes"])

    def test_another_source_of_requests(self):
        trace = SCENARIOS / "data" / "sample_trace.csv"
        results = self.results("--set", f"workload.trace={trace}", "--set", "workload.requests=20")
        self.assertEqual(results["requests"]["completed"], 20)
        self.assertNotIn("preset", results["resolved_scenario"]["workload"])
        self.assertTrue(any(each["name"].endswith("sample_trace.csv") for each in results["inputs"]))

    def test_without_a_prefix_cache_shared_prefixes_of_a_trace_are_said_to_be_computed(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "prefixes.jsonl"
            row = '{"timestamp": 0, "input_length": 600, "output_length": 3, "hash_ids": [0, 1]}\n'
            trace.write_text(row + row)
            scenario = pathlib.Path(folder) / "prefixes.yaml"
            scenario.write_text("model: llama-3-8b\nhardware: {gpu: h100-sxm}\nworkload: {trace: prefixes.jsonl}\n")
            note = "without a prefix cache every prompt is computed in full"
            off = run("run", str(scenario), "--set", "engine.enable_prefix_caching=false")
            self.assertIn(note, " ".join(off.stdout.split()))
            on = " ".join(run("run", str(scenario)).stdout.split())
            self.assertNotIn(note, on)
            # 592 = 37 blocks of 16 of the second's 600 tokens.
            self.assertIn("49.3 % of prompt tokens found", on)

    def test_a_path_on_the_command_line_starts_where_the_program_does(self):
        done = run(
            *("run", QUICKSTART, "--quiet", "--out", str(self.out), "--set", "workload.trace=data/sample_trace.csv"),
            cwd=SCENARIOS,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Results(RunCase):
    def test_what_every_scenario_promises(self):
        for scenario in RUN_SCENARIOS:
            with self.subTest(scenario.name):
                results = self.results(scenario=str(scenario))
                self.check_promises(results, scenario)

    def check_promises(self, results, scenario):
        self.assertEqual(results["schema_version"], 1)
        self.assertEqual(results["program"]["name"], "inferometer")
        self.assertEqual((results["scenario"], results["partial"]), (scenario.name, False))
        self.assertEqual(results["inputs"][0]["name"], scenario.name)
        self.assertEqual(results["inputs"][0]["size_bytes"], scenario.stat().st_size)
        requests, metrics = results["requests"], results["metrics"]
        self.assertEqual(
            requests["injected"],
            requests["completed"] + requests["running"] + requests["waiting"] + requests["rejected"],
        )
        self.assertEqual(requests["completed"], metrics["completed"])
        self.assertGreater(metrics["completed"], 0)
        self.assertAlmostEqual(metrics["request_throughput"], metrics["completed"] / metrics["duration"])
        for name in ("ttft", "tpot", "itl", "e2el", "queue_delay"):
            ladder = [metrics[f"{rank}_{name}_ms"] for rank in ("min", "p50", "p90", "p95", "p99", "max")]
            self.assertEqual(ladder, sorted(ladder), name)
            self.assertGreaterEqual(metrics[f"mean_{name}_ms"], ladder[0])
            self.assertLessEqual(metrics[f"mean_{name}_ms"], ladder[-1])
        self.assertAlmostEqual(sum(results["time_split"].values()), 1.0, places=6)
        self.assertLessEqual(results["engine"]["kv_held_blocks"]["peak"], results["engine"]["kv_capacity_blocks"])

    def test_intervals_change_nothing_else_and_time_is_told_on_standard_error(self):
        plain = self.results(*FEW)
        self.assertIsNone(plain["uncertainty"])
        intervals = ("--set", "uncertainty.runs=8")
        with_intervals = self.results(*FEW, *intervals)
        uncertainty = with_intervals["uncertainty"]
        self.assertEqual((uncertainty["runs"], uncertainty["replayed_requests"]), (8, 8 * 50))
        low, high = uncertainty["metrics"]["mean_itl_ms"]
        self.assertLess(low, high)
        for name in plain:
            if name not in ("uncertainty", "resolved_scenario"):
                self.assertEqual(plain[name], with_intervals[name], name)
        first, second = (run("run", QUICKSTART, *FEW, *intervals) for _ in range(2))
        self.assertEqual(first.stdout, second.stdout)
        self.assertRegex(first.stderr, r"\A8 re-runs in [0-9.,]+ (us|ms|s)\n\Z")

    def test_longer_and_shorter_steps_are_told_unless_nobody_wants_to_know(self):
        told = self.results(*FEW)
        self.assertEqual(told["sensitivity"]["step_time"], 0.05)
        for name in ("mean_ttft_ms", "mean_tpot_ms", "p99_e2el_ms"):
            moved = told["sensitivity"]["metrics"][name]
            self.assertLess(moved["minus"], told["metrics"][name], name)
            self.assertGreater(moved["plus"], told["metrics"][name], name)
        silent = self.results(*FEW, "--set", "sensitivity.step_time=0")
        self.assertIsNone(silent["sensitivity"])
        for name in told:
            if name not in ("sensitivity", "resolved_scenario"):
                self.assertEqual(told[name], silent[name], name)
        line = r"sensitivity +steps 5 % longer: mean TTFT \+[0-9.]+ %, TPOT \+[0-9.]+ %, E2E \+[0-9.]+ %"
        self.assertRegex(run("run", QUICKSTART, *FEW).stdout, line)

    def test_an_unstable_queue_is_called_unstable(self):
        self.assertEqual(
            self.results(scenario=str(SCENARIOS / "overload.yaml"))["stability"]["queue"], "unstable"
        )


class Interruption(RunCase):
    """A pseudo-terminal on standard error: the progress bar on it says when the run is under way."""

    def start_long_run(self, *arguments, stdout=subprocess.PIPE):
        return self.start(b"%", *LONG, *arguments, stdout=stdout)

    def start(self, awaited, *arguments, stdout=subprocess.PIPE):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            self.skipTest(f"no pseudo-terminal to be had: {error}")
        self.addCleanup(os.close, ours)
        # pylint: disable-next=consider-using-with
        program = subprocess.Popen(
            [PROGRAM, "run", QUICKSTART, "--out", str(self.out), *arguments],
            stdout=stdout,
            stderr=theirs,
        )
        os.close(theirs)
        if program.stdout is not None:
            self.addCleanup(program.stdout.close)
        self.addCleanup(program.kill)
        shown = b""
        while awaited not in shown:
            shown += os.read(ours, 4096)
        return program

    def test_ctrl_c_ends_with_what_was_done(self):
        program = self.start_long_run("--requests-csv", "--report", str(self.out / "page.html"))
        program.send_signal(signal.SIGINT)
        summary, _ = program.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assertEqual(program.returncode, 130)
        self.assertRegex(summary.decode(), r"(?i)interrupted|partial")
        results = json.loads((self.out / "results.json").read_text(encoding="utf-8"))
        self.assertIs(results["partial"], True)
        requests = results["requests"]
        self.assertEqual(
            requests["completed"] + requests["running"] + requests["waiting"] + requests["rejected"],
            requests["injected"],
        )
        self.assertGreater(requests["completed"], 0)
        self.assertLess(requests["injected"], 100_000_000)
        with open(self.out / "requests.csv", encoding="utf-8") as file:
            self.assertEqual(sum(1 for _ in file) - 1, requests["completed"] + requests["rejected"])
        self.assertIn("Partial: the run was interrupted", (self.out / "page.html").read_text(encoding="utf-8"))

    def test_ctrl_c_among_the_runs_behind_intervals_keeps_the_run_itself(self):
        program = self.start(b"re-runs", "--set", "uncertainty.runs=1000")
        program.send_signal(signal.SIGINT)
        summary, _ = program.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assertEqual(program.returncode, 130)
        note = "no uncertainty intervals: the runs behind them were interrupted"
        self.assertIn(note, summary.decode())
        results = json.loads((self.out / "results.json").read_text(encoding="utf-8"))
        self.assertIn(note, results["notes"])
        self.assertIs(results["partial"], False)
        self.assertIsNone(results["uncertainty"])
        self.assertEqual(results["metrics"]["completed"], 5000)

    def test_a_second_ctrl_c_ends_it_at_once(self):
        # Nobody reads the pipe and it is full: the program cannot get rid of its summary and would wait for ever.
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        os.set_blocking(writer, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        program = self.start_long_run(stdout=writer)
        program.send_signal(signal.SIGINT)
        while not (self.out / "results.json").exists():
            self.assertIsNone(program.poll())
            time.sleep(0.01)
        program.send_signal(signal.SIGINT)
        self.assertEqual(program.wait(timeout=LONGEST_WAIT_SECONDS), -signal.SIGINT)

    def test_termination_leaves_no_half_file(self):
        program = self.start_long_run()
        program.terminate()
        program.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assertEqual(program.returncode, -signal.SIGTERM)
        self.assertEqual(os.listdir(self.out), [])


class Output(RunCase):
    def test_a_reader_that_left_ends_the_run_quietly(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [PROGRAM, "run", QUICKSTART, *FEW], stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False
        )
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))

    def test_no_colours_and_no_bar_in_a_file(self):
        done = run("run", QUICKSTART)
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\x1b", done.stdout)

    def test_wide_enough_for_a_terminal_of_100_columns(self):
        for scenario in RUN_SCENARIOS:
            lines = run("run", str(scenario), cwd=SCENARIOS).stdout.splitlines()
            self.assertLessEqual(max(map(len, lines)), 100 + len(str(SCENARIOS)), scenario.name)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
