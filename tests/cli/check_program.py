#!/usr/bin/env python3
"""Runs the program the way shells do, and looks at its exit codes and what it writes where.

usage: check_program.py PROGRAM
"""

import os
import signal
import subprocess
import sys
import unittest

PROGRAM = ""


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False, **options)


class Program(unittest.TestCase):
    def test_version_and_help_are_answers(self):
        version = run("--version")
        self.assertEqual((version.returncode, version.stderr), (0, ""))
        self.assertRegex(version.stdout, r"^inferometer \d+\.\d+\.\d+\n$")
        help_text = run("--help")
        self.assertEqual((help_text.returncode, help_text.stderr), (0, ""))
        for command in ("run", "describe", "memory", "roofline", "workload", "calibrate"):
            self.assertRegex(help_text.stdout, rf"(?m)^ +{command}\b")

    def test_mistakes_on_the_command_line(self):
        for arguments in ((), ("rnu",), ("--colour",), ("run",), ("run", "a.yaml", "--sed=1")):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"^error: .*\n$")

    def test_a_mistake_in_the_input(self):
        done = run("run", "no/such/scenario.yaml")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^error: no/such/scenario\.yaml.*\n$")

    def test_a_full_disk_is_reported(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
            )
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "error: cannot write to standard output: No space left on device\n")

    def test_a_reader_that_left_ends_it_quietly(self):
        reader, writer = os.pipe()
        os.close(reader)
        # The parent ignores the signal, as Python and service managers do: the program must not inherit that.
        done = subprocess.run(
            [PROGRAM, "--help"],
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            restore_signals=False,
        )
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
