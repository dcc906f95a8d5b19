#!/usr/bin/env python3
"""Tables in the comments of studies say what the studies come to: every figure is its golden result, rounded.

A table's first line has a load ("at 4 req/s", or any words for the base's traffic) and names of metrics, each further line
a variant and its means, in columns two spaces apart:

    #   at 4 req/s    p50_ttft_ms  p99_itl_ms
    #   128 tokens          1,007        21.6

usage: check_tables.py [--refresh]      --refresh writes the figures anew (three digits, whole numbers from 1,000 on); what
the text around them says stays as it is, and is to be read again.
"""

import argparse
import json
import re
import sys

from golden import GOLDEN, SCENARIOS, command_of

COLUMN = re.compile(r"\S+(?: \S+)*")  # single spaces are within it


def columns(line):
    """Of a comment that is indented as tables are; none for other lines."""
    return COLUMN.findall(line[4:]) if line.startswith("#   ") else []


def means_of(results, words):
    """Variant -> metric -> mean, under the load that stands in a table's corner."""
    for load in results["loads"]:
        if load["name"] is None or words == f"at {load['name']}":
            return {variant["name"]: variant.get("metrics", {}) for variant in load["variants"]}
    return {}


def is_rounded(text, value):
    decimals = len(text.partition(".")[2])
    return abs(float(text.replace(",", "")) - value) <= 0.5000001 * 10**-decimals


def rounded(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


class Tables:
    """Those of one study."""

    def __init__(self, study):
        self.path = study
        self.lines = study.read_text().split("\n")
        self.results = json.loads((GOLDEN / f"{study.stem}.json").read_text())
        self.metrics = {name for load in self.results["loads"] for each in load["variants"] for name in each.get("metrics", {})}
        self.figures, self.faults = 0, []

    def check(self):
        corner, names, means = "", [], {}
        for number, line in enumerate(self.lines):
            found = columns(line)
            if len(found) > 1 and set(found[1:]) <= self.metrics:
                corner, names, means = found[0], found[1:], means_of(self.results, found[0])
            elif names and found:
                self.check_row(number, corner, means.get(found[0]), names)
            else:
                names = []

    def check_row(self, number, corner, means, names):
        line = self.lines[number]
        spans = [match.span() for match in COLUMN.finditer(line, 4)]
        if means is None or len(spans) != len(names) + 1:
            self.faults.append(f"{self.path.name}:{number + 1}: no variant of the study under the load {corner!r}, or too few figures")
            return
        for name, (begin, end) in reversed(list(zip(names, spans[1:]))):
            self.figures += 1
            value = means[name]["mean"]
            if not is_rounded(line[begin:end], value):
                self.faults.append(f"{self.path.name}:{number + 1}: {name} is {line[begin:end]}, the study has {value}")
                width = len(line[:end]) - len(line[:begin].rstrip())
                line = line[:begin].rstrip() + rounded(value).rjust(width) + line[end:]
        self.lines[number] = line

    def write(self):
        self.path.write_text("\n".join(self.lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--refresh", action="store_true")
    arguments = parser.parse_args()
    figures, faults = 0, []
    for study in sorted(SCENARIOS.glob("*.yaml")):
        if command_of(study) != "compare" or not (GOLDEN / f"{study.stem}.json").exists():
            continue  # check_complete.py tells of those that are missing
        tables = Tables(study)
        tables.check()
        figures, faults = figures + tables.figures, faults + tables.faults
        if arguments.refresh and tables.faults:
            tables.write()
    print("\n".join(faults + [f"{figures} figures, {len(faults)} faults"]))
    return 1 if (faults and not arguments.refresh) or not figures else 0


if __name__ == "__main__":
    sys.exit(main())
