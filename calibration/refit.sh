#!/usr/bin/env bash
# Fits the shipped profiles, hardware/profiles/<gpu>/<library>.json, anew to the measurements in DATA:
#   calibration/refit.sh [DATA [PROGRAM [OUT]]]
# DATA: the folder that holds aiconfigurator/. The same measurements give the same bytes.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
data=${1:-$root/../shared/data}
program=${2:-$root/build/release/inferometer}
out=${3:-$root/hardware/profiles}

fit_date=2026-11-30
notice="measurements: ai-dynamo/aiconfigurator@095f58a5, Apache-2.0, (c) NVIDIA CORPORATION & AFFILIATES"

# fit GPU LIBRARY FOLDER [BORROW...]
fit() {
  local gpu=$1 library=$2 folder=$3
  shift 3
  mkdir -p "$out/$gpu"
  "$program" calibrate fit "$data/aiconfigurator/csv/$folder" --library "$library" \
    --borrow nccl:collective "$@" \
    --date "$fit_date" --notice "$notice" --out "$out/$gpu/$library.json" > /dev/null
  printf '%s: %d bytes\n' "$out/$gpu/$library.json" "$(stat -c %s "$out/$gpu/$library.json")"
}

# vLLM's tables of Hopper have no latent attention, those of A100 have whole layers launched one by one.
mla=(--borrow tensorrt-llm:mla_prefill --borrow tensorrt-llm:mla_decode)

fit a100-80gb-sxm vllm a100_sxm "${mla[@]}"
fit h100-sxm vllm h100_sxm "${mla[@]}"
fit h200-sxm vllm h200_sxm "${mla[@]}"
fit a100-80gb-sxm tensorrt-llm a100_sxm
fit h100-sxm tensorrt-llm h100_sxm
fit h200-sxm tensorrt-llm h200_sxm
