#!/usr/bin/env bash
# Fits the shipped profiles, hardware/profiles/<gpu>/<library>.json, anew to the measurements in DATA:
#   calibration/refit.sh [DATA [PROGRAM [OUT]]]
# DATA: the folder that holds aiconfigurator/ and vidur/. The same measurements give the same bytes.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
data=${1:-$root/../shared/data}
program=${2:-$root/build/release/inferometer}
out=${3:-$root/hardware/profiles}

fit_date=2026-11-30
tables_notice="measurements: ai-dynamo/aiconfigurator@095f58a5, Apache-2.0, (c) NVIDIA CORPORATION & AFFILIATES"
vidur_notice="of vidur: microsoft/vidur@7d475133, MIT"

# fit GPU LIBRARY FOLDER [VIDUR_FILE...]: Vidur lends what the tables lack, norms and the like and host work.
fit() {
  local gpu=$1 library=$2 folder=$3 notice=$tables_notice
  shift 3
  local -a lent=(--borrow nccl:collective)
  if (($# > 0)); then
    lent+=(--borrow vidur:elementwise --borrow vidur:host)
    notice+="; $vidur_notice"
  fi
  mkdir -p "$out/$gpu"
  "$program" calibrate fit "$data/aiconfigurator/csv/$folder" "$@" --gpu "$gpu" --library "$library" "${lent[@]}" \
    --date "$fit_date" --notice "$notice" --out "$out/$gpu/$library.json" > /dev/null
  printf '%s: %d bytes\n' "$out/$gpu/$library.json" "$(stat -c %s "$out/$gpu/$library.json")"
}

vidur=$data/vidur
for library in vllm tensorrt-llm; do
  fit a100-80gb-sxm "$library" a100_sxm "$vidur/profiling/compute/a100" "$vidur"/history/a100_cpu_overheads_*.csv
  fit h100-sxm "$library" h100_sxm "$vidur/profiling/compute/h100"
  fit h200-sxm "$library" h200_sxm
done
