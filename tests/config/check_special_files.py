#!/usr/bin/env python3
"""Scenarios, traces, models and GPUs that are no ordinary files: an error each, at once, never a crash or a hang.

usage: check_special_files.py PROGRAM
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
HUGE_BYTES = 1_000_000_000

# Each way to name a file.
READERS = {
    "scenario": lambda name: ["run", "--quiet", name],
    "trace": lambda name: ["workload", "inspect", name],
    "model": lambda name: ["memory", "--gpu", "h100-sxm", "--model", name],
    "gpu": lambda name: ["memory", "--model", "llama-3-8b", "--gpu", name],
}


class SpecialFiles(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def says(self, reader, name, message):
        """The program refuses `name` with exactly `message`, soon and without reading all of a huge file."""
        with self.subTest(reader=reader, name=name):
            done = subprocess.run(
                [PROGRAM, *READERS[reader](name)],
                cwd=self.path,
                capture_output=True,
                text=True,
                timeout=20,
                check=False,
            )
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"error: {message}\n"))
            most_memory_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            self.assertLess(most_memory_kib * 1024, HUGE_BYTES / 2)

    def test_a_huge_file(self):
        for name in ("huge.yaml", "huge.json"):
            with open(self.path / name, "wb") as file:
                file.truncate(HUGE_BYTES)  # sparse: takes no room
        self.says("scenario", "huge.yaml", "huge.yaml: larger than the limit of 4194304 bytes")
        self.says("gpu", "./huge.yaml", "./huge.yaml: larger than the limit of 4194304 bytes")
        self.says("model", "./huge.json", "./huge.json: larger than 4 MiB, which no config.json is")

    def test_a_huge_trace_line(self):
        with open(self.path / "huge.csv", "wb") as file:
            file.write(b"arrival_s,prompt_tokens,output_tokens\n0,")
            file.truncate(HUGE_BYTES)
        self.says("trace", "huge.csv", "huge.csv:2: expected lines of at most 16 MiB, found a longer one")

    def test_a_directory(self):
        (self.path / "folder.yaml").mkdir()
        self.says("scenario", "folder.yaml", "folder.yaml: is a directory, not a file")
        self.says("gpu", "folder.yaml", "folder.yaml: is a directory, not a file")
        self.says("trace", "folder.yaml", "folder.yaml: expected a file, found a directory")
        self.says("model", "./folder.yaml", "./folder.yaml: the directory has no config.json")

    def test_a_pipe(self):
        os.mkfifo(self.path / "pipe.yaml")
        os.mkfifo(self.path / "pipe.json")
        self.says("scenario", "pipe.yaml", "pipe.yaml: is not a regular file (a pipe or a device)")
        self.says("gpu", "pipe.yaml", "pipe.yaml: is not a regular file (a pipe or a device)")
        self.says(
            "model",
            "./pipe.json",
            "./pipe.json: not a regular file; expected a config.json or a directory that has one",
        )

    def test_a_device(self):
        self.says("scenario", "/dev/zero", "/dev/zero: is not a regular file (a pipe or a device)")

    def test_no_file(self):
        self.says("scenario", "no.yaml", "no.yaml: no such file")
        self.says("gpu", "no.yaml", "no.yaml: no such file")
        self.says("model", "no.json", "no.json: no such file")
        self.says("trace", "no.csv", "no.csv: cannot open: No such file or directory")

    def test_a_link_that_leads_round(self):
        (self.path / "loop.yaml").symlink_to("loop.yaml")
        self.says("scenario", "loop.yaml", "loop.yaml: cannot be opened")

    @unittest.skipIf(os.geteuid() == 0, "root may read every file")
    def test_an_unreadable_file(self):
        for name in ("secret.yaml", "secret.json", "secret.csv"):
            (self.path / name).write_text("model: llama-3-8b\n", encoding="utf-8")
            (self.path / name).chmod(0)
        self.says("scenario", "secret.yaml", "secret.yaml: cannot be opened: permission denied")
        self.says("gpu", "secret.yaml", "secret.yaml: cannot be opened: permission denied")
        self.says("model", "secret.json", "secret.json: cannot be read")
        self.says("trace", "secret.csv", "secret.csv: cannot open: Permission denied")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
