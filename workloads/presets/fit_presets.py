#!/usr/bin/env python3
"""Fits the workload presets of this folder from the traces they are named after.

    python3 fit_presets.py TRACES_FOLDER [OUTPUT_FOLDER]

TRACES_FOLDER holds the traces under the names of PRESETS below; each fit is written to OUTPUT_FOLDER (default: the
folder of this script) as NAME.yaml with its error beside it. What is kept of a trace: the quantiles of its prompt
and output lengths at the probabilities below, their rank correlation, its mean rate and the burstiness of its gaps.
"""

import bisect
import csv
import datetime
import json
import math
import pathlib
import sys
import textwrap

# Every 2 % in the middle, closer towards both ends, where a straight line fits worst.
PROBABILITIES = sorted(
    {0, 0.001, 0.0025, 0.005, 0.01, 0.99, 0.995, 0.9975, 0.999, 0.9997, 1} | {round(0.02 * i, 2) for i in range(1, 50)}
)

COUNT_WINDOW_S = 30

PRESETS = {
    "azure-conversation": {
        "file": "AzureLLMInferenceTrace_conv_2023.csv",
        "summary": "chat at Azure, November 2023: prompts of 1200 tokens, answers of 210",
        "source": "AzureLLMInferenceTrace_conv_2023.csv of https://github.com/Azure/AzurePublicDataset "
        "(Patel et al., Splitwise, ISCA 2024)",
        "licence": "CC-BY-4.0",
        "date": "2023-11-16",
        "burstiness_method": "gaps",
    },
    "mooncake-conversation": {
        "file": "mooncake_conversation_trace.jsonl",
        "summary": "long chats at Moonshot AI (Kimi), published 2025: prompts of 12,000 tokens, without their shared prefixes",
        "source": "conversation_trace.jsonl of https://github.com/kvcache-ai/Mooncake at 3b5a5941 "
        "(Qin et al., Mooncake, FAST 2025)",
        "licence": "Apache-2.0",
        "date": "2025-02",
        "burstiness_method": "counts",
    },
    "sharegpt": {
        "file": "nanoflow_sharegpt.csv",
        "summary": "ShareGPT conversations, 2023: prompts of 300 tokens with a long tail, answers of 320; Poisson arrivals",
        "source": "ShareGPT length pairs of https://github.com/efeslab/Nanoflow at d6b381e5",
        "licence": "Apache-2.0",
        "date": "2023",
        "burstiness_method": "none",
    },
}


def read_trace(path):
    """-> (seconds or None, prompt tokens, output tokens), one row a request."""
    rows = []
    with open(path, newline="", encoding="utf-8") as lines:
        if path.suffix == ".jsonl":
            for line in lines:
                row = json.loads(line)
                rows.append((row["timestamp"] / 1000, row["input_length"], row["output_length"]))
            return rows
        for row in csv.DictReader(lines):
            rows.append((seconds_of(row["TIMESTAMP"]), int(row["ContextTokens"]), int(row["GeneratedTokens"])))
    return rows


def seconds_of(stamp):
    try:
        whole = datetime.datetime.strptime(stamp[:19], "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return None
    return whole.replace(tzinfo=datetime.timezone.utc).timestamp() + float("0" + stamp[19:])


def quantile_table(values):
    """Quantiles at PROBABILITIES. The last point is set so that the last piece has the mean of the data there:
    one outlier then does not pull a straight line far out of the tail."""
    values = sorted(values)
    last = len(values) - 1
    table = []
    for p in PROBABILITIES:
        low = int(p * last)
        high = min(low + 1, last)
        table.append(round(values[low] + (p * last - low) * (values[high] - values[low])))
    tail = values[math.ceil(PROBABILITIES[-2] * len(values)):]
    table[-1] = max(table[-2], round(2 * sum(tail) / len(tail) - table[-2]))
    return table


def share_upto(table, length):
    """Share of lengths <= `length` that the table gives, rounding to whole tokens included."""
    edge = length + 0.5
    if edge >= table[-1]:
        return 1.0
    i = bisect.bisect_right(table, edge)
    if i == 0:
        return 0.0
    part = (edge - table[i - 1]) / (table[i] - table[i - 1])
    return PROBABILITIES[i - 1] + part * (PROBABILITIES[i] - PROBABILITIES[i - 1])


def fit_errors(table, values):
    """-> (largest distance between the two distribution functions, relative error of the mean)"""
    values = sorted(values)
    distance = 0.0
    for i, value in enumerate(values):
        if i + 1 == len(values) or values[i + 1] != value:
            distance = max(distance, abs(share_upto(table, value) - (i + 1) / len(values)))
    steps = zip(zip(PROBABILITIES, table), zip(PROBABILITIES[1:], table[1:]))
    mean = sum((p2 - p1) * (q1 + q2) / 2 for (p1, q1), (p2, q2) in steps)
    return distance, mean * len(values) / sum(values) - 1


def ranks(values):
    """Average ranks, ties shared."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for i in range(start, end + 1):
            result[order[i]] = (start + end) / 2
        start = end + 1
    return result


def mean_and_variance(values):
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / len(values)


def rank_correlation(a, b):
    a, b = ranks(a), ranks(b)
    (mean_a, variance_a), (mean_b, variance_b) = mean_and_variance(a), mean_and_variance(b)
    covariance = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b)) / len(a)
    return covariance / math.sqrt(variance_a * variance_b)


def dispersion(times, window_s):
    """Variance over mean of the number of requests in a window; 1 for Poisson, 1 / shape for gamma gaps."""
    counts = [0] * int((times[-1] - times[0]) // window_s)
    for time in times:
        window = int((time - times[0]) // window_s)
        if window < len(counts):
            counts[window] += 1
    mean, variance = mean_and_variance(counts)
    return variance / mean


def fit_burstiness(times, method):
    """-> (shape of gamma gaps, how it was found)"""
    if method == "none":
        return 1.0, "the source has no arrival times: Poisson"
    windows = ", ".join(f"{dispersion(times, w):.2f} in {w} s" for w in (10, 30, 60))
    swings = f"variance over mean of the number of requests: {windows}"
    if method == "gaps":
        mean, variance = mean_and_variance([b - a for a, b in zip(times, times[1:])])
        return mean**2 / variance, (
            f"1 / squared coefficient of variation of the gaps; slower swings are not reproduced ({swings})"
        )
    return 1 / dispersion(times, COUNT_WINDOW_S), (
        f"mean over variance of the number of requests in {COUNT_WINDOW_S} s, since times are recorded "
        f"in steps of 3 s ({swings})"
    )


def comment(text):
    return textwrap.fill(text, 108, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def wrapped(key, numbers):
    lines, line = [], f"{key}: ["
    for i, number in enumerate(numbers):
        word = f"{number:g}" if isinstance(number, float) else str(number)
        word += "]" if i + 1 == len(numbers) else ","
        if len(line) + len(word) > 105:
            lines.append(line)
            line = "   "
        line += word if line.endswith("[") else " " + word
    return "\n".join(lines + [line])


def fit(preset, folder):
    rows = read_trace(folder / preset["file"])
    times = [row[0] for row in rows if row[0] is not None]
    prompts, outputs = [row[1] for row in rows], [row[2] for row in rows]
    tables = quantile_table(prompts), quantile_table(outputs)
    errors = fit_errors(tables[0], prompts), fit_errors(tables[1], outputs)
    burstiness, how = fit_burstiness(times, preset["burstiness_method"])
    mean_rate = f"{len(times) / (times[-1] - times[0]):.3g} req/s on average" if times else "unknown rate"
    return "\n".join(
        [
            comment("Written by fit_presets.py (same folder): run it again rather than editing this."),
            comment(
                f"The trace: {mean_rate}; prompts of {sum(prompts) / len(rows):.1f} and outputs of "
                f"{sum(outputs) / len(rows):.1f} tokens on average."
            ),
            comment(f"Burstiness: {how}."),
            f"summary: \"{preset['summary']}\"",
            f"source: \"{preset['source']}\"",
            f"licence: {preset['licence']}",
            f"date: \"{preset['date']}\"",
            f"rows: {len(rows)}",
            "",
            "# Distance: the largest between the distribution functions of trace and fit (Kolmogorov-Smirnov).",
            "fit:",
            f"  prompt_distance: {errors[0][0]:.4f}",
            f"  output_distance: {errors[1][0]:.4f}",
            f"  prompt_mean_error: {errors[0][1]:.4f}  # relative",
            f"  output_mean_error: {errors[1][1]:.4f}",
            "",
            f"burstiness: {burstiness:.3f}",
            f"length_correlation: {rank_correlation(prompts, outputs):.3f}  # of ranks (Spearman)",
            wrapped("probabilities", PROBABILITIES),
            wrapped("prompt", tables[0]),
            wrapped("output", tables[1]),
            "",
        ]
    )


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    output = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else pathlib.Path(__file__).parent
    for name, preset in PRESETS.items():
        (output / f"{name}.yaml").write_text(fit(preset, pathlib.Path(sys.argv[1])), encoding="utf-8")
        print(f"{name}.yaml")


if __name__ == "__main__":
    main()
