#!/usr/bin/env python3
"""Checks the rules on how the source tree hangs together, by reading the files:

  * which folder may include which (the arrows below), and that no header includes itself in a circle;
  * which files alone may include a third party's headers;
  * includes are written from the repository root and name files that exist;
  * every header has #pragma once, every .cpp is listed in a CMakeLists.txt;
  * no file is longer than 500 lines, no function at namespace level longer than 70.

usage: check_structure.py ROOT      prints `file:line: what is wrong`, exits 1 if anything is.
"""

import re
import sys
from pathlib import Path

LINES_OF_A_FILE_MAX = 500
LINES_OF_A_FUNCTION_MAX = 70

DOMAIN = ["costmodel", "workloads", "hardware", "base"]
BATCH = ["sim/batch", "sim/kvcache"]
REPLICA = ["sim/replica", "sim/scheduler", *BATCH]
CLUSTER = ["sim/cluster", "sim/router", "sim/network", *REPLICA]
METRICS = ["sim/metrics", "sim/engine", *CLUSTER]
SCENARIO = ["sim/scenario", *METRICS]
PLUGIN = ["sim/scheduler", "sim/router", *BATCH, *DOMAIN]

# Folder -> folders it may include, besides itself. A folder that is not here may not hold C++ at all.
ARROWS = {
    "base": [],
    "hardware": ["base"],
    "costmodel": ["hardware", "base"],
    "workloads": ["base"],
    "kernels": [],
    "calibration": ["costmodel", "hardware", "base", "kernels"],
    "sim/kvcache": DOMAIN,
    "sim/batch": ["sim/kvcache", *DOMAIN],
    "sim/scheduler": ["sim/batch", *DOMAIN],
    "sim/replica": ["sim/scheduler", *BATCH, *DOMAIN],
    "sim/network": DOMAIN,
    "sim/router": DOMAIN,
    "sim/cluster": ["sim/router", "sim/network", *REPLICA, *DOMAIN],
    "sim/engine": [*CLUSTER, *DOMAIN],
    "sim/metrics": ["sim/engine", *CLUSTER, *DOMAIN],
    "sim/plugin": PLUGIN,
    "examples": ["sim/plugin", *PLUGIN],
    "sim/scenario": ["sim/plugin", *METRICS, *DOMAIN],
    "sim/study": [*SCENARIO, *DOMAIN],
    "sim/validation": ["sim/study", *SCENARIO, *DOMAIN],
    "sim/engine_arguments": ["sim/validation", *SCENARIO, *DOMAIN],
    "sim/report": ["sim/study", *SCENARIO, *DOMAIN],
    "sim/cli": ["sim/report", "sim/study", "sim/validation", "sim/engine_arguments", "calibration", *SCENARIO, *DOMAIN],
}

# Third-party header (by its beginning) -> the only files that may include it.
THIRD_PARTY = {
    "yaml-cpp/": r"base/config/yaml_source\.cpp",
    "Eigen/": r"calibration/fit.*",
    "simgrid/": r"(sim|tests/unit)/network/simgrid_.*",
    "xbt/": r"(sim|tests/unit)/network/simgrid_.*",
    "cuda": r"kernels/.*|(tests/unit/)?calibration/device/.*|.*\.cu",
    "cublas": r"kernels/.*|.*\.cu",
    "mpi.h": r"sim/study/executor/mpi_.*",
    "nvtx3/": r"calibration/device/.*",
    "CLI/": r"sim/cli/.*|tests/.*",
    "catch2/": r"tests/support/catch(_main)?\.(hpp|cpp)",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
# clang-format leaves the body of a function at namespace level between a line that ends in `{` and a `}` of its own,
# neither indented. A raw string that begins with a brace is no function.
FUNCTION_START = re.compile(r"^(?!namespace|class|struct|enum|union|extern|\}|//)(?!.*R\x22\()[A-Za-z_\[~].*\{$")

# A project of its own, which sees the installed tree only.
EMBEDDING_PROJECT = "tests/install/embed/"


def folder_of(path):
    """The folder of ARROWS that a file belongs to: `base/config/table.hpp` -> `base`, `sim/batch/x.cpp` -> `sim/batch`."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "sim" else parts[0]


def check_include(root, path, line, bracket, name):
    for beginning, allowed in THIRD_PARTY.items():
        if name.startswith(beginning) and not re.fullmatch(allowed, path):
            yield f"{path}:{line}: {name} may only be included by {allowed}"
    if bracket == "<":
        return
    if not (root / name).is_file():
        yield f'{path}:{line}: "{name}" is no file; includes are written from the repository root'
        return
    source, target = folder_of(path), folder_of(name)
    if source != "tests" and source != target and target not in ARROWS.get(source, []):
        allowed = ", ".join(ARROWS.get(source, [])) or "nothing else"
        yield f"{path}:{line}: {source} may not include {target} ({name}); it may include {allowed}"


def check_functions(path, lines):
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and FUNCTION_START.match(line):
            start = number
        elif start is not None and line.startswith("}"):
            if number - start + 1 > LINES_OF_A_FUNCTION_MAX:
                yield f"{path}:{start}: a function of {number - start + 1} lines; at most {LINES_OF_A_FUNCTION_MAX}"
            start = None


def check_circles(includes):
    """A depth-first walk over the graph of includes; a file met again while still open closes a circle."""
    done, trail = set(), []

    def walk(path):
        if path in trail:
            yield f"{path}:1: includes itself: {' -> '.join(trail[trail.index(path):] + [path])}"
            return
        if path in done:
            return
        trail.append(path)
        for name in includes.get(path, []):
            yield from walk(name)
        trail.pop()
        done.add(path)

    for path in sorted(includes):
        yield from walk(path)


def source_files(root):
    """C++ and CUDA of ours, as paths from the root."""
    folders = {folder.split("/")[0] for folder in ARROWS} | {"tests"}
    for folder in sorted(folders):
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in (".hpp", ".cpp", ".cu", ".cuh") and not path.startswith(EMBEDDING_PROJECT):
                yield path


def listed_sources(root):
    listed = set()
    for file in root.rglob("CMakeLists.txt"):
        folder = file.parent.relative_to(root).as_posix()
        for name in re.findall(r"[\w./-]+\.(?:cpp|cu)\b", file.read_text(encoding="utf-8")):
            listed.add(name if folder == "." else f"{folder}/{name}")
    for file in (root / "cmake").glob("*.cmake"):
        listed.update(re.findall(r"tests/[\w./-]+\.cpp\b", file.read_text(encoding="utf-8")))
    return listed


def check_tree(root):
    """All that is wrong in the tree at `root`, a list of `file:line: sentence`."""
    found, includes = [], {}
    listed = listed_sources(root)
    for path in source_files(root):
        lines = (root / path).read_text(encoding="utf-8").splitlines()
        if not path.startswith("tests/") and folder_of(path) not in ARROWS:
            found.append(f"{path}:1: the folder {folder_of(path)} has no arrows in check_structure.py")
        if len(lines) > LINES_OF_A_FILE_MAX:
            found.append(f"{path}:1: {len(lines)} lines; at most {LINES_OF_A_FILE_MAX}")
        if path.endswith((".hpp", ".cuh")) and "#pragma once" not in lines:
            found.append(f"{path}:1: no #pragma once")
        if path.endswith((".cpp", ".cu")) and path not in listed:
            found.append(f"{path}:1: no CMakeLists.txt lists it")
        found.extend(check_functions(path, lines))
        includes[path] = []
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                found.extend(check_include(root, path, number, *match.groups()))
                includes[path].append(match.group(2))
    found.extend(check_circles(includes))
    return found


def main():
    root = Path(sys.argv[1])
    found = check_tree(root)
    for line in found:
        print(line)
    count = sum(1 for _ in source_files(root))
    print(f"{count} files, {len(found)} found")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
