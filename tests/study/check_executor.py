#!/usr/bin/env python3
"""Studies that are killed at random moments go on where they were, and leave no processes behind.

usage: check_executor.py SLOW_STUDY MPI_MODULE MOMENTS Processes|Ranks [-v]

MOMENTS: how many random moments each kind of process is killed at. Exits with 77 where ranks cannot be started.
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

from processes import ENVIRONMENT, descendants, left_of, parents, why_no_ranks

PROGRAM = ""
MODULE = ""
MOMENTS = 3
SKIPPED = 77
QUESTIONS = 120
MILLISECONDS = 3
SLOTS = 2
# Of a slot: one that is worked on, one in hand, and two replies that were read and not yet recorded.
AGAIN_MOST = 4 * SLOTS
LONGEST_WAIT_SECONDS = 120
KILLED = "the process that worked on it was killed (signal 9, SIGKILL)"


class Study(unittest.TestCase):
    """A folder, and the reference: what a study that nobody disturbs writes."""

    reference = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        if Study.reference is None:
            done = self.run_to_end(Study.command(self, "whole", jobs=1))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(sorted(map(int, self.evaluations("whole"))), list(range(QUESTIONS)))
            Study.reference = self.file("whole", "result").read_bytes()

    def file(self, name, what):
        return self.folder / f"{name}.{what}"

    def command(self, name, *options, jobs=SLOTS, ranks=0):
        files = [self.file(name, what) for what in ("journal", "result", "log")]
        study = [PROGRAM, *files, QUESTIONS, MILLISECONDS, jobs, *options]
        return [str(word) for word in ([shutil.which("mpirun"), "-n", ranks] if ranks else []) + study]

    def run_to_end(self, command, **more):
        return subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_WAIT_SECONDS, check=False,
                              env={**ENVIRONMENT, **more})

    def start(self, command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
                                   start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def evaluations(self, name):
        log = self.file(name, "log")
        return log.read_text().splitlines() if log.exists() else []

    def journalled(self, name):
        """Keys of the whole records of a journal."""
        journal = self.file(name, "journal")
        keys = set()
        for line in journal.read_bytes().split(b"\n")[1:-1] if journal.exists() else []:
            self.assertEqual(int(line[:8], 16), zlib.crc32(line[9:]), line[:100])
            keys.add(line[9:].split(b"\t")[0].decode())
        return keys

    def wait_for_evaluations(self, name, count, process):
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while len(self.evaluations(name)) < count and process.poll() is None:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)

    def assert_nothing_is_left(self):
        self.assertEqual(left_of(self.folder), [])

    def kill_at_random_moments(self, name, command, victim_of, after, resume):
        """Starts the command, kills a process of it, looks at it with after(process), and resumes."""
        dice = random.Random(name)
        for moment in range(MOMENTS):
            one = f"{name}{moment}"
            process = self.start(command(one))
            self.wait_for_evaluations(one, dice.randrange(QUESTIONS - 10), process)
            time.sleep(dice.uniform(0, 2 * MILLISECONDS / 1000))
            victim = victim_of(process.pid, dice)
            if victim is None:
                process.communicate(timeout=LONGEST_WAIT_SECONDS)
                continue  # it was done before
            os.kill(victim, signal.SIGKILL)
            _, errors = process.communicate(timeout=LONGEST_WAIT_SECONDS)
            with self.subTest(f"{one}, at {len(self.evaluations(one))} evaluations"):
                after(process.returncode, errors)
                self.assert_nothing_is_left()
                known, before = self.journalled(one), len(self.evaluations(one))
                done = self.run_to_end(resume(one, moment))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(self.file(one, "result").read_bytes(), self.reference)
                self.assertFalse(known & set(self.evaluations(one)[before:]), "answers that were there")
                self.assertLessEqual(len(self.evaluations(one)), QUESTIONS + AGAIN_MOST)
                self.assert_nothing_is_left()


class Processes(Study):
    def test_killed_program(self):
        def killed(code, _):
            self.assertIn(code, (0, -signal.SIGKILL))

        self.kill_at_random_moments("program", self.command, lambda process, _: process, killed,
                                    lambda one, _: self.command(one))

    def test_killed_worker_or_keeper(self):
        def one_question_failed_at_most(code, errors):
            if code != 0:
                self.assertEqual(code, 1)
                self.assertRegex(errors, r"^question \d+: the process that worked on it was killed \(signal 9, SIGKILL\)\n$")

        def victim(process, dice):
            found = descendants(process)
            return dice.choice(found) if found else None

        self.kill_at_random_moments("worker", lambda one: self.command(one, "own"), victim, one_question_failed_at_most,
                                    lambda one, _: self.command(one))

    def test_ctrl_c_of_a_terminal(self):
        process = self.start(self.command("interrupted"))
        self.wait_for_evaluations("interrupted", 10, process)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assertEqual((process.returncode, errors), (-signal.SIGINT, ""))
        self.assert_nothing_is_left()

    def test_two_studies_with_one_journal(self):
        first = self.start(self.command("shared"))
        self.wait_for_evaluations("shared", 1, first)
        second = self.run_to_end(self.command("shared"))
        self.assertEqual(second.returncode, 2)
        self.assertIn("another study is writing to it", second.stderr)
        first.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assertEqual(first.returncode, 0)
        self.assertEqual(self.file("shared", "result").read_bytes(), self.reference)

    def assert_goes_on_after(self, name, failed, why):
        self.assertEqual(failed.returncode, 2, failed.stderr)
        self.assertIn(f"{name}.journal: cannot write all of it: {why}", failed.stderr)
        self.assert_nothing_is_left()
        known = self.journalled(name)
        self.assertGreater(len(known), 5)
        before = len(self.evaluations(name))
        done = self.run_to_end(self.command(name))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.file(name, "result").read_bytes(), self.reference)
        self.assertEqual(sorted(map(int, self.evaluations(name)[before:])),
                         sorted(set(range(QUESTIONS)) - set(map(int, known))))

    def test_file_that_may_not_grow(self):
        self.assert_goes_on_after("limited", self.run_to_end(self.command("limited", "full")), "File too large")

    def test_full_disk(self):
        # A disk of 400 KiB that only this command and its children see.
        disk = self.folder / "disk"
        disk.mkdir()
        command = self.command("full")
        command[1] = str(disk / "full.journal")
        script = 'mount -t tmpfs -o size=400k tmpfs "$1" || exit 77; disk=$1; kept=$2; shift 2; "$@"; code=$?; ' \
                 'cp "$disk/full.journal" "$kept"; exit $code'
        try:
            failed = self.run_to_end(["unshare", "--mount", "sh", "-c", script, "sh", str(disk),
                                      str(self.file("full", "journal")), *command])
        except FileNotFoundError:
            self.skipTest("there is no unshare")
        if failed.returncode not in (0, 2):
            self.skipTest(f"no disk can be mounted: {failed.stderr.strip()}")
        self.assert_goes_on_after("full", failed, "No space left on device")


class Ranks(Study):
    def command(self, name, *options, jobs=1, ranks=SLOTS):
        return super().command(name, *options, jobs=jobs, ranks=ranks)

    def resume(self, one, moment):
        """With ranks and without in turn: the journal is the same."""
        return self.command(one) if moment % 2 == 0 else Study.command(self, one)

    def killed(self, code, _):
        self.assertIn(code, (0, 128 + signal.SIGKILL, -signal.SIGKILL))

    def test_killed_rank(self):
        def victim(mpirun, dice):
            ranks = [process for process, (parent, state, command) in parents().items()
                     if parent == mpirun and state != "Z" and PROGRAM in command]
            return dice.choice(sorted(ranks)) if ranks else None

        self.kill_at_random_moments("rank", self.command, victim, self.killed, self.resume)

    def test_killed_mpirun(self):
        self.kill_at_random_moments("mpirun", self.command, lambda mpirun, _: mpirun, self.killed, self.resume)

    def test_ranks_do_not_go_on_without_mpirun(self):
        command = self.command("abandoned")
        command[command.index(str(QUESTIONS)) + 1] = "100"
        process = self.start(command)
        self.wait_for_evaluations("abandoned", 4, process)
        process.kill()
        process.communicate(timeout=LONGEST_WAIT_SECONDS)
        self.assert_nothing_is_left()
        self.assertLess(len(self.evaluations("abandoned")), QUESTIONS / 2)

    def test_killed_worker_of_a_rank(self):
        def victim(mpirun, dice):
            ranks = {process for process, (parent, _, _) in parents().items() if parent == mpirun}
            found = sorted(set(descendants(mpirun)) - ranks)
            return dice.choice(found) if found else None

        def one_question_failed_at_most(code, errors):
            if code != 0:
                self.assertEqual(code, 1)
                self.assertEqual(errors.count(KILLED), 1, errors)

        self.kill_at_random_moments("worker", lambda one: self.command(one, jobs=2), victim,
                                    one_question_failed_at_most, self.resume)

    def test_study_that_fails_on_rank_0(self):
        failed = self.run_to_end(self.command("limited", "full"))
        self.assertEqual(failed.returncode, 2, failed.stderr)
        self.assertIn("limited.journal: cannot write all of it: File too large", failed.stderr)
        self.assert_nothing_is_left()
        self.assertGreater(len(self.journalled("limited")), 5)

    def test_ranks_that_were_started_otherwise(self):
        command = self.command("different", "version=1") + [":", "-n", "1"] + Study.command(self, "different", "version=2")
        failed = self.run_to_end(command)
        self.assertEqual(failed.returncode, 2, failed.stderr)
        self.assertIn(f"rank {SLOTS} of the MPI job was started otherwise than rank 0", failed.stderr)
        self.assert_nothing_is_left()

    def test_program_without_mpi(self):
        failed = self.run_to_end(self.command("without"), INFEROMETER_MPI_MODULE="/nowhere/module.so")
        self.assertEqual(failed.returncode, 2, failed.stderr)
        self.assertIn("the MPI module cannot be loaded: /nowhere/module.so", failed.stderr)
        empty = {name: value for name, value in ENVIRONMENT.items() if name != "INFEROMETER_MPI_MODULE"}
        failed = subprocess.run(self.command("without"), capture_output=True, text=True, env=empty, check=False,
                                timeout=LONGEST_WAIT_SECONDS)
        self.assertEqual(failed.returncode, 2, failed.stderr)
        self.assertIn("this build has no MPI, so it cannot be one of several ranks", failed.stderr)


def main():
    global PROGRAM, MODULE, MOMENTS
    PROGRAM, MODULE, MOMENTS = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1), int(sys.argv.pop(1))
    if MODULE:
        ENVIRONMENT["INFEROMETER_MPI_MODULE"] = os.path.abspath(MODULE)
    if "Ranks" in sys.argv:
        if why := why_no_ranks(SLOTS, LONGEST_WAIT_SECONDS) if MODULE else "this build has no MPI":
            print("skipped:", why)
            sys.exit(SKIPPED)
        # MPI itself keeps memory until the end.
        ENVIRONMENT["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    unittest.main()


if __name__ == "__main__":
    main()
