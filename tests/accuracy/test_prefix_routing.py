#!/usr/bin/env python3
"""What routers that follow prompts gain on an hour of real conversations: Mooncake's trace on eight replicas.

usage: test_prefix_routing.py PROGRAM [--data FOLDER]

Runs traces/mooncake_conversation_trace.jsonl of FOLDER (default ../shared/data) once by each router, prints a table in
Markdown and fails unless every router that follows prompts has more of them cached than least_outstanding and a lower
mean TTFT, whatever chance may have had to do with it. Exits with 77, for "skipped", where the trace is absent.

The trace is one draw of an hour, and there is no second. How much of a difference is luck is told by its parts: each
request has two TTFTs, by either router, on the same trace with caches as warm; differences are averaged over twelfths
of the trace (five minutes, a thousand requests), and Student's t of the twelve means gives the interval. A queue or a
cache that one part leaves to the next ties neighbours together; the test of their correlation is printed beside.
"""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
BASELINE = "least_outstanding"
FOLLOWERS = ("cache_aware", "kv_aware", "prefix_scorer", "conductor")
PARTS = 12
T_OF_11 = 2.201  # two-sided 95 % of Student's t with 11 degrees of freedom
SCENARIO = """\
model: llama-3.1-8b
hardware: {{gpu: h100-sxm}}
engine: {{policy: chunked_prefill, max_model_len: 131072}}
cluster: {{pools: {{mixed: {{replicas: 8}}}}, router: {router}}}
workload: {{trace: {trace}}}
"""


def run(program, trace, router, folder):
    """TTFT in ms by request, and the results."""
    scenario = folder / f"{router}.yaml"
    scenario.write_text(SCENARIO.format(router=router, trace=json.dumps(str(trace))), encoding="utf-8")
    out = folder / router
    subprocess.run([program, "run", scenario, "--out", out, "--requests-csv"], check=True, stdout=subprocess.DEVNULL)
    with open(out / "requests.csv", encoding="utf-8", newline="") as rows:
        ttft = {int(row["id"]): float(row["ttft_ms"]) for row in csv.DictReader(rows) if row["ttft_ms"]}
    return ttft, json.loads((out / "results.json").read_text(encoding="utf-8"))


def means_of_parts(values):
    """Of as many successive values each."""
    size = len(values) / PARTS
    parts = [values[round(i * size) : round((i + 1) * size)] for i in range(PARTS)]
    return [sum(part) / len(part) for part in parts]


def interval(values):
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return mean, T_OF_11 * deviation / math.sqrt(len(values))


def correlation_of_neighbours(values):
    mean = sum(values) / len(values)
    square = sum((value - mean) ** 2 for value in values)
    return sum((a - mean) * (b - mean) for a, b in zip(values, values[1:])) / square if square else 0.0


def hit_share(results):
    """Of the prompts' tokens, those that were found in a replica's cache."""
    return results["prefix_cache"]["hit_rate_share"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    arguments = parser.parse_args()
    trace = arguments.data / "traces" / "mooncake_conversation_trace.jsonl"
    if not trace.is_file():
        print(f"skipped: {trace} is not there")
        return SKIPPED
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            router: run(arguments.program, trace.resolve(), router, pathlib.Path(folder))
            for router in (BASELINE, *FOLLOWERS)
        }
    base, base_results = runs[BASELINE]
    print("| router | tokens found | mean TTFT, ms | less than least_outstanding, ms (95 %) | neighbours |")
    print("|---|---|---|---|---|")
    for router, (ttft, results) in runs.items():
        both = sorted(base.keys() & ttft.keys())
        if len(both) != len(base):
            failures.append(f"{router} served other requests than {BASELINE}")
        gains = means_of_parts([base[request] - ttft[request] for request in both])
        gain, half_width = interval(gains)
        mean = sum(ttft.values()) / len(ttft)
        print(
            f"| {router} | {100 * hit_share(results):.1f} % | {mean:.0f} | {gain:.0f} ± {half_width:.0f} |"
            f" {correlation_of_neighbours(gains):+.2f} |"
        )
        if router != BASELINE and gain - half_width <= 0:
            failures.append(f"{router}: the mean TTFT is not surely lower than by {BASELINE}")
        if router != BASELINE and hit_share(results) <= hit_share(base_results):
            failures.append(f"{router} finds no more tokens than {BASELINE}")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
