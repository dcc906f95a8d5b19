#!/usr/bin/env python3
"""`inferometer calibrate compare` from end to end: sides of every kind, the table, its JSON, and refusals.

usage: check_calibrate_compare.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""

A100 = "NVIDIA A100-SXM4-80GB"
H100 = "NVIDIA H100 80GB HBM3"
GEMM = "# framework=VLLM;version=0.24.0;device={};op_name=gemm\ngemm_dtype,m,n,k,latency\n"
# Twice and three times as long, of a call each; a call that only one has.
SLOW = GEMM.format(A100) + "bfloat16,16,4096,4096,0.04\nbfloat16,32,4096,4096,0.06\nbfloat16,64,4096,4096,0.06\n"
FAST = GEMM.format(H100) + "bfloat16,16,4096,4096,0.02\nbfloat16,32,4096,4096,0.02\nfp8,32,4096,4096,0.02\n"
SHIPPED = (
    "a100-80gb-sxm/tensorrt-llm, a100-80gb-sxm/vllm, h100-sxm/tensorrt-llm, h100-sxm/vllm, "
    "h200-sxm/tensorrt-llm and h200-sxm/vllm"
)


class Compare(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")

    def compare(self, *arguments):
        return subprocess.run(
            [PROGRAM, "calibrate", "compare", *arguments],
            cwd=self.path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def table(self, *arguments):
        """The rows of the JSON, by family, format and region, and the text that is printed."""
        done = self.compare(*arguments, "--json", "table.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        whole = json.loads((self.path / "table.json").read_text(encoding="utf-8"))
        return {(row["family"], row["dtype"], row["region"]): row for row in whole["rows"]}, done.stdout

    def refusal(self, *arguments):
        done = self.compare(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def test_two_tables(self):
        self.write("slow/gemm.csv", SLOW)
        self.write("slow/README.md", "what this is\n")
        self.write("fast.csv", FAST)
        rows, text = self.table("slow", "fast.csv")
        row = rows["gemm", "bf16", "all"]
        self.assertEqual(row["n"], 2)
        self.assertAlmostEqual(row["ratio_median"], (1 / 2 + 1 / 3) / 2)
        self.assertEqual(row["farthest"]["call"], "gemm bf16 m=32 n=4096 k=4096")
        self.assertAlmostEqual(row["farthest"]["b_seconds"], 2e-5)
        self.assertTrue(
            text.startswith(
                "A: slow, vllm 0.24.0 measured on a100-80gb-sxm\nB: fast.csv, vllm 0.24.0 measured on h100-sxm\n"
            ),
            text,
        )
        self.assertIn("note: gemm bf16: 1 of 3 calls not measured by B\n", text)
        self.assertIn("note: gemm fp8: only B has it\n", text)

    def test_each_side_against_itself_is_one(self):
        for side in ("h100-sxm/vllm", "a100-80gb-sxm/tensorrt-llm"):
            rows, _ = self.table(side, side)
            self.assertGreater(len(rows), 10)
            for key, row in rows.items():
                self.assertEqual((row["ratio_p10"], row["ratio_median"], row["ratio_p90"]), (1, 1, 1), key)

    def test_swapped_sides_are_the_inverse(self):
        forth, _ = self.table("h100-sxm/vllm", "h200-sxm/vllm")
        back, _ = self.table("h200-sxm/vllm", "h100-sxm/vllm")
        self.assertEqual(list(forth), list(back))
        for key, row in forth.items():
            ratio = row["farthest"]["b_seconds"] / row["farthest"]["a_seconds"]
            other = back[key]["farthest"]["b_seconds"] / back[key]["farthest"]["a_seconds"]
            self.assertAlmostEqual(ratio * other, 1, 9, key)
            self.assertEqual(row["n"], back[key]["n"])

    def test_the_newer_gpu_reads_faster(self):
        # The H200 is an H100 with 4.8 instead of 3.35 TB/s: products of few rows gain, those of many do not.
        rows, _ = self.table("h100-sxm/vllm", "h200-sxm/vllm")
        few, many = rows["gemm", "bf16", "m to 64"], rows["gemm", "bf16", "m above 512"]
        self.assertLess(few["ratio_median"], 0.9)
        self.assertEqual(few["rate_unit"], "GB/s")
        self.assertGreater(many["ratio_median"], 0.95)
        self.assertEqual(many["rate_unit"], "TFLOP/s")

    def test_a_profile_and_measurements(self):
        self.write("fast.csv", FAST)
        rows, text = self.table("h100-sxm/vllm", "fast.csv")
        self.assertEqual(rows["gemm", "bf16", "all"]["n"], 2)
        self.assertIn("note: moe bf16: only A has it\n", text)

    def test_a_folder_goes_before_a_shipped_name(self):
        self.write("h100-sxm/vllm/gemm.csv", FAST)
        _, text = self.table("h100-sxm/vllm", "h100-sxm/tensorrt-llm")
        self.assertTrue(text.startswith("A: h100-sxm/vllm, vllm 0.24.0 measured on h100-sxm\n"), text)

    def test_the_same_bytes_every_time(self):
        self.assertEqual(
            self.compare("h100-sxm/vllm", "h200-sxm/vllm").stdout, self.compare("h100-sxm/vllm", "h200-sxm/vllm").stdout
        )

    def test_what_is_no_side(self):
        self.assertEqual(
            self.refusal("h100-sxm/vlm", "h200-sxm/vllm"),
            'error: "h100-sxm/vlm" is no file, no folder and no shipped profile; those are '
            f'{SHIPPED}; did you mean "h100-sxm/vllm"?\n',
        )
        self.assertEqual(
            self.refusal("h100-sxm/vllm", "none"),
            f'error: "none" is no file, no folder and no shipped profile; those are {SHIPPED}\n',
        )
        self.assertEqual(
            self.refusal("h100-sxm/vllm"), 'error: B is required; see "inferometer calibrate compare --help"\n'
        )

    def test_sides_that_mix_what_does_not_go_together(self):
        self.write("both/slow.csv", SLOW)
        self.write("both/fast.csv", FAST)
        self.assertEqual(
            self.refusal("both", "h100-sxm/vllm"),
            "error: both: holds measurements of several GPUs, a100-80gb-sxm and h100-sxm; name files of one\n",
        )
        self.write("versions/old.csv", FAST)
        self.write("versions/new.csv", FAST.replace("0.24.0", "0.25.0"))
        self.assertEqual(
            self.refusal("h100-sxm/vllm", "versions"),
            "error: versions: holds gemm bf16 of several libraries, vllm 0.24.0 and vllm 0.25.0; name files of one\n",
        )

    def test_nothing_in_common(self):
        self.write("slow.csv", SLOW)
        self.write("other.csv", GEMM.format(H100) + "fp8,16,4096,4096,0.02\n")
        self.assertEqual(
            self.refusal("slow.csv", "other.csv", "--json", "table.json"),
            "error: nothing to compare: no call is known to both slow.csv and other.csv; gemm bf16: only A has it; "
            "gemm fp8: only B has it\n",
        )
        self.assertFalse((self.path / "table.json").exists())

    def test_a_damaged_profile(self):
        self.write("p.json", '{"schema": "inferometer-profile/1", "gpu": 3}\n')
        self.assertIn("error: p.json", self.refusal("p.json", "h100-sxm/vllm"))


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
