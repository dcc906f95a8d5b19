#!/usr/bin/env python3
"""Checks attention by the compiler alone, where no cuobjdump is installed to look at machine code: that its PTX holds the
tensor core instructions of its generation, and that ptxas needs no local memory for it.

usage: check_assembly.py NVCC ROOT [SOURCE:ARCHITECTURE:INSTRUCTION...]

The default are the attention kernels of kernels/. Prints what is wrong and exits 1 if anything is.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ATTENTION = [
    ("kernels/attention/prefill_attention_sm80.cu", "80", "mma.sync.aligned.m16n8k16"),
    ("kernels/attention/prefill_attention_sm90.cu", "90a", "wgmma.mma_async.sync.aligned"),
    ("kernels/attention/decode_attention.cu", "90a", "mma.sync.aligned.m16n8k16"),
]

# "ptxas info    : Function properties for NAME", then "    0 bytes stack frame, 0 bytes spill stores, ..."
FUNCTION = re.compile(r"Function properties for (\S+)")
MEMORY = re.compile(r"(\d+) bytes (stack frame|spill stores|spill loads)")


def local_memory(report):
    """From `ptxas --verbose`: (functions seen, a line for each that has a stack frame or spills)."""
    functions, wrong, function = 0, [], "?"
    for line in report.splitlines():
        if match := FUNCTION.search(line):
            function = match[1]
            functions += 1
        wrong += [f"{function}: {size} bytes {what}" for size, what in MEMORY.findall(line) if int(size) > 0]
    return functions, wrong


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr}")
    return done.stdout + done.stderr


def check(nvcc, root, source, architecture, instruction, folder):
    ptx = folder / f"{pathlib.Path(source).stem}.ptx"
    run(nvcc, "-std=c++20", "-O3", f"-arch=compute_{architecture}", "-ptx", f"-I{root}", root / source, "-o", ptx)
    wrong = []
    if instruction not in ptx.read_text(encoding="utf-8"):
        wrong.append(f"{source}: sm_{architecture}: no {instruction} in its PTX")
    ptxas = nvcc.with_name("ptxas")
    functions, memory = local_memory(run(ptxas, f"-arch=sm_{architecture}", "-v", ptx, "-o", folder / "cubin"))
    if functions == 0:
        wrong.append(f"{source}: sm_{architecture}: ptxas reports no function")
    return wrong + [f"{source}: sm_{architecture}: {line}" for line in memory]


def main():
    nvcc, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    cases = [tuple(case.split(":")) for case in sys.argv[3:]] or ATTENTION
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:
        for case in cases:
            wrong += check(nvcc, root, *case, pathlib.Path(temporary))
    for line in wrong:
        print(line)
    print(f"{len(cases)} files compiled, {len(wrong)} found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
