#!/usr/bin/env python3
"""How long the whole program takes for a real trace, next to what awk needs to add up two columns of it.

The Azure conversation trace (2023), repeated end to end, is replayed with all default metrics; the same file is summed
by mawk. Both are run alternately and compared by CPU time, so that other work on the machine disturbs neither more.
See README.md beside this file.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRACE = ROOT / "../shared/data/traces/AzureLLMInferenceTrace_conv_2023.csv"
POLICIES = ["chunked_prefill", "static", "orca", "continuous", "sarathi"]
SUMS = "{s+=$2; t+=$3} END {print s, t}"
TICKS_PER_SECOND = 10**7  # the trace writes times to 100 ns
EXIT_SKIPPED = 77

ENGINE = "model: llama-3-8b\nhardware: {gpu: h100-sxm, tensor_parallel: 1}\nengine: {policy: chunked_prefill}\n"
GENERATED = {
    "300,000 at once": "{generator: all_at_once, requests: 300000, lengths: azure-conversation}",
    "1,000,000 Poisson": "{generator: poisson, rate: 18 req/s, requests: 1000000, lengths: azure-conversation}",
}


def ticks(stamp):
    """100-ns ticks since year 1 of "2023-11-16 18:15:46.6805900"."""
    whole, _, fraction = stamp.partition(".")
    since = datetime.fromisoformat(whole) - datetime.min
    return (since.days * 86400 + since.seconds) * TICKS_PER_SECOND + int(fraction.ljust(7, "0")[:7] or 0)


def stamp(value):
    whole, fraction = divmod(value, TICKS_PER_SECOND)
    return f"{datetime.min + timedelta(seconds=whole)}.{fraction:07d}"


def write_repeated(source, target, times):
    """The trace so many times, each copy one mean gap behind the one before. Returns the number of requests."""
    header, *lines = source.read_text().split()  # date and time become words of their own
    words = iter(lines)
    rows = []
    for date in words:
        time, *lengths = next(words).split(",")
        rows.append((ticks(f"{date} {time}"), ",".join(lengths)))
    span = rows[-1][0] - rows[0][0]
    period = span + span // (len(rows) - 1)
    with open(target, "w", encoding="ascii") as out:
        out.write(header + "\n")
        for copy in range(times):
            out.writelines(f"{stamp(time + copy * period)},{lengths}\n" for time, lengths in rows)
    return times * len(rows)


# A program of a few milliseconds may be accounted no time at all; what is measured takes far longer.
SHORTEST_SECONDS = 0.001


def measure(command, cwd):
    """CPU seconds, wall seconds and peak memory of one run of a command."""
    started = os.times().elapsed
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    return {
        "user_s": max(usage.ru_utime, SHORTEST_SECONDS),
        "system_s": usage.ru_stime,
        "wall_s": os.times().elapsed - started,
        "peak_mb": usage.ru_maxrss * 1024 / 1e6,
    }


def medians(runs):
    return {key: round(statistics.median(run[key] for run in runs), 4) for key in runs[0]}


def compare(name, command, out, baseline, runs, cwd):
    """Runs baseline, program, and program with --out, in turn; what the last one wrote says how much was done."""
    with_out = command + ["--out", out]
    samples = {"baseline": [], "program": [], "program_with_out": []}
    for _ in range(runs):
        samples["baseline"].append(measure(baseline, cwd))
        samples["program"].append(measure(command, cwd))
        samples["program_with_out"].append(measure(with_out, cwd))
    ratios = [
        program["user_s"] / mawk["user_s"] for program, mawk in zip(samples["program"], samples["baseline"])
    ]
    results = json.loads((Path(cwd) / out / "results.json").read_text())
    program = medians(samples["program"])
    user = program["user_s"]
    steps = results["steps"]["all"]["steps"]
    return {
        "name": name,
        "command": " ".join(command),
        "runs": runs,
        "mawk": medians(samples["baseline"]),
        "program": program,
        "program_with_out": medians(samples["program_with_out"]),
        "median_ratio_of_user_time": round(statistics.median(ratios), 2),
        "largest_ratio_of_user_time": round(max(ratios), 2),
        "requests": results["requests"]["injected"],
        "output_tokens": results["metrics"]["total_output_tokens"],
        "steps": steps,
        "requests_per_s": round(results["requests"]["injected"] / user),
        "output_tokens_per_s": round(results["metrics"]["total_output_tokens"] / user),
        "steps_per_s": round(steps / user),
        "user_ns_per_step": round(user * 1e9 / steps, 1),
    }


def machine():
    model = "unknown processor"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return {"processor": model, "cores": os.cpu_count(), "system": platform.system(), "arch": platform.machine()}


def show(case):
    program, mawk = case["program"], case["mawk"]
    print(
        f"{case['name']:<38} {program['user_s']:6.3f} s user {program['system_s']:6.3f} s system"
        f" {program['peak_mb']:5.0f} MB   mawk {mawk['user_s']:.3f} s user"
        f"   ratio {case['median_ratio_of_user_time']:5.1f}\n"
        f"{'':<38} {case['requests_per_s']:,} requests/s  {case['output_tokens_per_s']:,} output tokens/s"
        f"  {case['steps_per_s']:,} steps/s  {case['user_ns_per_step']:.0f} ns/step",
        flush=True,
    )


def cases(arguments, trace):
    """Names and scenarios: the trace under each policy and rate, then generated traffic when asked for."""
    for rate_scale in arguments.rate_scale:
        for policy in arguments.policies:
            settings = ["--set", f"engine.policy={policy}", "--set", f"workload.rate_scale={rate_scale}"]
            yield f"{policy}, rate x {rate_scale}", f"workload: {{trace: {trace}}}\n", settings
    if arguments.generated:
        for name, workload in GENERATED.items():
            for policy in arguments.policies:
                yield f"{name}, {policy}", f"workload: {workload}\n", ["--set", f"engine.policy={policy}"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="the program, e.g. build/release/inferometer")
    parser.add_argument("--trace", type=Path, default=TRACE, help="the Azure conversation trace")
    parser.add_argument("--repeat", type=int, default=20, help="copies of the trace, end to end (default: 20)")
    parser.add_argument("--runs", type=int, default=5, help="times each case is run (default: 5)")
    parser.add_argument("--policies", nargs="+", default=POLICIES, metavar="POLICY")
    parser.add_argument("--rate-scale", nargs="+", default=["1"], metavar="FACTOR", help="rates to replay the trace at")
    parser.add_argument(
        "--generated", action="store_true", help="also 300,000 requests at once, and a million Poisson arrivals"
    )
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--most", type=float, help="fail when the median ratio of a case is above this")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if not arguments.trace.exists():
        print(f"skipped: {arguments.trace} is not there")
        return EXIT_SKIPPED
    if shutil.which("mawk") is None:
        print("skipped: mawk, the yardstick, is not installed")
        return EXIT_SKIPPED
    program = str(arguments.program.resolve())
    report = {"machine": machine(), "date": datetime.now().date().isoformat(), "repeat": arguments.repeat, "cases": []}
    with tempfile.TemporaryDirectory() as directory:
        requests = write_repeated(arguments.trace, Path(directory) / "trace.csv", arguments.repeat)
        print(f"{requests:,} requests, {report['machine']['processor']}, medians of {arguments.runs} runs")
        for name, workload, settings in cases(arguments, "trace.csv"):
            (Path(directory) / "scenario.yaml").write_text(ENGINE + workload)
            command = [program, "run", "scenario.yaml", "--quiet", *settings]
            case = compare(name, command, "out", ["mawk", "-F,", SUMS, "trace.csv"], arguments.runs, directory)
            report["cases"].append(case)
            show(case)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    if arguments.most is not None:
        slow = [case["name"] for case in report["cases"] if case["median_ratio_of_user_time"] > arguments.most]
        if slow:
            sys.exit(f"slower than {arguments.most} times mawk: {'; '.join(slow)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
