#!/usr/bin/env python3
"""Gives the program every wrong input of a folder and compares what it says, to the byte, with NAME.expected.

usage: check_bad_inputs.py PROGRAM FOLDER [--refresh]

Beside each input NAME stands NAME.expected: all of standard error. Standard output must be empty and the exit code 2.
The program runs in tests/config/bad, so that files are called in messages what a user would call them. --refresh
writes the .expected files anew; read the difference as a user would before keeping it.
"""

import pathlib
import subprocess
import sys

BAD = pathlib.Path(__file__).resolve().parent / "bad"

# How the files of each folder reach the program.
COMMANDS = {
    "scenarios": lambda name: ["run", "--quiet", name],
    "studies": lambda name: ["compare", "--quiet", "--out", "/dev/null/none", name],
    "plans": lambda name: ["plan", "--quiet", "--out", "/dev/null/none", name],
    "traces": lambda name: ["workload", "inspect", name],
    "models": lambda name: ["memory", "--gpu", "h100-sxm", "--model", name],
    "measurements": lambda name: ["calibrate", "show", name],
    "runs": lambda name: ["validate", name],
    "gpus": lambda name: ["memory", "--model", "llama-3-8b", "--gpu", name],
    "command_line": lambda name: (BAD / name).read_text(encoding="utf-8").splitlines(),
}


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    refresh = "--refresh" in sys.argv[3:]
    inputs = sorted(
        path for path in (BAD / folder).iterdir() if path.is_file() and path.suffix not in (".expected", ".md")
    )
    failed = 0
    for path in inputs:
        name = f"{folder}/{path.name}"
        expected_file = path.with_name(path.name + ".expected")
        done = subprocess.run(
            [program, *COMMANDS[folder](name)], cwd=BAD, capture_output=True, timeout=60, check=False
        )
        if refresh:
            expected_file.write_bytes(done.stderr)
        expected = expected_file.read_bytes() if expected_file.exists() else b"(no .expected file)\n"
        if (done.returncode, done.stdout, done.stderr) == (2, b"", expected):
            continue
        failed += 1
        print(f"{name}: exit code {done.returncode}, expected 2; standard output {done.stdout[:500]!r}, expected none")
        for title, text in (("says", done.stderr), ("should say", expected)):
            print(f"  {title}:\n" + "".join(f"    {line}\n" for line in text.decode(errors="replace").splitlines()))
    orphans = [
        path.name for path in (BAD / folder).glob("*.expected") if not path.with_name(path.stem).exists()
    ]
    if orphans:
        print(f"{folder}: no input for {', '.join(sorted(orphans))}")
    print(f"{folder}: {len(inputs)} inputs, {failed} not reported as they should be")
    return 1 if failed or orphans or not inputs else 0


if __name__ == "__main__":
    sys.exit(main())
