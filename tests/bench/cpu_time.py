"""What one run of a command costs, and on which machine."""

import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

# A program of a few milliseconds may be accounted no time at all; what is measured takes far longer.
SHORTEST_SECONDS = 0.001


def pin_to_one_core():
    """This process and all it starts stay on one core. False where the system cannot do that."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return True


# Starts the command and writes its exit code, user and system seconds and peak memory (KiB). A program's peak counts
# from before it was loaded, when it was a copy of its parent: so the parent is a Python as small as can be (9 MiB).
LAUNCHER = """
import os, sys
null = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=null), 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime, usage.ru_stime, usage.ru_maxrss)
"""


def measure(command, cwd):
    """CPU seconds and peak memory of one run."""
    launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, *command]
    told = subprocess.run(launch, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    if told[0] != "0":
        sys.exit(f"{' '.join(command)}: exit code {told[0]}")
    user, system, peak_kib = (float(word) for word in told[1:])
    user = max(user, SHORTEST_SECONDS)
    return {"user_s": user, "system_s": system, "cpu_s": user + system, "peak_mib": peak_kib / 1024}


def measure_in_turn(commands, runs, cwd):
    """{name: samples}; the commands alternate, so that other work on the machine disturbs none more."""
    samples = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            samples[name].append(measure(command, cwd))
    return samples


def medians(samples):
    return {key: statistics.median(sample[key] for sample in samples) for key in samples[0]}


def median_ratio(above, below, key):
    """Of what ran one after the other."""
    return statistics.median(over[key] / under[key] for over, under in zip(above, below))


def machine():
    model = "unknown processor"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return {"processor": model, "cores": os.cpu_count(), "system": platform.system(), "arch": platform.machine()}
