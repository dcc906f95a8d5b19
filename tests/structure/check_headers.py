#!/usr/bin/env python3
"""Compiles every header alone, in a translation unit that holds nothing else: a header includes what it uses.

usage: check_headers.py ROOT COMPILER [FLAG...]
"""

import os
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


def main():
    root, compiler, flags = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    headers = [path for path in source_files(root) if path.endswith(".hpp")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [c for c in pool.map(lambda h: compile_alone(root, h, compiler, flags), headers) if c]
    print("\n".join(complaints) if complaints else f"{len(headers)} headers compile alone")
    return 1 if complaints or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
