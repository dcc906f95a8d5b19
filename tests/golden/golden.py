"""Where scenarios and their golden results are, and how results are made."""

import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
GOLDEN = ROOT / "tests" / "golden"


def results_of(program, scenario, *arguments, cwd=ROOT, **environment):
    """The bytes of the results.json that the program writes; `scenario` is a path as seen from `cwd`."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run(
            [program, "run", scenario, "--quiet", "--out", out, *arguments],
            cwd=cwd,
            env={**os.environ, **environment},
            check=True,
            timeout=120,
        )
        return (pathlib.Path(out) / "results.json").read_bytes()
