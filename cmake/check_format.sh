#!/usr/bin/env bash
# Every C++ file is formatted as .clang-format says: `cmake/check_format.sh`; with --fix the files are rewritten.
# Versions of clang-format differ in what they make of the same settings, so only one is asked.
set -euo pipefail

major=14
cd "$(dirname "${BASH_SOURCE[0]}")/.."

clang_format=
for candidate in "clang-format-$major" clang-format; do
  if command -v "$candidate" > /dev/null && [[ $("$candidate" --version) == *"version $major."* ]]; then
    clang_format=$candidate
    break
  fi
done
if [[ -z $clang_format ]]; then
  echo "format: skipped, clang-format $major is not installed (Debian 12 has it)"
  exit 0
fi

mapfile -t files < <(find base calibration costmodel examples hardware kernels sim tests workloads \
  '(' -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' ')' 2> /dev/null | sort)
if [[ ${1-} == --fix ]]; then
  "$clang_format" -i "${files[@]}"
else
  "$clang_format" --dry-run --Werror "${files[@]}"
  echo "format: ${#files[@]} files are as .clang-format says"
fi
