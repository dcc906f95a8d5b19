#!/usr/bin/env python3
"""`inferometer run --vllm-args` from end to end: the same results as the keys that it stands for, and its notes.

usage: check_vllm_args.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
FEW = ("--quiet", "--set", "workload.requests=200")


def run(scenario, *arguments):
    """results.json of a scenario."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [PROGRAM, "run", ROOT / "scenarios" / scenario, *FEW, "--out", folder, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads((pathlib.Path(folder) / "results.json").read_text(encoding="utf-8"))


def sets(**keys):
    return [word for key, value in keys.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]


class VllmArgs(unittest.TestCase):
    def check_same(self, scenario, arguments, keys, notes):
        """The same results to the last digit, but for notes, of which each has one of `notes` in it."""
        by_command, by_keys = run(scenario, "--vllm-args", arguments), run(scenario, *sets(**keys))
        said = by_command.pop("notes")
        for note in by_keys.pop("notes"):
            said.remove(note)
        self.assertEqual(by_command, by_keys)
        self.assertEqual(len(said), len(notes), said)
        for note, part in zip(said, notes):
            self.assertIn(part, note)

    def test_one_replica(self):
        self.check_same(
            "quickstart.yaml",
            "CUDA_VISIBLE_DEVICES=0,1 vllm serve meta-llama/Meta-Llama-3-8B-Instruct \\\n  -tp 2 --max_num_seqs 64 \\\n"
            "  --max-num-batched-tokens 4K --gpu-memory-utilization=0.85 --no-enable-prefix-caching \\\n"
            "  --kv-cache-dtype fp8 --quantization fp8 --port 8000 --enable-lora",
            {
                "hardware__tensor_parallel": 2,
                "engine__max_num_seqs": 64,
                "engine__max_num_batched_tokens": 4096,
                "engine__gpu_memory_utilization": 0.85,
                "engine__enable_prefix_caching": "false",
                "engine__kv_cache_dtype": "fp8",
                "engine__quantization": "fp8",
            },
            ["CUDA_VISIBLE_DEVICES=0,1", "--enable-lora"],
        )

    def test_speculation(self):
        self.check_same(
            "speculative_decoding.yaml",
            """--speculative-config='{"method": "ngram", "num_speculative_tokens": 4}'""",
            {"engine__speculation__method": "ngram", "engine__speculation__num_speculative_tokens": 4},
            ["engine.speculation.acceptance"],
        )

    def test_set_goes_over_it(self):
        keys = sets(model="llama-3-8b", engine__max_num_seqs=8)
        over = run("quickstart.yaml", "--vllm-args", "serve m --max-num-seqs 4", *keys)
        self.assertEqual(over["metrics"], run("quickstart.yaml", *sets(engine__max_num_seqs=8))["metrics"])


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
