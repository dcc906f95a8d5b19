#!/usr/bin/env python3
"""`calibrate import` and `calibrate show` on tables written by hand: which files are written with what in them, and
that nothing is written when something is wrong.

usage: check_calibrate.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""

H100 = "# framework=VLLM;version=0.24.0;device=NVIDIA H100 80GB HBM3;"
GEMM = H100 + "op_name=gemm\ngemm_dtype,m,n,k,latency\nbfloat16,16,4096,4096,0.0125\nfp8,32,4096,8192,0.02\n"
NEWER_GEMM = GEMM.replace("0.24.0", "0.25.0")
ALL_REDUCE = (
    H100 + "op_name=all_reduce;allreduce_dtype=bfloat16\n"
    "kernel_source,num_gpus,message_size,latency,backend\nvLLM_custom_graph,2,128,0.0043,vllm_graph\n"
)
HOST = (
    ",schedule_median,model_execution_e2e_median,model_name,batch_size,tensor_parallel_degree\n"
    "0,0.04,29.4,llama,8,2\n"
)


class Calibrate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")

    def calibrate(self, *arguments):
        return subprocess.run(
            [PROGRAM, "calibrate", *arguments], cwd=self.path, capture_output=True, text=True, timeout=60, check=False
        )

    def answer(self, *arguments):
        done = self.calibrate(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refusal(self, *arguments):
        done = self.calibrate(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def records(self, folder="out"):
        return {
            path.name: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            for path in sorted((self.path / folder).iterdir())
        }

    def test_one_file_a_gpu_library_and_family(self):
        self.write("data/gemm.csv", GEMM)
        self.write("data/all_reduce.csv", ALL_REDUCE)
        self.write("data/a100/cpu_overheads.csv", HOST)
        self.write("data/README.md", "what this is\n")
        text = self.answer("import", "data", "--out", "out")
        records = self.records()
        self.assertEqual(
            list(records),
            ["a100-80gb-sxm.vidur.host.jsonl", "h100-sxm.vllm.collective.jsonl", "h100-sxm.vllm.gemm.jsonl"],
        )
        header, first, second = records["h100-sxm.vllm.gemm.jsonl"]
        self.assertEqual(header["schema"], "inferometer-measurements/1")
        self.assertEqual((header["library"], header["library_version"]), ("vllm", "0.24.0"))
        self.assertEqual([name.split(" ")[0] for name in header["inputs"]], ["gemm.csv"])
        self.assertEqual(
            first, {"family": "gemm", "variant": "bf16", "m": 16, "n": 4096, "k": 4096, "time_ns_median": 12500}
        )
        self.assertEqual(second["time_ns_median"], 20000)
        rows = [line.split() for line in text.splitlines()]
        self.assertIn("h100-sxm vllm 0.24.0 gemm bf16 1 m 16, n 4096, k 4096".split(), rows)
        self.assertIn("a100-80gb-sxm vidur host schedule 1 sequences 8, gpus 2".split(), rows)
        self.assertIn("  data/README.md: passed over, no measurements of a form we know\n", text)
        self.assertIn("  out/h100-sxm.vllm.gemm.jsonl: 2 points\n", text)

    def test_show_says_what_import_said(self):
        self.write("gemm.csv", GEMM + "fp8,64,4096,16384,0.03\n")
        text = self.answer("import", "gemm.csv", "--out", "out")
        shown = self.answer("show", "out/h100-sxm.vllm.gemm.jsonl")
        self.assertTrue(text.startswith(shown))
        rows = [line.split() for line in shown.splitlines()]
        self.assertIn("h100-sxm vllm 0.24.0 gemm fp8 2 m 32..64, n 4096, k 8192..16384".split(), rows)

    def test_records_are_imported_as_they_are(self):
        self.write("gemm.csv", GEMM)
        self.write("all_reduce.csv", ALL_REDUCE)
        self.answer("import", "gemm.csv", "all_reduce.csv", "--out", "out")
        self.answer("import", "out", "--out", "again")
        self.assertEqual(self.records("again"), self.records("out"))

    def test_a_file_that_is_there_is_not_replaced(self):
        self.write("gemm.csv", GEMM)
        self.write("all_reduce.csv", ALL_REDUCE)
        self.answer("import", "gemm.csv", "--out", "out")
        before = self.records()
        self.assertEqual(
            self.refusal("import", "gemm.csv", "all_reduce.csv", "--out", "out"),
            "error: out/h100-sxm.vllm.gemm.jsonl: the file is there already; --append adds to it\n",
        )
        self.assertEqual(self.records(), before)

    def test_append_adds_to_the_same_set_only(self):
        self.write("gemm.csv", GEMM)
        self.answer("import", "gemm.csv", "--out", "out")
        self.write("more.csv", GEMM.replace(",16,", ",17,"))
        self.answer("import", "more.csv", "--append", "--out", "out")
        points = self.records()["h100-sxm.vllm.gemm.jsonl"]
        self.assertEqual([name.split(" ")[0] for name in points[0]["inputs"]], ["gemm.csv", "more.csv"])
        self.assertEqual([point["m"] for point in points[1:]], [16, 32, 17, 32])

        before = self.records()
        self.write("newer.csv", NEWER_GEMM)
        self.assertEqual(
            self.refusal("import", "newer.csv", "--append", "--out", "out"),
            "error: out/h100-sxm.vllm.gemm.jsonl:1: the file and what is added describe two sets: "
            'library_version "0.24.0" and "0.25.0"\n',
        )
        self.assertRegex(
            self.refusal("import", "gemm.csv", "--append", "--out", "out"),
            r"^error: out/h100-sxm\.vllm\.gemm\.jsonl:1: imported into this file before: gemm\.csv sha256:[0-9a-f]{64}\n$",
        )
        self.assertEqual(self.records(), before)

    def test_two_versions_do_not_share_a_file(self):
        self.write("gemm.csv", GEMM)
        self.write("newer.csv", NEWER_GEMM)
        self.assertEqual(
            self.refusal("import", "gemm.csv", "newer.csv", "--out", "out"),
            'error: out/h100-sxm.vllm.gemm.jsonl: two sets would go into one file: library_version "0.24.0" and '
            '"0.25.0"; import them apart\n',
        )
        self.assertEqual(list((self.path / "out").glob("*")), [])

    def test_suspects_are_shown_and_not_written(self):
        # Five GEMMs of 139 us by the datasheet in 200 us, and one in 100 us.
        rows = "bfloat16,4096,4096,4096,0.2\n" * 5 + "bfloat16,4096,4096,4096,0.1\n"
        self.write("gemm.csv", H100 + "op_name=gemm\ngemm_dtype,m,n,k,latency\n" + rows)
        text = self.answer("import", "gemm.csv", "--out", "out")
        self.assertIn(
            "\n1 suspect row of h100-sxm vllm 0.24.0 left out:\n"
            "  gemm.csv:8: gemm bf16 m=4096 n=4096 k=4096 in 100 us; the datasheet allows no less than 138.968 us\n",
            text,
        )
        self.assertEqual(len(self.records()["h100-sxm.vllm.gemm.jsonl"]), 6)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
