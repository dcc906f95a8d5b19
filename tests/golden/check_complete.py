#!/usr/bin/env python3
"""Every scenario and study has golden results, each of them a scenario or study, and all of them stay small and quick to read."""

import sys

from golden import GOLDEN, SCENARIOS

MOST_BYTES = 30_000  # a cluster has pools and links, a study has variants


def main():
    scenarios = {path.stem for path in SCENARIOS.glob("*.yaml")}
    kept = {path.stem: path.stat().st_size for path in GOLDEN.glob("*.json")}
    faults = [f"scenarios/{name}.yaml has no golden results" for name in sorted(scenarios - set(kept))]
    faults += [f"tests/golden/{name}.json belongs to no scenario" for name in sorted(set(kept) - scenarios)]
    faults += [f"tests/golden/{name}.json is too large: {size} bytes" for name, size in kept.items() if size > MOST_BYTES]
    for fault in faults:
        print(fault)
    print(f"{len(scenarios)} scenarios, {len(faults)} faults")
    return 1 if faults or not scenarios else 0


if __name__ == "__main__":
    sys.exit(main())
