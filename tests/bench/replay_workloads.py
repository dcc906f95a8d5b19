"""The traffic that replay_speed.py measures: lengths, load, engine settings, and the trace files."""

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AZURE_TRACE = ROOT / "../shared/data/traces/AzureLLMInferenceTrace_conv_2023.csv"
AZURE_COPIES = 20
ENGINE = "model: llama-3-8b\nhardware: {gpu: h100-sxm, tensor_parallel: 1}\n"

CHAT = "lengths: azure-conversation"
CODE = (
    "prompt: {distribution: log_normal, mean: 2048, sigma: 0.5, max: 7500}, "
    "output: {distribution: log_normal, mean: 28, sigma: 0.8, max: 600}"
)
# Together never longer than the 8,192 tokens of the model; the mean of a uniform distribution is its middle.
REASONING = (
    "prompt: {distribution: uniform, min: 128, max: 384}, output: {distribution: uniform, min: 4192, max: 7808}"
)
RAG = "prompt: {distribution: uniform, min: 4200, max: 7800}, output: {distribution: uniform, min: 8, max: 392}"


@dataclass(frozen=True)
class Workload:
    name: str
    lengths: str = CHAT
    load: float = 0.8  # share of the capacity
    settings: tuple = ()  # of the engine
    output_factor: int = 1
    week: bool = False  # seven days with day and night at whatever load that is; --requests does not count
    is_azure: bool = False  # recorded, at its own rate


WORKLOADS = [
    Workload("chat50", load=0.5),
    Workload("chat80", load=0.8),
    Workload("chat95", load=0.95),
    Workload("code", lengths=CODE),
    Workload("reasoning", lengths=REASONING),
    Workload("rag", lengths=RAG),
    Workload("kv_starved", load=0.95, settings=("engine.num_gpu_blocks=1500",)),
    Workload("overload", load=1.2, settings=("engine.max_num_seqs=64",)),
    Workload("azure", is_azure=True),
    Workload("week", week=True),
]
BY_NAME = {workload.name: workload for workload in WORKLOADS}
UNASKED = [workload.name for workload in WORKLOADS if not workload.week]
WEEK = {"requests": 5_000_000, "rate": 5_000_000 / (7 * 86_400)}

FLOOD_RATE = 10_000  # req/s: far above any capacity here, so that nearly all requests are there at once
FLOOD_REQUESTS = 20_000


class Bench:
    """A program and a folder to work in."""

    def __init__(self, program, folder, policy):
        self.program = str(Path(program).resolve())
        self.folder = Path(folder)
        self.policy = policy

    def write(self, name, traffic):
        (self.folder / name).write_text(f"{ENGINE}engine: {{policy: {self.policy}}}\nworkload: {{{traffic}}}\n")

    def run_command(self, trace, settings=(), stepper="fast", out=None):
        """The command that replays a file of the folder and writes all results to `out`, or out-STEPPER."""
        scenario = f"{trace}.yaml"
        self.write(scenario, f"trace: {trace}")
        sets = [word for setting in settings for word in ("--set", setting)]
        return [self.program, "run", scenario, "--quiet", "--stepper", stepper, "--out", out or f"out-{stepper}", *sets]

    def results(self, stepper="fast"):
        return json.loads((self.folder / f"out-{stepper}" / "results.json").read_text())

    def generate(self, trace, traffic, output_factor=1):
        self.write("traffic.yaml", traffic)
        target = self.folder / trace
        command = [self.program, "workload", "generate", str(target), "--scenario", "traffic.yaml"]
        subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        if output_factor != 1:
            lengthen_outputs(target, output_factor)


def lengthen_outputs(trace, factor):
    longer = trace.with_suffix(".longer")
    with open(trace, encoding="ascii") as rows, open(longer, "w", encoding="ascii") as out:
        out.write(next(rows))
        for row in rows:
            arrival, prompt, output, rest = row.split(",", 3)
            out.write(f"{arrival},{prompt},{int(output) * factor},{rest}")
    longer.replace(trace)


def capacity(bench, workload):
    """Requests/s that the deployment can serve of these lengths: a short run of far too many requests."""
    traffic = f"generator: poisson, rate: {FLOOD_RATE} req/s, requests: {FLOOD_REQUESTS}, {workload.lengths}"
    bench.generate("flood.csv", traffic, workload.output_factor)
    command = bench.run_command("flood.csv", workload.settings)
    subprocess.run(command, cwd=bench.folder, check=True, stdout=subprocess.DEVNULL)
    results = bench.results()
    stability = results["stability"]
    if stability["load_share"] is None:  # no estimate: then what a run of so many gets done, its end included
        return results["metrics"]["request_throughput"]
    return stability["offered_requests_per_s"] / stability["load_share"]


def write_trace(bench, workload, requests, trace="trace.csv"):
    """Writes the trace file; returns the capacity and the rate it is meant for, None where that is not planned."""
    if workload.is_azure:
        write_repeated(AZURE_TRACE, bench.folder / trace, requests)
        return None, None
    most = capacity(bench, workload)
    if workload.week:
        rate = WEEK["rate"]
        traffic = f"generator: diurnal, rate: {rate:.6f} req/s, peak_to_trough: 4, requests: {WEEK['requests']}, {CHAT}"
    else:
        rate = workload.load * most
        traffic = f"generator: poisson, rate: {rate:.6f} req/s, requests: {requests}, {workload.lengths}"
    bench.generate(trace, traffic, workload.output_factor)
    return most, rate


TICKS_PER_SECOND = 10**7  # the Azure trace writes times to 100 ns


def ticks(stamp):
    """100-ns ticks since year 1 of "2023-11-16 18:15:46.6805900"."""
    whole, _, fraction = stamp.partition(".")
    since = datetime.fromisoformat(whole) - datetime.min
    return (since.days * 86400 + since.seconds) * TICKS_PER_SECOND + int(fraction.ljust(7, "0")[:7] or 0)


def stamp(value):
    whole, fraction = divmod(value, TICKS_PER_SECOND)
    return f"{datetime.min + timedelta(seconds=whole)}.{fraction:07d}"


def write_repeated(source, target, most):
    """The trace up to twenty times, each copy one mean gap behind the one before, `most` requests in all."""
    header, *lines = source.read_text().split()  # date and time become words of their own
    words = iter(lines)
    rows = []
    for date in words:
        time, *lengths = next(words).split(",")
        rows.append((ticks(f"{date} {time}"), ",".join(lengths)))
    period = (rows[-1][0] - rows[0][0]) * len(rows) // (len(rows) - 1)
    left = min(most, AZURE_COPIES * len(rows))
    with open(target, "w", encoding="ascii") as out:
        out.write(header + "\n")
        for copy in range(AZURE_COPIES):
            out.writelines(f"{stamp(time + copy * period)},{lengths}\n" for time, lengths in rows[: max(left, 0)])
            left -= len(rows)


def named(names):
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        sys.exit(f"no workload {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    return [BY_NAME[name] for name in names]
