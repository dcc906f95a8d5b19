"""The traffic that replay_speed.py measures: lengths, load, engine settings, and the trace files."""

import itertools
import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AZURE_TRACE = ROOT / "../shared/data/traces/AzureLLMInferenceTrace_conv_2023.csv"
AZURE_COPIES = 20
MOONCAKE_TRACE = ROOT / "../shared/data/traces/mooncake_conversation_trace.jsonl"
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
    week: int = 0  # so many requests in seven days with day and night; --requests does not count
    generated: bool = False  # by the program itself as it runs: the trace is there for mawk alone
    recorded: str = ""  # at its own rate


# Prompts of up to 126,195 tokens: a model of 131,072. The pools of the second stand on a node each, so that all KV
# crosses the fabric.
MOONCAKE = ("model=llama-3.1-8b", "cluster.router=least_tokens", "cluster.hardware=dgx-h100")
MOONCAKE8 = (*MOONCAKE, "cluster.pools.mixed.replicas=8", "cluster.network.model=ideal")
MOONCAKE8_SIMGRID = (
    *MOONCAKE,
    "model=llama-3.1-8b",
    "engine={policy: disaggregated, batch_policy: chunked_prefill}",
    "hardware.tensor_parallel=2",
    "cluster.pools={prefill: {replicas: 4}, decode: {replicas: 4}}",
    "cluster.network.model=simgrid",
)
FLEET256 = ("cluster.pools.mixed.replicas=256", "cluster.router=least_tokens")
WEEK16 = ("cluster.pools.mixed.replicas=16", "cluster.router=least_tokens", "metrics.percentiles=sketch")

WORKLOADS = [
    Workload("chat50", load=0.5),
    Workload("chat80", load=0.8),
    Workload("chat95", load=0.95),
    Workload("code", lengths=CODE),
    Workload("reasoning", lengths=REASONING),
    Workload("rag", lengths=RAG),
    Workload("kv_starved", load=0.95, settings=("engine.num_gpu_blocks=1500",)),
    Workload("overload", load=1.2, settings=("engine.max_num_seqs=64",)),
    Workload("azure", recorded="azure"),
    Workload("mooncake8", recorded="mooncake", settings=MOONCAKE8),
    Workload("mooncake8_simgrid", recorded="mooncake", settings=MOONCAKE8_SIMGRID),
    Workload("fleet256", load=0.8, settings=FLEET256),
    Workload("week", week=5_000_000),
    Workload("week16", week=44_000_000, settings=WEEK16),
    Workload("week16_generated", week=44_000_000, generated=True, settings=WEEK16),
]
BY_NAME = {workload.name: workload for workload in WORKLOADS}
UNASKED = [workload.name for workload in WORKLOADS if not workload.week]
WEEK_SECONDS = 7 * 86_400

FLOOD_RATE = 10_000  # req/s: far above any capacity here, so that nearly all requests are there at once
FLOOD_REQUESTS = 20_000


class Bench:
    """A program and a folder to work in."""

    def __init__(self, program, folder, policy, settings=()):
        self.program = str(Path(program).resolve())
        self.folder = Path(folder)
        self.policy = policy
        self.settings = settings  # of all runs, before those of a workload

    def write(self, name, traffic):
        (self.folder / name).write_text(f"{ENGINE}engine: {{policy: {self.policy}}}\nworkload: {{{traffic}}}\n")

    def run_command(self, trace, settings=(), stepper="fast", out=None, traffic=None):
        """The command that replays a file of the folder, or generates `traffic` instead, and writes all results to
        `out`, or out-STEPPER."""
        scenario = f"{trace}.yaml"
        self.write(scenario, traffic or f"trace: {trace}")
        # Only the run itself is timed, not those with longer and shorter steps.
        all_settings = ("sensitivity.step_time=0", *self.settings, *settings)
        sets = [word for setting in all_settings for word in ("--set", setting)]
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


@dataclass(frozen=True)
class Plan:
    """What a trace was written for; None where that is not planned."""

    capacity: float = None
    rate: float = None
    traffic: str = None  # as a scenario says it, where the program is to generate it itself


def write_trace(bench, workload, requests, trace="trace.csv", week_requests=None):
    """Writes the trace file. `week_requests`: so many of a week's at its rate, and not all."""
    if workload.recorded:
        source, write = RECORDED[workload.recorded]
        write(source, bench.folder / trace, requests)
        return Plan()
    most = capacity(bench, workload)
    if workload.week:
        rate = workload.week / WEEK_SECONDS
        count = min(week_requests or workload.week, workload.week)
        traffic = f"generator: diurnal, rate: {rate:.6f} req/s, peak_to_trough: 4, requests: {count}, {workload.lengths}"
    else:
        rate = workload.load * most
        traffic = f"generator: poisson, rate: {rate:.6f} req/s, requests: {requests}, {workload.lengths}"
    bench.generate(trace, traffic, workload.output_factor)
    return Plan(most, rate, traffic if workload.generated else None)


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


def write_first_lines(source, target, most):
    with open(source, "rb") as lines, open(target, "wb") as out:
        out.writelines(itertools.islice(lines, most))


RECORDED = {"azure": (AZURE_TRACE, write_repeated), "mooncake": (MOONCAKE_TRACE, write_first_lines)}


def is_there(workload):
    """False, and said, for a recorded trace that is not."""
    missing = workload.recorded and not RECORDED[workload.recorded][0].exists()
    if missing:
        print(f"skipped: {workload.name}, because {RECORDED[workload.recorded][0]} is not there")
    return not missing


def named(names):
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        sys.exit(f"no workload {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    return [BY_NAME[name] for name in names]
