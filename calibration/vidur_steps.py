#!/usr/bin/env python3
"""Compares whole steps of Llama-2 with Vidur's model-shaped profiles: the sum over the matrix products and elementwise
operators of all layers, for decode batches and prompt chunks of so many tokens, as `inferometer roofline` prices them.

usage: vidur_steps.py PROGRAM DATA      DATA is the folder `profiling/compute` of microsoft/vidur

Attention, lm_head and all-reduce are not in those profiles. They were made with the software of 2024; the comparison
shows how far kernels have moved since, too.
"""

import csv
import statistics
import subprocess
import sys
from pathlib import Path

GPUS = {"a100": "a100-80gb-sxm", "h100": "h100-sxm"}
MODELS = {"Llama-2-7b-hf": "llama-2-7b", "Llama-2-70b-hf": "llama-2-70b"}
LAYERS = {"llama-2-7b": 32, "llama-2-70b": 80}
TENSOR_PARALLEL = [1, 2, 4, 8]
TOKENS = [1, 8, 64, 128, 256, 512, 1024, 2048, 4096]

GEMMS = {"qkv projection": "attn_pre_proj", "o projection": "attn_post_proj", "gate + up projection": "mlp_up_proj",
         "down projection": "mlp_down_proj"}
# Vidur adds the residual stream in kernels of their own, twice a layer; we fuse it into the norms.
ELEMENTWISE = {"norm + residual": ["input_layernorm", "post_attention_layernorm", "add", "add"],
               "rope + kv write": ["attn_rope"], "silu x up": ["mlp_act"]}


def measured(path):
    """{(tensor parallel, tokens): row}"""
    with open(path) as file:
        return {(int(row["num_tensor_parallel_workers"]), int(row["num_tokens"])): row for row in csv.DictReader(file)}


def milliseconds(row, operator):
    return float(row[f"time_stats.{operator}.median"] or 0)


def predicted(program, model, gpu, degree, tokens):
    """{operator: ms of all layers}"""
    command = [program, "roofline", "--model", model, "--gpu", gpu, "--tensor-parallel", str(degree), "--chunk",
               str(tokens), "--level", "calibrated", "--csv"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {row["operator"]: float(row["calibrated_us"]) / 1e3 for row in csv.DictReader(out.splitlines())}


def main(program, data):
    print(f"{'':30} {'matrix products':>24} {'with elementwise':>24}")
    print(f"{'':30} {'bias %':>11} {'mean |e| %':>12} {'bias %':>11} {'mean |e| %':>12}")
    for folder, gpu in GPUS.items():
        for file, model in MODELS.items():
            rows = measured(Path(data) / folder / "meta-llama" / file / "mlp.csv")
            for degree in TENSOR_PARALLEL:
                gemm_errors, step_errors = [], []
                for tokens in TOKENS:
                    row = rows.get((degree, tokens))
                    if row is None:
                        continue
                    ours = predicted(program, model, gpu, degree, tokens)
                    gemms = LAYERS[model] * sum(milliseconds(row, name) for name in GEMMS.values())
                    rest = LAYERS[model] * sum(milliseconds(row, name) for names in ELEMENTWISE.values() for name in names)
                    our_gemms = sum(ours[name] for name in GEMMS)
                    our_rest = sum(ours[name] for name in ELEMENTWISE)
                    gemm_errors.append(our_gemms / gemms - 1)
                    step_errors.append((our_gemms + our_rest) / (gemms + rest) - 1)
                print(f"{model + ' on ' + str(degree) + ' x ' + gpu:30} "
                      f"{100 * statistics.mean(gemm_errors):11.1f} "
                      f"{100 * statistics.mean(map(abs, gemm_errors)):12.1f} "
                      f"{100 * statistics.mean(step_errors):11.1f} "
                      f"{100 * statistics.mean(map(abs, step_errors)):12.1f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
