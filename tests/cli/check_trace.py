#!/usr/bin/env python3
"""`inferometer run --trace` from end to end: the file follows the Trace Event Format, says what the run did, and is the
same by either stepper.

usage: check_trace.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from decimal import Decimal

PROGRAM = ""
SCENARIOS = pathlib.Path(__file__).resolve().parents[2] / "scenarios"
FEW = ("--set", "workload.requests=120")
PHASES = ("queue", "prefill", "handover", "decode")


def load(path):
    """Times as they are written: no double holds a long one."""
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)["traceEvents"]


def format_faults(events):
    """What the format does not allow, a sentence each."""
    needed = {"X": {"ts", "dur"}, "C": {"ts", "args"}, "i": {"ts", "s"}, "M": {"args"}}
    needed |= {phase: {"ts", "id", "cat"} for phase in "ben"}
    for event in events:
        if event["ph"] not in needed:
            yield f"no such phase: {event}"
        elif not needed[event["ph"]] | {"pid", "tid", "name"} <= event.keys():
            yield f"something is missing: {event}"
        elif event["pid"] < 1 or event["tid"] < 1 or event.get("ts", 0) < 0 or event.get("dur", 0) < 0:
            yield f"a number is too small: {event}"
        elif event["ph"] == "C" and not all(isinstance(v, (int, Decimal)) for v in event["args"].values()):
            yield f"a counter counts: {event}"


def unnamed(events):
    """Processes and threads that slices are in and no metadata names."""
    names = {(e["pid"], e["tid"] if e["name"] == "thread_name" else 0) for e in events if e["ph"] == "M"}
    return [
        event
        for event in events
        if event["ph"] in "Xbi" and not {(event["pid"], 0), (event["pid"], event["tid"])} <= names
    ]


def overlaps(events):
    """Complete events of a thread that begin before the one before has ended."""
    threads = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append((event["ts"], event["dur"], event["name"]))
    for slices in threads.values():
        slices.sort()
        yield from ((a, b) for a, b in zip(slices, slices[1:]) if a[0] + a[1] > b[0])


def unbalanced(events):
    """Async events whose begin and end do not nest, in the order of time and then of the file."""
    open_slices = defaultdict(list)
    for event in sorted((e for e in events if e["ph"] in "ben"), key=lambda e: e["ts"]):
        stack = open_slices[event["cat"], event["id"]]
        if event["ph"] == "b":
            stack.append(event["name"])
        elif not stack or (event["ph"] == "e" and stack.pop() != event["name"]):
            yield event
    yield from (key for key, stack in open_slices.items() if stack)


def last_values(events):
    last = {}
    for event in sorted((e for e in events if e["ph"] == "C"), key=lambda e: e["ts"]):
        last[event["pid"], event["name"]] = set(event["args"].values())
    return last


class TraceCase(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def run_program(self, scenario, *arguments):
        return subprocess.run(
            [PROGRAM, "run", SCENARIOS / scenario, *map(str, arguments)],
            cwd=self.path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def trace(self, scenario, *arguments, name="trace.json"):
        done = self.run_program(scenario, *arguments, "--quiet", "--trace", name)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual([p.name for p in self.path.glob("*.parts")], [], "nothing is left beside it")
        return load(self.path / name)

    def check_format(self, events):
        self.assertEqual(list(format_faults(events)), [])
        self.assertEqual(unnamed(events), [])
        self.assertEqual(list(overlaps(events)), [])
        self.assertEqual(list(unbalanced(events)), [])

    def check_steps(self, events):
        """Each step's time is what it went to, and what its operators take is what is not waiting."""
        for event in events:
            if event["ph"] == "X":
                times, operators = event["args"]["time_us"], event["args"]["operators_us"]
                self.assertEqual(sum(times.values()), event["dur"], event)
                on_gpu = event["dur"] - times["host"] - times["bubble"]
                self.assertEqual(sum(operators.values()), on_gpu, event)
                self.assertNotIn("other", operators)


class Traces(TraceCase):
    def check_whole(self, scenario, *arguments):
        events = self.trace(scenario, *FEW, "--out", "out", *arguments)
        self.check_format(events)
        self.check_steps(events)
        for counter, values in last_values(events).items():
            self.assertEqual(values, {0}, counter)
        results = json.loads((self.path / "out/results.json").read_text(encoding="utf-8"))
        steps = [e for e in events if e["ph"] == "X"]
        self.assertEqual(len(steps), results["steps"]["all"]["steps"])
        requests = [e for e in events if e["ph"] == "b" and e["name"] == "request"]
        self.assertEqual(sorted(e["id"] for e in requests), list(range(120)))
        return events

    def test_one_replica(self):
        events = self.check_whole("quickstart.yaml")
        names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
        self.assertEqual(names, ["requests", "mixed 0 (1 x h100-sxm)"])
        kinds = {e["name"].split()[0] for e in events if e["ph"] == "X"}
        self.assertEqual(kinds, {"decode", "mixed", "prefill"})

    def test_prefill_and_decode_apart(self):
        events = self.check_whole("disaggregated.yaml")
        phases = defaultdict(list)
        for event in sorted((e for e in events if e["ph"] in "be" and e["cat"] == "request"), key=lambda e: e["ts"]):
            phases[event["id"]].append((event["ph"], event["name"], event["ts"]))
        some_handed_over = 0
        for request in phases.values():
            slices = [name for phase, name, _ in request if phase == "b"]
            self.assertEqual(slices, ["request", *(p for p in PHASES if p in slices)])
            some_handed_over += "handover" in slices
        self.assertGreater(some_handed_over, 60)
        transfers = [e for e in events if e["ph"] == "b" and e["cat"] == "transfer"]
        self.assertGreater(len(transfers), 60)
        for event in transfers:
            self.assertEqual(event["name"], "KV handover")
            self.assertRegex(event["args"]["from"], "^prefill [0-9]+$")
            self.assertRegex(event["args"]["to"], "^decode [0-9]+$")
        links = [e for e in events if e["ph"] == "C" and e["pid"] == 2]
        self.assertGreater(len(links), 10)
        for event in links:
            self.assertTrue(0 <= event["args"]["used"] <= 100, event)

    def test_micro_batches_of_a_pipeline(self):
        events = self.check_whole("pipeline_parallel.yaml")
        lanes = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}
        self.assertGreater(len(lanes), 1)
        self.assertTrue(any(e["args"]["time_us"]["bubble"] > 0 for e in events if e["ph"] == "X"))

    def test_weights_of_replicas_that_start(self):
        events = self.trace("autoscaling.yaml", "--set", "workload.requests=1500")
        self.check_format(events)
        weights = [e["args"] for e in events if e["ph"] == "b" and e["name"] == "weights"]
        self.assertGreater(len(weights), 0)
        self.assertEqual({one["from"] for one in weights}, {"storage"})

    def test_both_steppers(self):
        for scenario in ("quickstart.yaml", "splitwise.yaml", "failures.yaml", "pipeline_parallel.yaml"):
            with self.subTest(scenario):
                self.trace(scenario, *FEW, name="fast.json")
                self.trace(scenario, *FEW, "--stepper", "reference", name="reference.json")
                fast = (self.path / "fast.json").read_bytes()
                self.assertEqual(fast, (self.path / "reference.json").read_bytes())

    def test_results_are_those_without_a_trace(self):
        for name, arguments in (("with", ("--trace", "trace.json")), ("without", ())):
            done = self.run_program("disaggregated.yaml", *FEW, "--quiet", "--out", name, *arguments)
            self.assertEqual(done.returncode, 0)
        files = [(self.path / name / "results.json").read_bytes() for name in ("with", "without")]
        self.assertEqual(*files)


class Windows(TraceCase):
    def test_what_touches_the_window_is_shown_whole(self):
        begin, end = 4_000_000, 5_500_000
        everything = self.trace("disaggregated.yaml", *FEW)
        part = self.trace("disaggregated.yaml", *FEW, "--trace-window", "4 s..5.5s")
        self.check_format(part)
        self.check_steps(part)

        def steps(events):
            return [e for e in events if e["ph"] == "X"]

        within = [e for e in steps(everything) if e["ts"] < end and e["ts"] + e["dur"] > begin]
        self.assertEqual(steps(part), within)
        self.assertGreater(len(within), 100)
        self.assertTrue(any(e["ts"] < begin for e in within), "one crosses the beginning")

        def slices(events):
            ends = {(e["cat"], e["id"]): e["ts"] for e in events if e["ph"] == "e" and e["name"] == "request"}
            return {
                e["id"]: (e["ts"], ends[e["cat"], e["id"]])
                for e in events
                if e["ph"] == "b" and e["name"] == "request"
            }

        expected = {i: (a, b) for i, (a, b) in slices(everything).items() if a < end and b > begin}
        self.assertEqual(slices(part), expected)

    def test_counters_of_a_window(self):
        """At its beginning they have the value that holds there; after its end they do not change."""
        everything = self.trace("quickstart.yaml", *FEW)
        part = self.trace("quickstart.yaml", *FEW, "--trace-window", "4s..6s")

        def samples(events, name):
            return [(e["ts"], e["args"]["value"]) for e in events if e["ph"] == "C" and e["name"] == name]

        for name in ("running", "waiting", "KV blocks"):
            held = [value for time, value in samples(everything, name) if time <= 4_000_000][-1]
            changes = [s for s in samples(everything, name) if 4_000_000 < s[0] < 6_000_000]
            self.assertEqual(samples(part, name), [(4_000_000, held), *changes], name)

    def test_a_window_after_the_end(self):
        events = self.trace("quickstart.yaml", *FEW, "--trace-window", "2h..3h")
        self.assertEqual({e["ph"] for e in events}, {"M"})

    def test_many_events_are_told(self):
        done = self.run_program("quickstart.yaml", "--set", "workload.requests=14000", "--trace", "trace.json")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "^the trace has [0-9]+,[0-9]+,?[0-9]* events, .* --trace-window ")


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
