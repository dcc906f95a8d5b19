#!/usr/bin/env python3
"""Compiles every header alone, in a translation unit that holds nothing else: a header includes what it uses. Headers that
a .cpp of the same name includes before all else are left out: the build compiles them so, but for one with precompiled
headers (INFEROMETER_PRECOMPILE_HEADERS), beside which --all is right.

usage: check_headers.py [--all] ROOT COMPILER [FLAG...]
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_structure import source_files

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only"]


def compile_alone(root, header, compiler, flags):
    """The compiler's complaint, or "" when there is none."""
    command = [compiler, *FLAGS, *flags, "-I", str(root), "-x", "c++", "-"]
    done = subprocess.run(command, input=f'#include "{header}"\n', capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{header} does not compile alone:\n{done.stderr}"


def is_first_in_its_source(root, header):
    source = (root / header).with_suffix(".cpp")
    if not source.is_file():
        return False
    first = re.search(r'^#include [<"](.*)[>"]', source.read_text(encoding="utf-8"), re.MULTILINE)
    return first is not None and first[1] == header


def main():
    arguments = sys.argv[1:]
    every = arguments[0] == "--all"
    root, compiler, *flags = arguments[1:] if every else arguments
    root = Path(root)
    all_headers = [path for path in source_files(root) if path.endswith(".hpp")]
    headers = [header for header in all_headers if every or not is_first_in_its_source(root, header)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [c for c in pool.map(lambda h: compile_alone(root, h, compiler, flags), headers) if c]
    print("\n".join(complaints) if complaints else f"{len(all_headers)} headers compile alone")
    return 1 if complaints or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
