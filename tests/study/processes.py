"""Processes of a study that a test starts and kills: who descends from whom, and whether ranks can be started."""

import os
import pathlib
import shutil
import subprocess
import time

ENVIRONMENT = {
    **os.environ,
    # What a container of one or two cores, with one user, needs for two ranks.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    # Between asking what is left of a failed job to end and ending it mpirun would sleep two seconds.
    "OMPI_MCA_odls_base_sigkill_timeout": "0",
}


def parents():
    """Process -> its parent, its state and its command, of all processes there are."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                command = (folder / "cmdline").read_bytes().decode(errors="replace")
                found[int(folder.name)] = (int(parent), state, command)
            except (OSError, ValueError):
                pass  # it has just ended
    return found


def descendants(process):
    """Children and their children, living ones, sorted by number."""
    all_processes = parents()
    found = [process]
    for one in found:
        found += [child for child, (parent, state, _) in all_processes.items() if parent == one and state != "Z"]
    return sorted(found[1:])


def left_of(folder, longest_wait_seconds=10):
    """Commands of living processes that were started with a file in the folder, once there is none or the wait is over."""
    deadline = time.monotonic() + longest_wait_seconds
    while True:
        left = [command for _, state, command in parents().values() if str(folder) in command and state != "Z"]
        if not left or time.monotonic() > deadline:
            return left


def why_no_ranks(ranks, longest_wait_seconds):
    """Why mpirun cannot start so many ranks here; None when it can."""
    if shutil.which("mpirun") is None:
        return "there is no mpirun"
    tried = subprocess.run(["mpirun", "-n", str(ranks), "true"], capture_output=True, text=True, env=ENVIRONMENT,
                           timeout=longest_wait_seconds, check=False)
    return None if tried.returncode == 0 else f"mpirun does not start {ranks} ranks: {tried.stderr.strip()}"
