#!/usr/bin/env python3
"""A plan that is killed, interrupted or out of disk goes on where it was and ends with the same bytes.

usage: check_study_kills.py PROGRAM [--moments N] [unittest options]

N: how many random moments each kind of process is killed at; they are the same in every call. What needs ranks is
skipped, with the reason, where there are none.
"""

import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from processes import ENVIRONMENT, descendants, left_of, parents, why_no_ranks

PROGRAM = ""
MOMENTS = 1
RANKS = 2
LONGEST_WAIT_SECONDS = 300
# A little more than a run takes.
LONGEST_PAUSE_SECONDS = 0.03
EXIT_OF_A_KILLED_JOB = (128 + signal.SIGKILL, -signal.SIGKILL)
STUDY = """
base:
  model: llama-3-8b
  hardware: {gpu: h100-sxm}
  cost_model: {level: roofline}
  workload: {preset: azure-conversation, rate: 10 req/s, requests: 400}
slo: {ttft_p99: 500 ms, tpot_p95: 30 ms}
candidates:
  gpu: [a100-80gb-sxm, h100-sxm]
  policy: [continuous, chunked_prefill]
  replicas: 1..8
sustained_rate: {of: all}
"""


class Plan(unittest.TestCase):
    """A folder with the study, and the reference: what a plan that nobody disturbs writes, and in how many runs."""

    reference = b""
    runs = 0

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "study.yaml").write_text(STUDY, encoding="utf-8")
        if Plan.runs == 0:
            done = self.run_to_end(self.command("whole"))
            self.assertEqual(done.returncode, 0, done.stderr)
            Plan.reference = (self.folder / "whole" / "plan.json").read_bytes()
            Plan.runs = self.journalled("whole")
            self.assertGreater(Plan.runs, 80)

    def command(self, name, jobs=2, ranks=0):
        """With whole paths, by which processes that are left over are found."""
        plan = [PROGRAM, "plan", self.folder / "study.yaml", "--out", self.folder / name]
        plan += [] if ranks else ["--jobs", jobs]
        return [str(word) for word in (["mpirun", "-n", ranks] if ranks else []) + plan]

    def run_to_end(self, command):
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_WAIT_SECONDS, check=False,
                              env=ENVIRONMENT)

    def start(self, command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
                                   start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def journalled(self, name):
        """Whole records of a journal, whose first line is its name."""
        journal = self.folder / name / "journal.jsonl"
        return max(0, journal.read_bytes().count(b"\n") - 1) if journal.exists() else 0

    def wait_for_records(self, name, count, process):
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while self.journalled(name) < count and process.poll() is None:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)

    def assert_nothing_is_left(self):
        self.assertEqual(left_of(self.folder), [])

    def assert_is_whole(self, name):
        self.assertEqual((self.folder / name / "plan.json").read_bytes(), self.reference)
        self.assertTrue((self.folder / name / "report.html").exists())

    def assert_goes_on(self, name, command):
        """Nothing that the journal has is run again, and the result is that of a plan in one piece."""
        known = self.journalled(name)
        done = self.run_to_end(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_is_whole(name)
        run, recalled = re.search(r"^(\d+) runs? in [^,\n]*(?:, (\d+) more known from)?", done.stderr, re.M).groups()
        self.assertEqual((int(run), int(recalled or 0)), (self.runs - known, known))
        self.assert_nothing_is_left()

    def kill_at_random_moments(self, kind, command, victim_of, codes, after):
        """Kills a process of the command; where it was there to be killed calls after(name of the plan, moment)."""
        dice = random.Random(kind)
        for moment in range(MOMENTS):
            name = f"{kind}{moment}"
            process = self.start(command(name))
            count = dice.randrange(self.runs - 5)
            self.wait_for_records(name, count, process)
            time.sleep(dice.uniform(0, LONGEST_PAUSE_SECONDS))
            victim = victim_of(process.pid, dice)
            if victim is not None:
                os.kill(victim, signal.SIGKILL)
            _, errors = process.communicate(timeout=LONGEST_WAIT_SECONDS)
            if victim is not None:
                with self.subTest(f"{name}, after {count} records"):
                    self.assertIn(process.returncode, codes, errors)
                    self.assert_nothing_is_left()
                    after(name, moment)


class Processes(Plan):
    def test_killed_program(self):
        # Where it is killed when it is done, it ends with 0.
        self.kill_at_random_moments("program", self.command, lambda process, _: process, (0, -signal.SIGKILL),
                                    lambda name, moment: self.assert_goes_on(name, self.command(name, 1 + moment % 3)))

    def test_killed_worker_or_keeper_changes_nothing(self):
        def victim(process, dice):
            found = descendants(process)
            return dice.choice(found) if found else None

        def after(name, _):
            self.assert_is_whole(name)
            self.assert_goes_on(name, self.command(name))

        self.kill_at_random_moments("worker", self.command, victim, (0,), after)

    def test_ctrl_c(self):
        process = self.start(self.command("interrupted"))
        self.wait_for_records("interrupted", 10, process)
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assertEqual((process.returncode, out), (130, ""), errors)
        self.assertIn("the same command goes on from there", errors)
        self.assertFalse((self.folder / "interrupted" / "plan.json").exists())
        self.assert_nothing_is_left()
        self.assert_goes_on("interrupted", self.command("interrupted"))

    def test_other_numbers_of_workers_and_a_fresh_start_change_nothing(self):
        for jobs in (1, 8):
            self.assert_goes_on(f"jobs{jobs}", self.command(f"jobs{jobs}", jobs=jobs))
        self.assert_goes_on("jobs8", self.command("jobs8"))
        afresh = self.run_to_end(self.command("jobs8") + ["--fresh"])
        self.assertIn(f"{self.runs} runs in", afresh.stderr)
        self.assert_is_whole("jobs8")

    def test_full_disk(self):
        # A disk that only this command and its children see. The journal of the whole plan needs more than it has at
        # first; then it gets room.
        disk = self.folder / "disk"
        disk.mkdir()
        script = 'disk=$1; kept=$2; shift 2; mount -t tmpfs -o size=64k tmpfs "$disk" || exit 77; "$@"; code=$?; ' \
                 'cp -r "$disk/plan" "$kept" && mount -o remount,size=64m "$disk" || exit 77; "$@" > "$disk/again" 2>&1 ' \
                 '&& cp -r "$disk/plan" "$kept/after"; exit $code'
        command = ["unshare", "--mount", "sh", "-c", script, "sh", str(disk), str(self.folder / "kept"),
                   *self.command("disk/plan")]
        try:
            failed = self.run_to_end(command)
        except FileNotFoundError:
            self.skipTest("there is no unshare")
        if failed.returncode not in (0, 2):
            self.skipTest(f"no disk can be mounted: {failed.stderr.strip()}")
        self.assertEqual(failed.returncode, 2, failed.stderr)
        self.assertIn("plan/journal.jsonl: cannot write all of it: No space left on device", failed.stderr)
        self.assert_is_whole("kept/after")
        self.assertGreater(self.journalled("kept"), 5)
        self.assertFalse((self.folder / "kept" / "plan.json").exists())
        self.assert_goes_on("kept", self.command("kept"))


class Ranks(Plan):
    def setUp(self):
        if not (pathlib.Path(PROGRAM).parent / "inferometer_mpi.so").exists():
            self.skipTest("this build has no MPI")
        if why := why_no_ranks(RANKS, LONGEST_WAIT_SECONDS):
            self.skipTest(why)
        super().setUp()

    def command_of_ranks(self, name):
        return self.command(name, ranks=RANKS)

    def kill_and_resume(self, kind, victim_of):
        """Resumes with ranks and without in turn: the journal is the same."""
        def after(name, moment):
            self.assert_goes_on(name, self.command_of_ranks(name) if moment % 2 == 0 else self.command(name))

        self.kill_at_random_moments(kind, self.command_of_ranks, victim_of, (0, *EXIT_OF_A_KILLED_JOB), after)

    def test_ranks_write_what_processes_write(self):
        self.assert_goes_on("ranks", self.command_of_ranks("ranks"))

    def test_killed_rank(self):
        def victim(mpirun, dice):
            ranks = [process for process, (parent, state, command) in parents().items()
                     if parent == mpirun and state != "Z" and PROGRAM in command]
            return dice.choice(sorted(ranks)) if ranks else None

        self.kill_and_resume("rank", victim)

    def test_killed_mpirun(self):
        self.kill_and_resume("mpirun", lambda mpirun, _: mpirun)

    def test_ctrl_c(self):
        process = self.start(self.command_of_ranks("interrupted"))
        self.wait_for_records("interrupted", 10, process)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assertNotEqual(process.returncode, 0, errors)
        self.assertFalse((self.folder / "interrupted" / "plan.json").exists())
        self.assert_nothing_is_left()
        self.assert_goes_on("interrupted", self.command_of_ranks("interrupted"))


def main():
    global PROGRAM, MOMENTS
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    if "--moments" in sys.argv:
        at = sys.argv.index("--moments")
        MOMENTS = int(sys.argv[at + 1])
        del sys.argv[at : at + 2]
    unittest.main()


if __name__ == "__main__":
    main()
