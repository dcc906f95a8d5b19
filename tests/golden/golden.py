"""Where scenarios, studies and their golden results are, and how results are made."""

import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
GOLDEN = ROOT / "tests" / "golden"

# The command that a file is for, by a key that only its kind has; and the results that it writes.
STUDIES = {"variants": "compare", "candidates": "plan"}


def command_of(file):
    """run, compare or plan: what a file of scenarios/ is to be given to. A study has its key at the start of a line."""
    text = pathlib.Path(file).read_text(encoding="utf-8")
    return next((command for key, command in STUDIES.items() if re.search(rf"^{key}\s*:", text, re.MULTILINE)), "run")


def results_of(program, scenario, *arguments, cwd=ROOT, **environment):
    """The bytes of results.json, compare.json or plan.json as the program writes it; `scenario` is a path from `cwd`."""
    command = command_of(pathlib.Path(cwd) / scenario)
    with tempfile.TemporaryDirectory() as out:
        subprocess.run(
            [program, command, scenario, "--quiet", "--out", out, *arguments],
            cwd=cwd,
            env={**os.environ, **environment},
            check=True,
            timeout=120,
        )
        return (pathlib.Path(out) / ("results.json" if command == "run" else f"{command}.json")).read_bytes()
