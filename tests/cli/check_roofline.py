#!/usr/bin/env python3
"""Runs `inferometer roofline` and `inferometer memory` with number formats and measured kernels.

usage: check_roofline.py PROGRAM
"""

import csv
import io
import json
import pathlib
import subprocess
import sys
import unittest

PROGRAM = ""


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False)


def roofline(*arguments, gpu="h100-sxm"):
    return run("roofline", "--model", "llama-3-8b", "--gpu", gpu, "--decode", "64@1024", *arguments)


def rows(*arguments, gpu="h100-sxm"):
    done = roofline(*arguments, "--csv", gpu=gpu)
    return {row["operator"]: row for row in csv.DictReader(io.StringIO(done.stdout))}


class Roofline(unittest.TestCase):
    def complains(self, done, message):
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"error: {message}\n"))

    def test_the_level_is_calibrated_where_kernels_were_measured(self):
        self.assertIn("those of level calibrated (vllm kernels, fitted ", roofline().stdout)
        self.assertIn("(tensorrt-llm kernels, fitted ", roofline("--kernels", "tensorrt-llm").stdout)
        for level in ((), ("--level", "calibrated")):
            text = roofline(*level, gpu="a10g").stdout
            self.assertIn("those of level roofline (no vllm kernels were measured on this GPU)", text)
            self.assertNotIn("calibrated", text)
        self.assertIn("those of level datasheet\n", roofline("--level", "datasheet").stdout)

    def test_the_column_is_empty_without_measured_kernels(self):
        self.assertEqual({row["calibrated_us"] for row in rows(gpu="a10g").values()}, {""})
        measured = rows()
        total = sum(float(row["calibrated_us"]) for name, row in measured.items() if name != "step")
        self.assertAlmostEqual(total, float(measured["step"]["calibrated_us"]), places=3)

    def test_number_formats(self):
        plain, fp8 = rows(), rows("--quantization", "fp8", "--kv-cache-dtype", "fp8")
        # Weights 4096 x 4096 a layer at one byte less, 64 inputs too.
        saved = int(plain["o projection"]["hbm_bytes"]) - int(fp8["o projection"]["hbm_bytes"])
        self.assertEqual(saved, 32 * (4096 * 4096 + 64 * 4096))
        self.assertEqual(plain["lm_head"], fp8["lm_head"])
        saved = int(plain["decode attention"]["hbm_bytes"]) - int(fp8["decode attention"]["hbm_bytes"])
        self.assertEqual(saved, 32 * 2 * 64 * 1024 * 8 * 128)
        self.assertIn("llama-3-8b, weights fp8, KV cache fp8 on", roofline("--quantization=fp8", "--kv-cache-dtype=fp8").stdout)

    def drafting(self, *arguments):
        done = roofline("--speculate", "4", *arguments, "--csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {int(row["batch"]): row for row in csv.DictReader(io.StringIO(done.stdout))}

    def test_speculation_by_batch(self):
        for more in ((), ("--method", "eagle"), ("--method", "mtp"), ("--draft", "llama-3.2-1b")):
            table = self.drafting("--acceptance", "0.7", *more)
            self.assertEqual(sorted(table), [2**n for n in range(10)])
            for batch, row in table.items():
                self.assertEqual(int(row["positions"]), 5 * batch)
                self.assertAlmostEqual(float(row["expected_tokens"]), (1 - 0.7**5) / 0.3, places=4)
                pays = float(row["plain_us"]) / (float(row["verify_us"]) + float(row["draft_us"]))
                self.assertAlmostEqual(float(row["speed_up"]) / pays, (1 - 0.7**5) / 0.3, places=4)
                self.assertEqual(float(row["draft_us"]) == 0, more == ())
        # A draft model costs more than one layer.
        eagle = self.drafting("--acceptance", "0.7", "--method", "eagle")
        self.assertGreater(float(table[8]["draft_us"]), float(eagle[8]["draft_us"]))

    def test_break_even_acceptance_wins_and_loses_nothing(self):
        even = self.drafting("--acceptance", "0.7", "--method", "eagle")[64]["break_even_acceptance"]
        self.assertAlmostEqual(
            float(self.drafting("--acceptance", even, "--method", "eagle")[64]["speed_up"]), 1, places=4
        )

    def test_the_batch_from_which_drafting_loses(self):
        text = roofline("--speculate", "4", "--acceptance", "0.5", "--method", "eagle").stdout
        losing = int(text.rpartition("loses from a batch of ")[2].split()[0])
        sweep = self.drafting("--acceptance", "0.5", "--method", "eagle", "--sweep", f"batch={losing - 1}:{losing}:+1")
        self.assertGreaterEqual(float(sweep[losing - 1]["speed_up"]), 1)
        self.assertLess(float(sweep[losing]["speed_up"]), 1)

    def test_words_that_are_not_known(self):
        self.complains(
            roofline("--level", "calibratd"),
            '--level "calibratd" is not known; allowed: datasheet, roofline or calibrated; '
            'did you mean "calibrated"?',
        )
        self.complains(
            roofline("--kernels", "vlm"), '--kernels "vlm" is not known; allowed: vllm or tensorrt-llm; did you mean "vllm"?'
        )
        for command in (roofline, lambda *more: run("memory", "--model", "llama-3-8b", "--gpu", "l4", *more)):
            self.complains(
                command("--quantization", "int5"),
                '--quantization "int5" is not known; allowed: none, fp8, fp8_block, int4, mxfp4 or nvfp4; did you mean "int4"?',
            )
            self.complains(
                command("--kv-cache-dtype", "fp16"),
                '--kv-cache-dtype "fp16" is not known; allowed: auto or fp8',
            )

        self.complains(
            run("memory", "--model", "llama-3-8b", "--gpu", "l4", "--kv-memory", "vlm"),
            '--kv-memory "vlm" is not known; allowed: vllm, sglang or trtllm; did you mean "vllm"?',
        )

    def test_a_profile_that_would_not_be_used(self):
        done = roofline("--kernel-profile", "")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn('--kernel-profile: expected a file, found ""', done.stderr)
        shipped = pathlib.Path(__file__).parents[2] / "hardware/profiles/h100-sxm/vllm.json"
        self.complains(
            roofline("--kernel-profile", shipped, "--level", "roofline"),
            "--kernel-profile has no meaning at level roofline; measured kernels belong to level calibrated",
        )

    def test_stages_of_a_pipeline(self):
        done = roofline("--pipeline-parallel", "3", "--tensor-parallel", "2", "--csv")
        stages = {}
        for row in csv.DictReader(io.StringIO(done.stdout)):
            stages.setdefault(row["stage"], {})[row["operator"]] = row
        self.assertEqual(list(stages), ["1", "2", "3"])
        # 32 layers: 11, 11 and 10; two norms each, and one before lm_head.
        runs = [(stage["o projection"]["runs"], stage["norm + residual"]["runs"]) for stage in stages.values()]
        self.assertEqual(runs, [("11", "22"), ("11", "22"), ("10", "21")])
        self.assertEqual(["embedding" in stage for stage in stages.values()], [True, False, False])
        self.assertEqual(["lm_head" in stage for stage in stages.values()], [False, False, True])
        # Hidden states and residual of 64 tokens: each GPU sends its half.
        self.assertEqual(stages["2"]["send to next stage"]["link_bytes"], str(2 * 64 * 4096 * 2 // 2))
        # Everything else is done once, whatever the stage.
        whole = rows("--tensor-parallel", "2")
        for operator in ("qkv projection", "decode attention", "all-reduce", "lm_head", "sampling", "embedding"):
            flops = sum(int(stage[operator]["flops"]) for stage in stages.values() if operator in stage)
            self.assertEqual(flops, int(whole[operator]["flops"]), operator)
        text = roofline("--pipeline-parallel", "3").stdout
        self.assertIn("Stage 1 of 3, 11 layers\n", text)
        self.assertIn("\n\nStage 3 of 3, 10 layers\n", text)
        self.assertIn("* not measured but priced by latency and bandwidth of the links: send to next stage", text)
        self.assertEqual(roofline("--pipeline-parallel", "1").stdout, roofline().stdout)
        for stages in ("0", "33"):
            self.complains(
                roofline("--pipeline-parallel", stages),
                f"pipeline_parallel {stages} cannot spread llama-3-8b (32 layers)",
            )

    def test_memory(self):
        def memory(*arguments):
            done = run("memory", "--model", "llama-3-8b", "--gpu", "h100-sxm", "--json", *arguments)
            return json.loads(done.stdout)[0]

        plain, small = memory(), memory("--quantization", "int4", "--kv-cache-dtype", "fp8")
        self.assertEqual((plain["quantization"], plain["kv_cache_dtype"]), ("none", "auto"))
        self.assertEqual((small["quantization"], small["kv_cache_dtype"]), ("int4", "fp8"))
        matrices = 32 * 4096 * (6144 + 4096 + 3 * 14336)
        self.assertEqual(plain["weights_bytes"] - small["weights_bytes"], 2 * matrices - matrices // 2 - matrices // 64)
        self.assertEqual(plain["kv_bytes_per_token"], 2 * small["kv_bytes_per_token"])

        # Activations are within vLLM's 0.9 of the GPU, outside SGLang's; TensorRT-LLM's is of what is left for KV.
        sglang, trtllm = memory("--kv-memory", "sglang"), memory("--kv-memory", "trtllm")
        self.assertEqual([row["kv_memory"] for row in (plain, sglang, trtllm)], ["vllm", "sglang", "trtllm"])
        self.assertEqual(sglang["kv_cache_bytes"], plain["kv_cache_bytes"] + plain["activations_bytes"])
        left = trtllm["usable_bytes"] - trtllm["weights_bytes"] - trtllm["activations_bytes"] - trtllm["other_bytes"]
        self.assertAlmostEqual(trtllm["kv_cache_bytes"], 0.9 * left, delta=1)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
