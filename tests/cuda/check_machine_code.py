#!/usr/bin/env python3
"""Checks what the compiler made of the kernels: that nothing lies in local memory, that attention runs on the tensor
cores of its generation and computes its softmax beside their products, and that what memory bounds loads and stores
16 bytes at a time.

usage: check_machine_code.py --architectures 80,90a [--cuobjdump PROGRAM] OBJECT...

OBJECTs: all object files of kernels/. Prints `object: architecture function: what is wrong` and exits 1 if anything
is; exits 77 where cuobjdump, or the nvdisasm that it calls, is not installed.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

SKIPPED = 77

# What an instruction's name matches, and how a message calls it.
WIDE_LOAD = (r"LDG\..*\b128\b.*", "16-byte load (LDG)")
WIDE_STORE = (r"STG\..*\b128\b.*", "16-byte store (STG)")
WIDE_COPY_TO_SHARED = (r"LDGSTS\..*\b128\b.*", "16-byte asynchronous load to shared memory (LDGSTS)")
TENSOR_CORE = (r"HMMA\..*", "tensor core instruction (HMMA)")
WARPGROUP_TENSOR_CORE = (r"HGMMA\..*", "warpgroup tensor core instruction (HGMMA)")
TENSOR_MAP_LOAD = (r"UTMALDG\..*", "load through a tensor map (UTMALDG)")
LOCAL_MEMORY = r"(LDL|STL)\b.*"

# Kernel -> what its code must hold, on every architecture or by architecture. Each kernel must be listed.
REQUIRED = {
    "copy_kernel": [WIDE_LOAD, WIDE_STORE],
    "read_kernel": [WIDE_LOAD],
    "write_kernel": [WIDE_STORE],
    "kv_block_copy_kernel": [WIDE_LOAD, WIDE_STORE],
    "embedding_kernel": [WIDE_LOAD, WIDE_STORE],
    "rms_norm_kernel": [WIDE_LOAD, WIDE_STORE],
    "rope_kv_write_kernel": [WIDE_LOAD, WIDE_STORE],
    "silu_mul_kernel": [WIDE_LOAD, WIDE_STORE],
    "gemv_kernel": [WIDE_LOAD],
    "decode_attention_kernel": [WIDE_COPY_TO_SHARED, TENSOR_CORE],
    "prefill_kernel": {
        "sm_80": [WIDE_COPY_TO_SHARED, TENSOR_CORE, WIDE_STORE],
        "sm_90a": [TENSOR_MAP_LOAD, WARPGROUP_TENSOR_CORE, WIDE_STORE],
    },
    # One lane takes two neighbouring columns of few partial results.
    "reduce_splits_kernel": [],
    # Rows of any length, which begin where no 16 bytes do.
    "argmax_kernel": [],
    "top_p_kernel": [],
    # Make inputs and look through outputs; never measured.
    "fill_random_kernel": [WIDE_STORE],
    "fill_int32_kernel": [],
    "fill_permutation_kernel": [],
    "count_nonfinite_kernel": [],
}

ARCHITECTURE_OF_ELF = re.compile(r"arch = (sm_\w+)")
ARCHITECTURE_OF_CODE = re.compile(r"\s*code for (sm_\w+)")
FUNCTION = re.compile(r"\s*Function\s*:?\s*(\S+?):?\s*$")
RESOURCES = re.compile(r"\b(STACK|LOCAL):(\d+)")
# Address, perhaps a predicate, name: "/*0040*/  @!P0 LDG.E.128 R4, [R2.64] ;"
INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.a-z]*)")


def memory_of_functions(text):
    """From `cuobjdump -res-usage`: (architecture, function) -> {"STACK": bytes, "LOCAL": bytes}."""
    found = {}
    architecture = function = None
    for line in text.splitlines():
        if match := ARCHITECTURE_OF_ELF.match(line):
            architecture = match[1]
        elif match := FUNCTION.match(line):
            function = match[1]
        elif function and (sizes := RESOURCES.findall(line)):
            found[architecture, function] = {name: int(size) for name, size in sizes}
            function = None
    return found


def instructions_of_functions(text):
    """From `cuobjdump -sass`: (architecture, function) -> the names of its instructions, in order."""
    found = defaultdict(list)
    architecture = function = None
    for line in text.splitlines():
        if match := INSTRUCTION.match(line):
            found[architecture, function].append(match[1])
        elif match := ARCHITECTURE_OF_CODE.match(line):
            architecture = match[1]
        elif match := FUNCTION.match(line):
            function = match[1]
    return found


def kernel_of(function):
    """The listed kernel that a mangled name is of: names are preceded by their length there."""
    return next((kernel for kernel in REQUIRED if f"{len(kernel)}{kernel}" in function), None)


def required_of(kernel, architecture):
    """None: the kernel is not for this architecture."""
    required = REQUIRED[kernel]
    return required.get(architecture) if isinstance(required, dict) else required


def check_memory(functions):
    return [
        f"{architecture} {function}: {size} bytes of {name.lower()} memory; its arrays or registers do not fit"
        for (architecture, function), sizes in functions.items()
        for name, size in sizes.items()
        if size
    ]


def overlaps_products(instructions):
    """Whether a wait for products, after which others still run, and the wait for those have exponentials between them.
    The assembler is free to move the second wait up to the first, and does where no branch is between."""
    letters = {"HGMMA": "p", "WARPGROUP.DEPBAR": "w", "MUFU.EX2": "e"}
    steps = "".join(letter for name in instructions for start, letter in letters.items() if name.startswith(start))
    return re.search("pwe+we*p", steps) is not None


def check_instructions(functions):
    wrong = []
    for (architecture, function), instructions in functions.items():
        where = f"{architecture} {function}"
        names = set(instructions)
        local = sorted(name for name in names if re.fullmatch(LOCAL_MEMORY, name))
        if local:
            wrong.append(f"{where}: accesses local memory ({', '.join(local)})")
        kernel = kernel_of(function)
        if kernel is None:
            wrong.append(f"{where}: no kernel that REQUIRED lists; add what its code must hold")
            continue
        required = required_of(kernel, architecture)
        if required is None:
            wrong.append(f"{where}: REQUIRED lists {kernel} for other architectures only")
            continue
        for pattern, called in required:
            if not any(re.fullmatch(pattern, name) for name in names):
                wrong.append(f"{where}: holds no {called}")
        if any(name.startswith("HGMMA") for name in names) and not overlaps_products(instructions):
            wrong.append(f"{where}: waits for all products before the softmax that is to run beside them")
    return wrong


def check_all_there(seen, architectures):
    """`seen`: (kernel, architecture) of all objects."""
    return [
        f"{architecture}: no object holds {kernel}"
        for kernel in REQUIRED
        for architecture in architectures
        if required_of(kernel, architecture) is not None and (kernel, architecture) not in seen
    ]


def dump(program, option, path):
    """What cuobjdump prints, and what it complains of."""
    done = subprocess.run([program, option, path], capture_output=True, text=True, errors="replace", check=False)
    return done.stdout, "" if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


def check_objects(program, architectures, paths):
    """(what is wrong, why the rest could not be looked at)."""
    wrong, seen = [], set()
    for path in paths:
        name = Path(path).name
        text, complaint = dump(program, "-res-usage", path)
        if complaint:
            return [*wrong, f"{name}: cuobjdump: {complaint}"], ""
        memory = memory_of_functions(text)
        wrong += [f"{name}: {sentence}" for sentence in check_memory(memory)]
        text, complaint = dump(program, "-sass", path)
        if "nvdisasm" in complaint:
            return wrong, "nvdisasm is not installed, by which cuobjdump shows machine code"
        if complaint:
            return [*wrong, f"{name}: cuobjdump: {complaint}"], ""
        code = instructions_of_functions(text)
        wrong += [f"{name}: {sentence}" for sentence in check_instructions(code)]
        # A form of output that is not understood must not look like clean code.
        wrong += [f"{name}: {' '.join(key)}: resources or code are missing" for key in memory.keys() ^ code.keys()]
        seen |= {(kernel_of(function), architecture) for architecture, function in code}
    return wrong + check_all_there(seen, architectures), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--architectures", required=True)
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    program = shutil.which(arguments.cuobjdump)
    if program is None:
        print("skipped: cuobjdump is not installed, by which machine code is looked at")
        return SKIPPED
    architectures = [f"sm_{name}" for name in re.split("[,;]", arguments.architectures)]
    wrong, not_looked_at = check_objects(program, architectures, arguments.objects)
    for sentence in wrong:
        print(sentence)
    if wrong:
        return 1
    if not_looked_at:
        print(f"skipped: {not_looked_at}")
        return SKIPPED
    print(f"machine code: {len(arguments.objects)} objects are as they should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
