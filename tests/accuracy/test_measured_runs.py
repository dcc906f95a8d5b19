#!/usr/bin/env python3
"""How far predictions are from measured runs of vLLM, TensorRT-LLM and SGLang, against ceilings that only go down.

usage: test_measured_runs.py PROGRAM [--data FOLDER] [--refresh]

Runs `inferometer validate` over measured/ of FOLDER (default ../shared/data), prints the errors of each group of runs and
metric as a table in Markdown, and fails when a median, or the mean of the silicon tables' TPOT, is above its ceiling in
run_ceilings.json, when a group has none or fewer runs than when its ceiling was set.
Exits with 77, for "skipped", where the runs are absent. --refresh: writes ceilings that are new or now lower.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CEILINGS = HERE / "run_ceilings.json"
SKIPPED = 77

# Percent. Ceilings have two decimals; another compiler's logarithm may move a figure by less than this.
ROUNDING = 0.05
KEY = ("group", "saturated", "metric")

DISAGGREGATED = "sglang_disaggregation_h200"
WITHOUT_GPU = "vllm_0.11_requests"  # an 80 GB Hopper, as the README of the data infers


def calls(measured):
    """(group in place of the runs' own or "", files and folders, options) of every call of `validate`."""
    whole = [path for path in sorted(measured.iterdir()) if path.name not in (DISAGGREGATED, WITHOUT_GPU)]
    found = [("", whole, [])] if whole else []
    if (measured / WITHOUT_GPU).is_dir():
        found.append(("", [measured / WITHOUT_GPU], ["--set", "hardware.gpu=h100-sxm"]))
    for split, prefill, decode in (("1p3d", 1, 3), ("3p1d", 3, 1)):
        files = sorted((measured / DISAGGREGATED).glob(f"{split}_*.json"))
        options = ["--scenario", HERE / "gpt_oss_on_eight_h200.yaml"]
        options += ["--set", f"cluster.pools.prefill.replicas={prefill}"]
        options += ["--set", f"cluster.pools.decode.replicas={decode}"]
        if files:
            found.append((f"sglang {split} gpt-oss-120b", files, options))
    return found


def has_mean(row):
    """Where the mean has a ceiling, too: TPOT in a closed loop, of which there are hundreds of runs."""
    return row["group"].startswith("aiconfigurator") and "tpot" in row["metric"] and not row["saturated"]


def rows_of(program, measured):
    """Rows of the summary with errors in percent, and lines about what was not predicted."""
    rows, missing = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "judgement.json"
        for group, paths, options in calls(measured):
            command = [program, "validate", *paths, *options, "--intervals", "0", "--quiet", "--json", file]
            subprocess.run([str(word) for word in command], check=True)
            judgement = json.loads(file.read_text(encoding="utf-8"))
            for row in judgement["summary"]:
                errors = {name: 100 * row[f"{name}_error"] for name in ("median", "mean", "p90")}
                rows.append({name: row[name] for name in (*KEY, "count")} | errors | {"bias": 100 * row["bias"]})
                rows[-1]["group"] = group or row["group"]
            missing += [f"{one['run']}: {one['reason']}" for one in judgement["missing"]]
    return rows, missing


def key_of(row):
    return tuple(row[name] for name in KEY)


def name_of(row):
    return f"{row['group']}, {row['metric']}" + (", saturated" if row["saturated"] else "")


def figures_of(row):
    return ("median", "mean") if has_mean(row) else ("median",)


def read_ceilings():
    if not CEILINGS.exists():
        return {}
    return {key_of(row): row for row in json.loads(CEILINGS.read_text(encoding="utf-8"))}


def above_ceilings(rows, ceilings):
    """A line for each figure that is above its ceiling or has none, and for each row that lost runs or is gone."""
    found = []
    for row in rows:
        ceiling = ceilings.get(key_of(row))
        if ceiling is None:
            found.append(f"{name_of(row)}: has no ceiling")
            continue
        if row["count"] < ceiling["count"]:
            found.append(f"{name_of(row)}: {row['count']} runs, of {ceiling['count']} before")
        for figure in figures_of(row):
            if row[figure] > ceiling[figure] + ROUNDING:
                found.append(
                    f"{name_of(row)}: {figure} error {row[figure]:.2f} % is above its ceiling of {ceiling[figure]} %"
                )
    there = {key_of(row) for row in rows}
    found += [f"{name_of(row)}: is not there any more" for key, row in ceilings.items() if key not in there]
    return found


def lowered(rows, ceilings):
    """The ceilings with those that are new, and those that are now lower; runs may only become more."""
    kept = dict(ceilings)
    for row in rows:
        before = kept.get(key_of(row), {})
        after = {name: row[name] for name in KEY} | {"count": max(row["count"], before.get("count", 0))}
        for figure in figures_of(row):
            after[figure] = min(round(row[figure], 2), before.get(figure, float("inf")))
        kept[key_of(row)] = after
    return [kept[key] for key in sorted(kept)]


def write_ceilings(ceilings):
    lines = ",\n".join("  " + json.dumps(row) for row in ceilings)
    CEILINGS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--refresh", action="store_true")
    arguments = parser.parse_args()
    measured = arguments.data / "measured"
    if not measured.is_dir():
        print(f"skipped: no measured runs in {arguments.data}")
        return SKIPPED
    rows, missing = rows_of(arguments.program, measured)
    print("| runs | metric | load | count | median % | mean % | p90 % | bias % |")
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for row in rows:
        load = "saturated" if row["saturated"] else "below"
        figures = " | ".join(f"{row[name]:.1f}" for name in ("median", "mean", "p90"))
        print(f"| {row['group']} | {row['metric']} | {load} | {row['count']} | {figures} | {row['bias']:+.1f} |")
    for line in missing:
        print("not predicted:", line)
    if arguments.refresh:
        write_ceilings(lowered(rows, read_ceilings()))
    complaints = above_ceilings(rows, read_ceilings())
    for line in complaints:
        print(line)
    return 1 if complaints or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
