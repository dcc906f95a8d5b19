#!/usr/bin/env python3
"""Shares of a GPU's power limit (costmodel/energy.hpp), fitted to the average power of Mutinifni/splitwise-sim, and how
far off they are on settings left out of the fit.

usage: power_shares.py DATA         DATA: folder with splitwise-sim/perf_model.csv

Two forms are compared, each from the measured times of a prefill and 127 decode steps:

  activity    per phase min(1, waiting + compute * share of peak FLOP/s + memory * share of peak bandwidth)
  time split  1.0 while the compute roof binds, `bandwidth` while the memory roof does, `waiting` for the rest

Left out one setting at a time, and one deployment (model and GPUs) at a time: the second says how well the form carries
over. Prompts of 8192 tokens on Llama are not fitted: their averages, a sixth of the limit, cannot be those of the run,
in which every step draws more. Nor are those of BLOOM, so that all models have the same settings.
"""

import csv
import pathlib
import statistics
import sys
from collections import defaultdict, namedtuple

PEAK_FLOPS, PEAK_BYTES = 312e12, 2.039e12  # A100 80 GB SXM, dense bf16 (hardware/gpus)
GEMM_COMPUTE, GEMM_BANDWIDTH = 0.748, 0.724  # what matrix products reach of them (hardware/profiles)
DECODE_STEPS = 127
LONGEST_PROMPT = 4096

# Parameters, layers, width, KV bytes a token (16 bit: 2 * 2 * layers * KV heads * head size).
Model = namedtuple("Model", "parameters layers width kv_bytes")
MODELS = {
    "llama2-70b": Model(69.0e9, 80, 8192, 2 * 2 * 80 * 8 * 128),
    "bloom-176b": Model(176.2e9, 70, 14336, 2 * 2 * 70 * 112 * 128),
}
# Of one GPU: seconds, FLOPs and bytes of the prefill and of all decode steps.
Phase = namedtuple("Phase", "seconds flops bytes")
Setting = namedtuple("Setting", "deployment phases power")


def phase_of(model, gpus, seconds, tokens, pairs, kv_tokens, steps):
    flops = (2 * model.parameters * tokens + 4 * model.layers * model.width * pairs) / gpus
    return Phase(seconds, steps * flops, steps * (2 * model.parameters + model.kv_bytes * kv_tokens) / gpus)


def read_settings(path):
    rows = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if float(row["average_power"]) > 0 and int(row["prompt_size"]) <= LONGEST_PROMPT:
                key = row["model"], int(row["tensor_parallel"]), int(row["prompt_size"]), int(row["batch_size"])
                rows[key].append(row)
    settings = []
    for (name, gpus, prompt, batch), runs in sorted(rows.items()):
        median = {c: statistics.median(float(r[c]) for r in runs) for c in ("prompt_time", "e2e_time", "average_power")}
        prefill_s, whole_s = median["prompt_time"] / 1e3, median["e2e_time"] / 1e3
        context = batch * (prompt + DECODE_STEPS / 2)
        phases = (
            phase_of(MODELS[name], gpus, prefill_s, prompt * batch, batch * prompt**2 / 2, prompt * batch, 1),
            phase_of(MODELS[name], gpus, whole_s - prefill_s, batch, context, context, DECODE_STEPS),
        )
        settings.append(Setting((name, gpus), phases, median["average_power"]))
    return settings


def lowest_average(path):
    """No GPU without work draws more than that."""
    with path.open(encoding="utf-8") as file:
        return min(float(r["average_power"]) for r in csv.DictReader(file) if float(r["average_power"]) > 0)


def by_activity(shares, setting):
    waiting, compute, memory = shares
    energy = sum(
        p.seconds * min(1, waiting + (compute * p.flops / PEAK_FLOPS + memory * p.bytes / PEAK_BYTES) / p.seconds)
        for p in setting.phases
    )
    return energy / sum(p.seconds for p in setting.phases)


def by_time_split(shares, setting):
    bandwidth, waiting = shares
    energy = 0
    for p in setting.phases:
        flops_s, bytes_s = p.flops / PEAK_FLOPS / GEMM_COMPUTE, p.bytes / PEAK_BYTES / GEMM_BANDWIDTH
        bound_s = min(p.seconds, max(flops_s, bytes_s))
        energy += bound_s * (1 if flops_s >= bytes_s else bandwidth) + (p.seconds - bound_s) * waiting
    return energy / sum(p.seconds for p in setting.phases)


def solve(matrix, right):
    """Gauss with pivots; a handful of unknowns."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for other in range(len(rows)):
            if other != i:
                factor = rows[other][i] / rows[i][i]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def fit(form, start, settings, steps=50, nudge=1e-6):
    """Least squares of relative errors, by Gauss-Newton."""
    shares = list(start)
    for _ in range(steps):
        errors = [form(shares, s) / s.power - 1 for s in settings]
        slopes = []
        for i in range(len(shares)):
            nudged = [*shares[:i], shares[i] + nudge, *shares[i + 1 :]]
            slopes.append([(form(nudged, s) / s.power - 1 - e) / nudge for s, e in zip(settings, errors)])
        normal = [[sum(a * b for a, b in zip(x, y)) for y in slopes] for x in slopes]
        step = solve(normal, [-sum(a * e for a, e in zip(x, errors)) for x in slopes])
        shares = [a + b for a, b in zip(shares, step)]
    return shares


def show(what, errors):
    errors = [100 * abs(e) for e in errors]
    print(f"  {what:<32} mean {statistics.mean(errors):4.1f} %   largest {max(errors):4.1f} %")


def left_out(form, start, settings, group_of):
    for group in sorted({group_of(i, s) for i, s in enumerate(settings)}):
        rest = [s for i, s in enumerate(settings) if group_of(i, s) != group]
        shares = fit(form, start, rest)
        yield from (form(shares, s) / s.power - 1 for i, s in enumerate(settings) if group_of(i, s) == group)


def main():
    table = pathlib.Path(sys.argv[1]) / "splitwise-sim" / "perf_model.csv"
    settings = read_settings(table)
    print(f"lowest average power of all settings: {lowest_average(table):.3f}")
    for name, form, start, keys in (
        ("activity", by_activity, (0.3, 0.9, 0.7), ("waiting", "compute", "memory")),
        ("time split", by_time_split, (0.8, 0.3), ("bandwidth", "waiting")),
    ):
        shares = fit(form, start, settings)
        print(f"{name}: " + ", ".join(f"{key} {share:.3f}" for key, share in zip(keys, shares)))
        show("all settings", [form(shares, s) / s.power - 1 for s in settings])
        show("each setting left out", left_out(form, start, settings, lambda i, s: i))
        show("each deployment left out", left_out(form, start, settings, lambda i, s: s.deployment))


if __name__ == "__main__":
    main()
