#!/usr/bin/env python3
"""A scenario or study gives the results that are kept for it, byte for byte: every time, from anywhere, in any language,
by any number of processes.

usage: check_golden.py PROGRAM SCENARIO_NAME

When a change of results is meant, refresh.py writes the kept ones anew.
"""

import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from golden import GOLDEN, ROOT, SCENARIOS, command_of, results_of

MOST_DIFFERENCES = 40  # lines shown


def comma_locale():
    """A locale of this machine that writes 0,5; none on a machine without such."""
    if shutil.which("locale") is None:
        return None
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    return next((name for name in listed if name.split(".")[0].split("_")[0] in ("de", "fr", "nl", "es", "pl")), None)


def report_difference(title, expected, found):
    print(f"{title}: results differ")
    lines = difflib.unified_diff(
        expected.decode().splitlines(), found.decode().splitlines(), "expected", "found", lineterm="", n=1
    )
    for number, line in enumerate(lines):
        if number == MOST_DIFFERENCES:
            print("...")
            break
        print(line)


def main():
    program, name = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    kept = GOLDEN / f"{name}.json"
    if not kept.exists():
        print(f"{kept.relative_to(ROOT)} is missing; make it with tests/golden/refresh.py BUILD_DIR {name}")
        return 1
    scenario = SCENARIOS / f"{name}.yaml"
    elsewhere = tempfile.gettempdir()
    locale = comma_locale()
    if command_of(scenario) == "run":
        runs = {
            "from the repository": results_of(program, scenario.relative_to(ROOT)),
            "again, from the scenario's folder": results_of(program, scenario.name, cwd=SCENARIOS),
            "by absolute path, in another time zone": results_of(program, scenario, cwd=elsewhere, TZ="Asia/Kathmandu"),
            "by a way round": results_of(
                program, os.path.relpath(scenario, elsewhere), cwd=elsewhere, TZ="UTC", LC_ALL="C"
            ),
        }
        if locale is None:
            print("no locale with a decimal comma on this machine: that run is left out")
        else:
            runs[f"in the locale {locale}"] = results_of(program, scenario, LC_ALL=locale, LANG=locale)
    else:  # studies take seconds
        runs = {
            "by one process": results_of(program, scenario.relative_to(ROOT), "--jobs", "1"),
            "by three processes from elsewhere, in another time zone and locale": results_of(
                program, scenario, "--jobs", "3", cwd=elsewhere, TZ="Asia/Kathmandu", LC_ALL=locale or "C"
            ),
        }
    expected = kept.read_bytes()
    different = {title: found for title, found in runs.items() if found != expected}
    for title, found in different.items():
        report_difference(f"{name}, {title}", expected, found)
    print(f"{name}: {len(runs)} runs, {len(different)} differ from {kept.relative_to(ROOT)}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
