#!/usr/bin/env python3
"""Writes the golden results anew: of all scenarios and studies, or of those named.

usage: tests/golden/refresh.py BUILD_DIR [SCENARIO_NAME ...]

README.md shows what the quickstart prints: check_readme.py PROGRAM --refresh.
Studies show what they come to in their comments: check_tables.py --refresh.
Then read `git diff tests/golden README.md` and keep it only when every difference is one that the change was to make.
"""

import pathlib
import sys

from golden import GOLDEN, ROOT, SCENARIOS, results_of


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve() / "inferometer"
    names = sys.argv[2:] or sorted(path.stem for path in SCENARIOS.glob("*.yaml"))
    for name in names:
        kept = GOLDEN / f"{name}.json"
        results = results_of(program, (SCENARIOS / f"{name}.yaml").relative_to(ROOT))
        changed = not kept.exists() or kept.read_bytes() != results
        kept.write_bytes(results)
        print(f"{kept.relative_to(ROOT)}: {'changed' if changed else 'as it was'}")


if __name__ == "__main__":
    main()
