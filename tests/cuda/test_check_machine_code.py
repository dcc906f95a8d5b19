#!/usr/bin/env python3
"""Runs the check of machine code over a stand-in for cuobjdump: sound code passes, and each planted fault is named."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).parent / "check_machine_code.py"

# Instructions as nvdisasm names them, of kernels as they should be.
MOVES = ["LDG.E.128 R4, [R2.64]", "STG.E.128 [R6.64], R4"]
SOUND = {
    "copy_kernel": MOVES,
    "read_kernel": ["@!P0 LDG.E.128.CONSTANT R4, [R2.64]"],
    "write_kernel": ["@P1 STG.E.128 [R2.64], R4"],
    "kv_block_copy_kernel": MOVES,
    "embedding_kernel": MOVES,
    "rms_norm_kernel": MOVES,
    "rope_kv_write_kernel": MOVES,
    "silu_mul_kernel": MOVES,
    "gemv_kernel": ["LDG.E.NA.128.CONSTANT R8, [R2.64]"],
    "decode_attention_kernel": ["LDGSTS.E.BYPASS.128 [R5], [R2.64]", "HMMA.16816.F32.BF16 R4, R8, R2, R4"],
    "prefill_kernel": ["LDGSTS.E.BYPASS.LTC128B.128 [R5], [R2.64]", "HMMA.16816.F32 R4, R8, R2, R4", MOVES[1]],
    "reduce_splits_kernel": ["LDG.E.64 R4, [R2.64]"],
    "argmax_kernel": ["LDG.E.CONSTANT R4, [R2.64]"],
    "top_p_kernel": ["LDG.E.CONSTANT R4, [R2.64]"],
    "fill_random_kernel": ["STG.E.128 [R2.64], R4"],
    "fill_int32_kernel": ["STG.E [R2.64], R4"],
    "fill_permutation_kernel": ["STG.E [R2.64], R4"],
    "count_nonfinite_kernel": ["LDG.E.U16 R4, [R2.64]"],
}
# The first scores and their softmax; in the loop two products, one awaited, the softmax, the other awaited; the last.
PRODUCT = "HGMMA.64x128x16.F32.BF16 R24, R4, gdesc[UR8], R24"
WAIT = "WARPGROUP.DEPBAR.LE gsb0, 0x0"
SOFTMAX = ["FMNMX R4, R5, R6, !PT", "MUFU.EX2 R4, R5", "MUFU.EX2 R6, R7"]
BEFORE_LOOP = ["UTMALDG.3D [UR8], [UR4]", PRODUCT, WAIT, *SOFTMAX]
LOOP = [PRODUCT, PRODUCT, "WARPGROUP.DEPBAR.LE gsb0, 0x1", *SOFTMAX, WAIT]
AFTER_LOOP = [PRODUCT, WAIT, MOVES[1]]
SOUND_90A = {**SOUND, "prefill_kernel": BEFORE_LOOP + LOOP + AFTER_LOOP}

PROGRAM = """#!/bin/sh
here=$(dirname "$0")
case $1 in
  -res-usage) cat "$here/memory.txt" ;;
  -sass) cat "$here/code.txt" ;;
esac
"""
WITHOUT_NVDISASM = """#!/bin/sh
[ "$1" = -res-usage ] && exec cat "$(dirname "$0")/memory.txt"
echo "cuobjdump fatal   : Could not find executable file 'nvdisasm'" >&2
exit 1
"""
FAILING = """#!/bin/sh
echo "cuobjdump fatal   : Unknown kind of file" >&2
exit 1
"""


def mangled(kernel):
    return f"_ZN11inferometer7kernels39_GLOBAL__N__e148f4ea_7_some_cu_1d354c1a{len(kernel)}{kernel}ILi2EEEv9Arguments"


def memory_text(architecture, kernels, sizes):
    lines = ["", "Fatbin elf code:", "================", f"arch = {architecture}", ""]
    lines += ["Resource usage:", " Common:", "  GLOBAL:0"]
    for kernel in kernels:
        stack, local = sizes.get((architecture, kernel), (0, 0))
        lines += [
            f" Function {mangled(kernel)}:",
            f"  REG:86 STACK:{stack} SHARED:8708 LOCAL:{local} CONSTANT[0]:440 TEXTURE:0 SURFACE:0 SAMPLER:0",
        ]
    return "\n".join(lines) + "\n"


def code_text(architecture, kernels):
    lines = ["", "Fatbin elf code:", "================", f"arch = {architecture}", "", f"\tcode for {architecture}"]
    for kernel, instructions in kernels.items():
        lines += [f"\t\tFunction : {mangled(kernel)}", '\t.headerflags\t@"EF_CUDA_SM80"']
        for index, instruction in enumerate(instructions):
            lines += [
                f"        /*{16 * index:04x}*/                   {instruction} ;        /* 0x00000a00ff017624 */",
                "                                                        /* 0x000fe400078e00ff */",
            ]
        lines.append("\t\t..........")
    return "\n".join(lines) + "\n"


class CheckMachineCode(unittest.TestCase):
    def check(self, sm_80=SOUND, sm_90a=SOUND_90A, sizes=None, program=PROGRAM, architectures="80,90a", memory=True):
        """Exit code and words of the check, over one object."""
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            code = {"sm_80": sm_80, "sm_90a": sm_90a}
            texts = [memory_text(name, kernels, sizes or {}) for name, kernels in code.items()]
            (here / "memory.txt").write_text("".join(texts) if memory else "", encoding="utf-8")
            (here / "code.txt").write_text(
                "".join(code_text(name, kernels) for name, kernels in code.items()), encoding="utf-8"
            )
            (here / "cuobjdump").write_text(program, encoding="utf-8")
            (here / "cuobjdump").chmod(0o755)
            return self.run_check(architectures, here / "cuobjdump")

    def run_check(self, architectures, cuobjdump):
        done = subprocess.run(
            [sys.executable, "-B", CHECK, "--architectures", architectures, "--cuobjdump", cuobjdump, "a.cu.o"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def assert_found(self, outcome, sentence, count=1):
        code, words = outcome
        self.assertEqual(code, 1, words)
        self.assertIn(sentence, words)
        self.assertEqual(len(words.splitlines()), count, words)

    def test_sound_code(self):
        self.assertEqual(self.check(), (0, "machine code: 1 objects are as they should be\n"))

    def test_stack_and_local_memory(self):
        name = mangled("gemv_kernel")
        found = self.check(sizes={("sm_90a", "gemv_kernel"): (48, 0)})
        self.assert_found(found, f"a.cu.o: sm_90a {name}: 48 bytes of stack memory")
        found = self.check(sizes={("sm_80", "gemv_kernel"): (0, 8)})
        self.assert_found(found, f"a.cu.o: sm_80 {name}: 8 bytes of local memory")

    def test_accesses_to_local_memory(self):
        found = self.check(sm_80={**SOUND, "top_p_kernel": ["STL.64 [R1], R2", "@P0 LDL R4, [R1+0x8]"]})
        self.assert_found(found, f"{mangled('top_p_kernel')}: accesses local memory (LDL, STL.64)")

    def test_attention_without_its_tensor_cores(self):
        found = self.check(sm_90a={**SOUND_90A, "prefill_kernel": SOUND["prefill_kernel"]})
        self.assert_found(found, "holds no warpgroup tensor core instruction (HGMMA)", count=2)
        self.assertIn("holds no load through a tensor map (UTMALDG)", found[1])
        for kernel in ("prefill_kernel", "decode_attention_kernel"):
            with self.subTest(kernel):
                without = [SOUND[kernel][0], "FFMA R4, R8, R2, R4", *SOUND[kernel][2:]]
                found = self.check(sm_80={**SOUND, kernel: without})
                self.assert_found(found, f"sm_80 {mangled(kernel)}: holds no tensor core instruction (HMMA)")

    def test_softmax_that_waits_for_products(self):
        waits_first = [*LOOP[:3], WAIT, *SOFTMAX]
        found = self.check(sm_90a={**SOUND_90A, "prefill_kernel": BEFORE_LOOP + waits_first + AFTER_LOOP})
        self.assert_found(found, f"sm_90a {mangled('prefill_kernel')}: waits for all products before the softmax")

    def test_narrow_accesses(self):
        for kernel in ("copy_kernel", "embedding_kernel", "rms_norm_kernel", "rope_kv_write_kernel", "silu_mul_kernel"):
            with self.subTest(kernel):
                found = self.check(sm_80={**SOUND, kernel: ["LDG.E.64 R4, [R2.64]", MOVES[1]]})
                self.assert_found(found, f"sm_80 {mangled(kernel)}: holds no 16-byte load (LDG)")
                found = self.check(sm_90a={**SOUND_90A, kernel: [MOVES[0], "STG.E.LTC128B [R6.64], R4"]})
                self.assert_found(found, f"sm_90a {mangled(kernel)}: holds no 16-byte store (STG)")
        narrow = ["LDGSTS.E.LTC128B [R5], [R2.64]", "HMMA.16816.F32 R4, R8, R2, R4"]
        for sound, name in ((SOUND, "sm_80"), (SOUND_90A, "sm_90a")):
            stores = [code.replace("STG.E.128", "STG.E") for code in sound["prefill_kernel"]]
            found = self.check(**{name: {**sound, "prefill_kernel": stores}})
            self.assert_found(found, f"{name} {mangled('prefill_kernel')}: holds no 16-byte store (STG)")
        found = self.check(sm_80={**SOUND, "decode_attention_kernel": narrow})
        self.assert_found(found, "holds no 16-byte asynchronous load to shared memory (LDGSTS)")

    def test_kernels_that_are_missing_or_unknown(self):
        without = {kernel: code for kernel, code in SOUND.items() if kernel != "argmax_kernel"}
        self.assert_found(self.check(sm_80=without), "sm_80: no object holds argmax_kernel")
        self.assert_found(self.check(sm_80={**SOUND, "sort_kernel": MOVES}), "no kernel that REQUIRED lists")
        self.assert_found(self.check(sm_90a={}), "sm_90a: no object holds", count=len(SOUND))

    def test_one_architecture_alone(self):
        self.assertEqual(self.check(sm_80={"prefill_kernel": SOUND["prefill_kernel"]}, architectures="90a")[0], 0)

    def test_output_that_is_not_understood(self):
        code, words = self.check(memory=False)
        self.assertEqual(code, 1)
        self.assertIn("resources or code are missing", words)

    def test_tools_that_are_missing_or_fail(self):
        code, words = self.check(program=WITHOUT_NVDISASM)
        self.assertEqual((code, words[:31]), (77, "skipped: nvdisasm is not instal"))
        found = self.check(program=WITHOUT_NVDISASM, sizes={("sm_80", "gemv_kernel"): (16, 0)})
        self.assert_found(found, "16 bytes of stack memory")
        self.assert_found(self.check(program=FAILING), "a.cu.o: cuobjdump: cuobjdump fatal   : Unknown kind of file")
        code, words = self.run_check("80", "/nowhere/cuobjdump")
        self.assertEqual(code, 77)
        self.assertTrue(words.startswith("skipped: cuobjdump is not installed"))


if __name__ == "__main__":
    unittest.main()
