#!/usr/bin/env python3
"""How well the split of eight H200 between prefill and decode is foreseen: 1:3 against 3:1 workers of two GPUs each.

usage: test_disaggregation_runs.py PROGRAM [--data FOLDER]

Replays the runs in measured/sglang_disaggregation_h200 of FOLDER (default ../shared/data), prints a table in Markdown and
fails when the model does not say which split is better, or says so by a factor that is too far from the measured one.
Exits with 77, for "skipped", where the runs are absent.

The model that was measured, gpt-oss-120b, is a mixture of experts in MXFP4 with a window of 128 tokens in every other
layer, none of which the cost model knows. STAND_IN is dense, so only ratios between the splits are judged, and nothing
is fitted. What that leaves out:
* Each step reads the experts that some token of it goes through, 38 of 128 for 11 tokens and 126 for 128 of them; the
  stand-in always reads as much. Its time per token is 0.3 to 0.45 of the measured one and rises less with the batch.
* What servers, router and handshakes add to the TTFT: with prompts of 128 tokens, nine tenths of it.
* Warm-up. The runs with 128 clients are the first of their series, and their TTFT has connections and kernels in it that
  the later runs find there: with prompts of 128 tokens on 3p1d the median falls from 696 to 99 ms between 128 and 64
  clients. Only where prompts queue for seconds does that matter little.
* Prompts seen before. All runs of a series most likely send the same 500 prompts: with input 2048 and output 128 the one
  prefill worker takes 45,000 tokens a second in the first run and 111,000 in the second, with half the clients.
* The router, the transfer engine and the distribution of output lengths, which are not published with the runs.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
SEEDS = (1, 2, 3)

# Attention, layers and vocabulary as published with openai/gpt-oss-120b (config.json). The FFN is the four experts of
# 2880 that a token goes through, side by side: the FLOPs of prompts are the model's. In bf16 it reads as many bytes as 15
# experts in MXFP4 (0.53 bytes a weight).
ACTIVE_EXPERTS, EXPERT_SIZE = 4, 2880
STAND_IN = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 2880,
    "intermediate_size": ACTIVE_EXPERTS * EXPERT_SIZE,
    "num_hidden_layers": 36,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "vocab_size": 201088,
    "max_position_embeddings": 131072,
    "hidden_act": "silu",
    "attention_bias": True,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}

# SGLang: the decode worker takes slots before the prefill begins, chunks of 8192 tokens go over as they are computed, the
# first token comes to the client from the decode worker, which the model gives one step for it; pages of one token; the
# host prepares the next step meanwhile.
SCENARIO = """
model: model/config.json
hardware: {{gpu: h200-sxm, tensor_parallel: 2}}
engine:
  policy: disaggregated
  kv_transfer: push
  decode_first: true
  first_token_from: decode
  batch_policy: chunked_prefill
  max_num_batched_tokens: 8192
  max_num_seqs: 256
  max_model_len: 8192
  block_size: 1
cost_model: {{host_overlap: true}}
cluster:
  hardware: dgx-h200
  pools: {{prefill: {{replicas: {prefill}}}, decode: {{replicas: {decode}}}}}
workload:
  generator: closed_loop
  clients: {clients}
  requests: {requests}
  prompt: {{distribution: fixed, tokens: {prompt}}}
  output: {{distribution: uniform, min: {shortest}, max: {longest}}}
"""

METRICS = {"tpot": "mean_tpot_ms", "ttft": "median_ttft_ms", "throughput": "request_throughput"}
# The ratio 3p1d / 1p3d is judged to be as measured within these factors.
WITHIN = {"tpot": 1.6, "ttft": 1.4, "throughput": 1.4}

OVERHEAD = "a tenth of it is GPU time"
WARM_UP = "first run of its series"
SEEN_BEFORE = "prompts were computed in the run before"
NOT_MODELLED = {
    # (prompt, output, clients, metric): why
    (128, 2048, 32, "ttft"): OVERHEAD,
    (128, 2048, 64, "ttft"): OVERHEAD,
    (128, 2048, 128, "ttft"): WARM_UP,
    (2048, 2048, 128, "ttft"): WARM_UP,
    (2048, 128, 64, "ttft"): SEEN_BEFORE,
    (2048, 128, 32, "ttft"): SEEN_BEFORE,
    (2048, 128, 64, "throughput"): SEEN_BEFORE,
    (2048, 128, 32, "throughput"): SEEN_BEFORE,
}


def measured_runs(folder):
    """{(prompt, output, clients): {prefill workers: run}}; lengths are those asked for."""
    runs = {}
    for path in sorted(folder.glob("*.json")):
        workers, _, clients, prompt, output = map(
            int, re.match(r"(\d)p(\d)d_conc(\d+)_in(\d+)_out(\d+)_", path.name).groups()
        )
        runs.setdefault((prompt, output, clients), {})[workers] = json.loads(path.read_text(encoding="utf-8"))
    return runs


def output_range(mean, most):
    """Lengths uniform about the measured mean, none longer than was asked for."""
    reach = min(mean - 1, most - mean)
    return round(mean - reach), round(mean + reach)


def simulated_run(program, folder, key, prefill, run):
    """Metrics of one measured run as simulated, each the mean over the seeds."""
    _, most, clients = key
    requests = run["num_prompts"]
    shortest, longest = output_range(run["total_output_tokens"] / requests, most)
    text = SCENARIO.format(
        prefill=prefill,
        decode=4 - prefill,
        clients=clients,
        requests=requests,
        prompt=round(run["total_input_tokens"] / requests),
        shortest=shortest,
        longest=longest,
    )
    scenario = folder / "scenario.yaml"
    scenario.write_text(text, encoding="utf-8")
    found = []
    for seed in SEEDS:
        command = [program, "run", str(scenario), "--quiet", "--seed", str(seed), "--out", str(folder)]
        subprocess.run(command, check=True)
        found.append(json.loads((folder / "results.json").read_text(encoding="utf-8"))["metrics"])
    return {name: statistics.mean(one[name] for one in found) for name in METRICS.values()}


def fault_of(metric, measured, simulated):
    """What is wrong with a simulated ratio; nothing when it is near enough."""
    if (measured > 1) != (simulated > 1):
        return "the other split is better"
    far = max(measured / simulated, simulated / measured)
    return f"off by a factor of {far:.2f}" if far > WITHIN[metric] else ""


def rows_of(program, runs):
    """(key, metric, measured of 1p3d and 3p1d, simulated of both, verdict, whether it is a fault)."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model").mkdir()
        (folder / "model" / "config.json").write_text(json.dumps(STAND_IN), encoding="utf-8")
        for key, both in sorted(runs.items()):
            simulated = {workers: simulated_run(program, folder, key, workers, run) for workers, run in both.items()}
            for metric, field in METRICS.items():
                real = both[1][field], both[3][field]
                model = simulated[1][field], simulated[3][field]
                reason = NOT_MODELLED.get((*key, metric), "")
                fault = "" if reason else fault_of(metric, real[1] / real[0], model[1] / model[0])
                verdict = f"not judged: {reason}" if reason else fault or "as measured"
                rows.append((key, metric, real, model, verdict, bool(fault)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    arguments = parser.parse_args()
    runs = measured_runs(arguments.data / "measured" / "sglang_disaggregation_h200")
    if not runs:
        print(f"skipped: no measured/sglang_disaggregation_h200 in {arguments.data}")
        return SKIPPED
    rows = rows_of(arguments.program, runs)
    print("| prompt | output | clients | metric | 1p3d | 3p1d | ratio | model: 1p3d | 3p1d | ratio | |")
    print("|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|---|")
    for key, metric, real, model, verdict, _ in rows:
        figures = " | ".join(f"{a:.1f} | {b:.1f} | {b / a:.2f}" for a, b in (real, model))
        print(f"| {key[0]} | {key[1]} | {key[2]} | {METRICS[metric]} | {figures} | {verdict} |")
    judged = [row for row in rows if not row[4].startswith("not judged")]
    faults = [row for row in rows if row[5]]
    print(f"{len(judged) - len(faults)} of {len(judged)} ratios as measured, {len(rows) - len(judged)} not judged")
    return 1 if faults or not judged else 0


if __name__ == "__main__":
    sys.exit(main())
