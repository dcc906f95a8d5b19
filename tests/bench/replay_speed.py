#!/usr/bin/env python3
"""How long the whole program takes for a trace, next to what mawk needs to add up two columns of it.

For each workload a trace is written once; mawk, the program, and the program with the reference stepper then read that
file in turn, several times, on one core. Compared is CPU time. See README.md beside this file.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True  # nothing of this run stays in the source tree
from cpu_time import machine, measure, measure_in_turn, median_ratio, medians, pin_to_one_core
from replay_workloads import BY_NAME, UNASKED, Bench, is_there, named, write_trace

SUMS = "{s+=$2; t+=$3} END {print s, t}"
EXIT_SKIPPED = 77
EMPTY_RUNS = 20  # of one request, milliseconds each: their mean is what starting costs
GROWTH_SIZES = [10_000, 100_000, 1_000_000, 10_000_000]
GROWTH_SHARE = 0.15
DOUBLE_OUTPUT_SHARE = 0.15
TURN_AWAY = "engine.max_model_len=2"  # every prompt of two tokens or more leaves no room for an answer


def yardstick(trace):
    return ["mawk", "-F,", SUMS, trace]


def empty_run(bench):
    """What a run of one request costs: mean CPU seconds, and peak memory."""
    bench.generate("one.csv", "generator: all_at_once, requests: 1, lengths: azure-conversation")
    command = bench.run_command("one.csv")
    samples = [measure(command, bench.folder) for _ in range(EMPTY_RUNS)]
    return {
        "cpu_s": statistics.mean(sample["cpu_s"] for sample in samples),
        "peak_mib": statistics.median(sample["peak_mib"] for sample in samples),
    }


def check_same_results(fast, reference, name):
    for section in ("metrics", "steps", "engine", "requests"):
        if fast[section] != reference[section]:
            sys.exit(f"{name}: the steppers differ in {section}")


def work_done(results):
    """What the program did, as its results tell."""
    requests = results["requests"]["injected"]
    served = max(results["metrics"]["completed"], 1)
    stepper = results["stepper"]
    return {
        "requests": requests,
        "mean_prompt": round(results["metrics"]["total_input_tokens"] / served, 1),
        "mean_output": round(results["metrics"]["total_output_tokens"] / served, 1),
        "output_tokens": results["metrics"]["total_output_tokens"],
        "steps": results["steps"]["all"]["steps"],
        "events": stepper["events"],
        "stretches": stepper["stretches"],
        "single_steps": stepper["single_steps"],
        "mean_batch": round(results["engine"]["running_requests"]["mean_busy"], 1),
        "load_share": results["stability"]["load_share"],
        "preemptions": results["engine"]["preemptions"],
        "rejected": results["requests"]["rejected"],
    }


def compare(bench, workload, requests, arguments, empty):
    """Writes the trace of a workload and measures all there is to measure about it."""
    plan = write_trace(bench, workload, requests, week_requests=arguments.week_requests)
    run_command = partial(bench.run_command, "trace.csv", traffic=plan.traffic)
    commands = {"mawk": yardstick("trace.csv"), "fast": run_command(workload.settings)}
    if not arguments.no_reference:
        commands["reference"] = run_command(workload.settings, "reference")
    if arguments.engine_only:
        commands["turned_away"] = run_command((*workload.settings, TURN_AWAY), out="out-away")
    samples = measure_in_turn(commands, arguments.runs, bench.folder)
    results = bench.results()
    if "reference" in samples:
        check_same_results(results, bench.results("reference"), workload.name)
    return report_case(workload, bench.policy, samples, work_done(results), empty, plan)


def report_case(workload, policy, samples, work, empty, plan):
    program, mawk = medians(samples["fast"]), medians(samples["mawk"])
    requests, cpu = work["requests"], program["cpu_s"]
    case = {
        "label": workload.name,
        "policy": policy,
        "runs": len(samples["fast"]),
        "capacity_requests_per_s": plan.capacity,
        "rate_requests_per_s": plan.rate,
        **work,
        **program,
        "mawk_cpu_s": mawk["cpu_s"],
        "mawk_user_s": mawk["user_s"],
        "ratio_to_mawk": median_ratio(samples["fast"], samples["mawk"], "cpu_s"),
        "user_ratio_to_mawk": median_ratio(samples["fast"], samples["mawk"], "user_s"),
        "requests_per_s": requests / cpu,
        "output_tokens_per_s": work["output_tokens"] / cpu,
        "steps_per_s": work["steps"] / cpu,
        "events_per_s": work["events"] / cpu,
        "ns_per_request": cpu * 1e9 / requests,
        "bytes_per_request": max(program["peak_mib"] - empty["peak_mib"], 0) * 2**20 / requests,
    }
    if "reference" in samples:
        case["times_as_fast_as_reference"] = median_ratio(samples["reference"], samples["fast"], "cpu_s")
    if "turned_away" in samples:
        away = medians(samples["turned_away"])
        case["turned_away_cpu_s"] = away["cpu_s"]
        case["engine_ratio_to_mawk"] = statistics.median(
            (full["cpu_s"] - least["cpu_s"]) / mawk["cpu_s"]
            for full, least, mawk in zip(samples["fast"], samples["turned_away"], samples["mawk"])
        )
    return case


def thousands(value):
    """Three digits and a unit: 1.23 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def or_none(value, form):
    return "-" if value is None else format(value, form)


COLUMNS_OF_TIME = {
    "workload": lambda case: case["label"],
    "user s": lambda case: f"{case['user_s']:.3f}",
    "system s": lambda case: f"{case['system_s']:.3f}",
    "mawk s": lambda case: f"{case['mawk_cpu_s']:.3f}",
    "ratio": lambda case: f"{case['ratio_to_mawk']:.2f}",
    "user ratio": lambda case: f"{case['user_ratio_to_mawk']:.2f}",
    "reference / fast": lambda case: or_none(case.get("times_as_fast_as_reference"), ".2f"),
    "ns a request": lambda case: f"{case['ns_per_request']:.0f}",
    "requests/s": lambda case: thousands(case["requests_per_s"]),
    "output tokens/s": lambda case: thousands(case["output_tokens_per_s"]),
    "steps/s": lambda case: thousands(case["steps_per_s"]),
    "events/s": lambda case: thousands(case["events_per_s"]),
    "peak MiB": lambda case: f"{case['peak_mib']:.0f}",
    "bytes a request": lambda case: f"{case['bytes_per_request']:.0f}",
}
COLUMNS_OF_WORK = {
    "workload": lambda case: case["label"],
    "requests": lambda case: f"{case['requests']:,}",
    "capacity req/s": lambda case: or_none(case["capacity_requests_per_s"], ".2f"),
    "rate req/s": lambda case: or_none(case["rate_requests_per_s"], ".2f"),
    "load found": lambda case: or_none(case["load_share"], ".2f"),
    "prompt": lambda case: f"{case['mean_prompt']:.0f}",
    "output": lambda case: f"{case['mean_output']:.0f}",
    "mean batch": lambda case: f"{case['mean_batch']:.1f}",
    "steps": lambda case: thousands(case["steps"]),
    "events": lambda case: thousands(case["events"]),
    "stretches": lambda case: thousands(case["stretches"]),
    "single steps": lambda case: thousands(case["single_steps"]),
    "preemptions": lambda case: f"{case['preemptions']:,}",
}
COLUMNS_OF_GROWTH = {
    "requests": lambda case: f"{case['requests']:,}",
    "runs": lambda case: str(case["runs"]),
    "ns a request": lambda case: f"{case['ns_per_request']:.0f}",
    "peak MiB": lambda case: f"{case['peak_mib']:.0f}",
}
ENGINE_COLUMNS = {
    "workload": lambda case: case["label"],
    "all turned away s": lambda case: f"{case['turned_away_cpu_s']:.3f}",
    "the rest s": lambda case: f"{case['cpu_s'] - case['turned_away_cpu_s']:.3f}",
    "the rest to mawk": lambda case: f"{case['engine_ratio_to_mawk']:.2f}",
}


def show(cases, columns):
    """As Markdown, columns lined up."""
    rows = [list(columns), *([column(case) for column in columns.values()] for case in cases)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    rows.insert(1, ["-" * width for width in widths])
    print()
    for row in rows:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
    print(flush=True)


def growth(bench, arguments, empty):
    """Time per request of chat80 at growing sizes, start-up taken off. All sizes in turn; in each turn small ones are
    run many times and averaged, because CPU time is counted in ticks on some systems."""
    sizes = [size for size in GROWTH_SIZES if size <= arguments.growth]
    repeats = {size: max(1, min(50, GROWTH_SIZES[2] // size)) for size in sizes}
    times, peaks = {size: [] for size in sizes}, dict.fromkeys(sizes, 0)
    for size in sizes:
        write_trace(bench, BY_NAME["chat80"], size, f"{size}.csv")
    for _ in range(arguments.runs):
        for size in sizes:
            samples = [measure(bench.run_command(f"{size}.csv"), bench.folder) for _ in range(repeats[size])]
            spent = statistics.mean(sample["cpu_s"] for sample in samples)
            times[size].append((spent - empty["cpu_s"]) * 1e9 / size)
            peaks[size] = max(peaks[size], *(sample["peak_mib"] for sample in samples))
    cases = [
        {
            "requests": size,
            "runs": arguments.runs * repeats[size],
            "ns_per_request": statistics.median(times[size]),
            "peak_mib": peaks[size],
        }
        for size in sizes
    ]
    show(cases, COLUMNS_OF_GROWTH)
    middle = statistics.mean(case["ns_per_request"] for case in cases)
    off = max(abs(case["ns_per_request"] / middle - 1) for case in cases)
    print(f"without {empty['cpu_s'] * 1e3:.1f} ms of starting; at most {off:.1%} from their mean {middle:.0f} ns")
    return {"sizes": cases, "largest_share_off_mean": off, "holds": off <= GROWTH_SHARE}


def double_output(bench, arguments, empty):
    """Chat at 80 % of capacity, and with outputs twice as long at 80 % of the capacity of those, which is lower:
    as many requests, the GPU as busy, about twice as many decoded tokens."""
    base = BY_NAME["chat80"]
    workloads = {"once": base, "twice": replace(base, name="chat80, outputs doubled", output_factor=2)}
    planned = {name: write_trace(bench, workload, arguments.requests, name) for name, workload in workloads.items()}
    commands = {name: bench.run_command(name, out=f"out-{name}") for name in workloads}
    samples = measure_in_turn({"mawk": yardstick("once"), **commands}, arguments.runs, bench.folder)
    cases = []
    for name, workload in workloads.items():
        own = {"mawk": samples["mawk"], "fast": samples[name]}
        work = work_done(bench.results(name))
        cases.append(report_case(workload, bench.policy, own, work, empty, planned[name]))
    show(cases, COLUMNS_OF_WORK)
    show(cases, COLUMNS_OF_TIME)
    more = median_ratio(samples["twice"], samples["once"], "cpu_s") - 1
    print(f"outputs twice as long: {more:+.1%} time a request")
    return {"cases": cases, "share_more_per_request": more, "holds": more < DOUBLE_OUTPUT_SHARE}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="the program, e.g. build/release/inferometer")
    parser.add_argument("--requests", type=int, default=1_000_000, help="of each workload (default: 1,000,000)")
    parser.add_argument("--week-requests", type=int, metavar="N", help="only so many of a week's, at its rate")
    parser.add_argument("--runs", type=int, default=5, help="times each case is run (default: 5)")
    parser.add_argument(
        "--workloads", nargs="*", default=UNASKED, metavar="NAME", help=f"of {', '.join(BY_NAME)}; all but weeks"
    )
    parser.add_argument("--policies", nargs="+", default=["chunked_prefill"], metavar="POLICY")
    parser.add_argument("--no-reference", action="store_true", help="leave out the reference stepper")
    parser.add_argument("--engine-only", action="store_true", help="also without reading: see README.md")
    parser.add_argument(
        "--growth", type=int, nargs="?", const=GROWTH_SIZES[-1], metavar="MOST",
        help="time per request of chat80 from 10,000 to 10,000,000 (or MOST) requests",
    )  # fmt: skip
    parser.add_argument("--double-output", action="store_true", help="chat80 with outputs twice as long")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="in the scenario of every run")
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--most", type=float, help="fail when the ratio to mawk of a case is above this")
    parser.add_argument("--strict", action="store_true", help="fail when growth or doubled outputs exceed 15 %%")
    parser.add_argument("--folder", type=Path, help="where to write traces (default: a temporary folder)")
    return parser.parse_args()


def measure_all(arguments, workloads, folder):
    report = {"machine": machine(), "date": datetime.now().date().isoformat(), "cases": []}
    report["one_core"] = pin_to_one_core()
    cores = "one core" if report["one_core"] else "not pinned to a core"
    print(f"{report['machine']['processor']}, {cores}, medians of {arguments.runs} runs", flush=True)
    for policy in arguments.policies:
        bench = Bench(arguments.program, folder, policy, arguments.set)
        report["empty_run"] = empty = empty_run(bench)
        for workload in workloads:
            case = compare(bench, workload, arguments.requests, arguments, empty)
            if len(arguments.policies) > 1:
                case["label"] += f", {policy}"
            report["cases"].append(case)
            print(f"{case['label']}: {case['ratio_to_mawk']:.2f} times mawk", flush=True)
    bench = Bench(arguments.program, folder, "chunked_prefill", arguments.set)
    if report["cases"]:
        show(report["cases"], COLUMNS_OF_WORK)
        show(report["cases"], COLUMNS_OF_TIME)
        if arguments.engine_only:
            show(report["cases"], ENGINE_COLUMNS)
    if arguments.double_output:
        report["double_output"] = double_output(bench, arguments, empty)
    if arguments.growth:
        report["growth"] = growth(bench, arguments, empty)
    return report


def failures(report, arguments):
    slow = [case["label"] for case in report["cases"] if case["ratio_to_mawk"] > (arguments.most or float("inf"))]
    if slow:
        yield f"slower than {arguments.most} times mawk: {'; '.join(slow)}"
    if arguments.strict:
        for name in ("growth", "double_output"):
            if name in report and not report[name]["holds"]:
                yield f"{name}: more than 15 % off"


def main():
    arguments = parse_arguments()
    workloads = named(arguments.workloads)
    if shutil.which("mawk") is None:
        print("skipped: mawk, the yardstick, is not installed")
        return EXIT_SKIPPED
    workloads_there = [workload for workload in workloads if is_there(workload)]
    if workloads and not workloads_there:
        return EXIT_SKIPPED
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        report = measure_all(arguments, workloads_there, folder)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    failed = list(failures(report, arguments))
    if failed:
        sys.exit("\n".join(failed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
