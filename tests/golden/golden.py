"""Where scenarios, studies and their golden results are, and how results are made."""

import json
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


def kept_of_plan(results):
    """What is kept of plan.json: answer, counts, and of each shape how it fared. The whole would be too long to read."""
    plan = json.loads(results)
    kept = {key: plan[key] for key in ("schema_version", "study", "answer", "counts", "front", "sensitivity")}
    kept["shapes"] = [
        {
            "name": shape["name"],
            "fate": shape["fate"],
            "reason": shape["reason"],
            "least_units": shape["least_units"],
            "units": [run["size"]["units"] for run in shape["assessments"]],
            "sustained": shape["sustained"] and [shape["sustained"][end] for end in ("low_requests_per_s", "high_requests_per_s")],
        }
        for shape in plan["shapes"]
    ]
    return (json.dumps(kept, indent=1) + "\n").encode()


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
        results = (pathlib.Path(out) / ("results.json" if command == "run" else f"{command}.json")).read_bytes()
        return kept_of_plan(results) if command == "plan" else results
