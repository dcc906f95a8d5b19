#!/usr/bin/env bash
# What only a machine with a GPU can tell, in one go of less than nine minutes: builds for its first GPU, runs the tests
# of the kernels, calibrates, and looks for wrong memory accesses and races of threads. Needs no network, and
# leaves clocks and modes of the GPU as they are.
#
#   bash calibration/device_check.sh           results in $OUT, or in device-out/
#   bash calibration/device_check.sh --pack    on a machine with a network, for one without: fetches the libraries that
#                                              the build needs into device-packages/, and is used where that folder is
#
# Results: device_check.log, summary.txt, records/ with the measurements and profile.json. A later run goes on with the
# records of an earlier one, unless kernels have changed since: then it moves them aside.
# Exit code: 0 when all parts passed, 1 when one did not, 77 where there is no GPU or no nvcc.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/device
packages=$root/device-packages
out=${OUT:-$root/device-out}
cores=$(nproc)

# Seconds. A part that hangs costs its own limit, and all together end in time to write the summary.
readonly all_s=520 configure_s=90 build_s=240 tests_s=100 sanitizer_s=30
# What `calibrate run` is given, and what it may take beyond: a fit on a slow processor, the point at hand.
readonly budget_s=120 grace_s=60
readonly skipped=77 past_limit=124 killed=137
# Of what a part prints: a comparison that fails may print each element.
readonly part_log_bytes=500000 part_log_last_lines=100
readonly record_bytes_plain=10000000

# What compute-sanitizer runs, tens of times slower than it is: each kernel at small shapes. Program, then case.
small_cases() {
  cat << 'CASES'
test_cuda_dense norms give the reference alone and with the residual
test_cuda_dense activations give the reference
test_cuda_dense embeddings are the rows of their ids
test_cuda_dense queries are rotated and keys and values reach their slots
test_cuda_dense the product for few tokens gives the reference again and again
test_cuda_dense greedy tokens are the reference's call after call
test_cuda_dense drawn tokens are the reference's away from boundaries
test_cuda_dense KV blocks go where they should and nowhere else
test_cuda_decode decode attention over a window is the reference's
test_cuda_prefill prefill attention over a window is the reference's
CASES
}

say() { printf 'device check: %s\n' "$*"; }

# limited SECONDS COMMAND...: the command, for so long or what is left of all; 124 when it ran past that.
limited() {
  local limit=$1 left=$((all_s - SECONDS))
  shift
  if ((left < 5)); then
    say "no time left for: $*"
    return $past_limit
  fi
  timeout --kill-after=10 $((limit < left ? limit : left)) "$@"
}

# The first bytes and the last lines.
capped() {
  awk -v bytes=$part_log_bytes -v lines=$part_log_last_lines '
    (printed += length($0) + 1) < bytes { print; fflush(); next }
    { last[++left_out % lines] = $0 }
    END {
      if (left_out > lines) printf "[%d lines left out]\n", left_out - lines
      for (i = left_out > lines ? left_out - lines + 1 : 1; i <= left_out; ++i) print last[i % lines]
    }'
}

declare -a part_lines=()
anything_failed=0

# part NAME COMMAND...: runs it, prints what it prints and keeps how it ended for the summary.
part() {
  local name=$1 started=$SECONDS status outcome
  shift
  printf '\n=== %s\n' "$name"
  "$@" 2>&1 < /dev/null | capped
  status=${PIPESTATUS[0]}
  case $status in
    0) outcome=passed ;;
    "$skipped") outcome=skipped ;;
    "$past_limit" | "$killed") outcome="FAILED: out of time" ;;
    *) outcome="FAILED: exit code $status" ;;
  esac
  if [[ $outcome == FAILED* ]]; then
    anything_failed=1
  fi
  part_lines+=("$(printf '%-16s %4d s   %s' "$name" $((SECONDS - started)) "$outcome")")
  printf -- '--- %s: %s\n' "$name" "$outcome"
  return "$status"
}

# --- the machine ---------------------------------------------------------------------------------------------------

# Sets gpu_name and architecture; says why not.
find_gpu() {
  local found capability
  if ! command -v nvidia-smi > /dev/null; then
    say "skipped: no GPU here (no nvidia-smi)"
    return $skipped
  fi
  if ! found=$(timeout 30 nvidia-smi -i 0 --query-gpu=name,compute_cap --format=csv,noheader 2>&1); then
    say "skipped: no GPU here (nvidia-smi: ${found%%$'\n'*})"
    return $skipped
  fi
  gpu_name=${found%,*}
  capability=${found##*, }
  case $capability in
    9.0) architecture=90a ;;
    8.* | 9.* | [1-9][0-9].*) architecture=80 ;;
    *)
      say "skipped: $gpu_name has compute capability $capability; the kernels need 8.0 or above"
      return $skipped
      ;;
  esac
}

# Sets toolkit.
find_nvcc() {
  PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin
  if ! command -v nvcc > /dev/null; then
    say "skipped: $gpu_name is here, but no nvcc to compile for it"
    return $skipped
  fi
  export CUDACXX=${CUDACXX:-$(command -v nvcc)}
  toolkit=$(cd "$(dirname "$(readlink -f "$CUDACXX")")/.." && pwd)
  PATH=$PATH:$toolkit/bin:$toolkit/compute-sanitizer
}

# first_named NAME FOLDER...
first_named() {
  local name=$1
  shift
  find -L "$@" -maxdepth 4 -name "$name" -print -quit 2> /dev/null
}

# Where the toolkit comes without cuBLAS, that of Python's packages is taken, which has no name to link by.
find_cublas() {
  local header library
  local -a places=("$toolkit" /usr/include "/usr/lib/$(uname -m)-linux-gnu")
  if [[ -n $(first_named cublasLt.h "${places[@]}") && -n $(first_named libcublasLt.so "${places[@]}") ]]; then
    return
  fi
  mapfile -t places < <(python3 -c 'import sys; print(*(f"{path}/nvidia" for path in sys.path if path), sep="\n")')
  header=$(first_named cublasLt.h "${places[@]}")
  library=$(first_named 'libcublasLt.so.*' "${places[@]}")
  if [[ -z $header || -z $library ]]; then
    say "there is no cuBLAS in $toolkit nor among Python's packages"
    return
  fi
  say "cuBLAS is taken from $library"
  mkdir -p "$build/cublas/include"
  ln -sfn "$library" "$build/cublas/${library##*/}"
  ln -sfn "$library" "$build/cublas/libcublasLt.so"
  # Only its own headers: beside them may lie those of another toolkit.
  ln -sfn "${header%/*}"/cublas*.h "$build/cublas/include/"
  cmake_arguments+=("-DCUDA_cublasLt_LIBRARY=$build/cublas/libcublasLt.so")
  export CPLUS_INCLUDE_PATH=$build/cublas/include${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}
}

# --- libraries for a machine without a network -----------------------------------------------------------------------

# Those of apt-packages.txt that the program and its tests link to, with what holds the libraries of the same version.
pack() {
  local -a wanted
  mapfile -t wanted < <(awk '/^\[/ { inside = ($0 == "[build]") } inside && /^([a-z0-9+.-]+-dev|catch2)$/' \
    "$root/apt-packages.txt" | grep -vE 'simgrid|openmpi|benchmark')
  mapfile -t -O ${#wanted[@]} wanted < <(apt-cache show --no-all-versions "${wanted[@]}" |
    sed -n 's/^Depends: //p' | tr ',' '\n' | sed -nE 's/^ *(lib[^ ]+|zlib1g) \(= .*$/\1/p' | sort -u)
  rm -rf "$packages"
  mkdir -p "$packages"
  (cd "$packages" && apt-get -o APT::Sandbox::User=root download -qq "${wanted[@]}") || return 1
  # A colon, of a version's epoch, is not fit for every way to carry files.
  local file
  for file in "$packages"/*%3a*; do
    [[ -e $file ]] && mv "$file" "${file/\%3a/.}"
  done
  say "$(find "$packages" -name '*.deb' | wc -l) packages, $(du -sh "$packages" | cut -f 1), in $packages"
}

use_packages() {
  local file target prefix=$build/packages/usr triplet
  triplet=$(uname -m)-linux-gnu
  local -a files
  mapfile -t files < <(find "$packages" -name '*.deb' 2> /dev/null | sort)
  if [[ ${#files[@]} -eq 0 ]]; then
    return
  fi
  say "libraries of ${#files[@]} packages in $packages"
  mkdir -p "$build/packages"
  for file in "${files[@]}"; do
    dpkg-deb -x "$file" "$build/packages" || return 1
  done
  # Links to a library by its full name shall stay among the unpacked ones.
  find "$build/packages" -type l -lname '/*' | while read -r file; do
    target=$(readlink "$file")
    [[ $target == "$build"/* ]] || ln -sfn "$build/packages$target" "$file"
  done
  cmake_arguments+=("-DCMAKE_PREFIX_PATH=$prefix" "-DOPENSSL_ROOT_DIR=$prefix")
  export CPLUS_INCLUDE_PATH=$prefix/include/$triplet${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}
}

# --- the parts -------------------------------------------------------------------------------------------------------

# A compiler that no one has tried yet shall not end the run by a new warning.
configure() {
  limited $configure_s cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "-DINFEROMETER_CUDA_ARCHITECTURES=$architecture" -DINFEROMETER_ENABLE_CUDA=ON \
    -DINFEROMETER_ENABLE_SIMGRID=OFF -DINFEROMETER_ENABLE_MPI=OFF -DINFEROMETER_ENABLE_BENCHMARKS=OFF \
    -DINFEROMETER_LINK_TIME_OPTIMIZATION=OFF -DINFEROMETER_WARNINGS_AS_ERRORS=OFF "${cmake_arguments[@]}"
}

test_programs() {
  ninja -C "$build" -t targets all | sed -nE 's/^(test_cuda_[a-z0-9_]+): .*/\1/p'
}

# What fails to build leaves the rest to be run.
build_all() {
  local -a tests
  mapfile -t tests < <(test_programs)
  limited $build_s ninja -C "$build" -j "$cores" -k 0 inferometer inferometer_cuda "${tests[@]}"
}

# some_tests ARGUMENT...: of ctest.
some_tests() {
  limited $tests_s ctest --test-dir "$build" -L cuda --output-on-failure --timeout 60 "$@"
  local status=$?
  cat "$build/Testing/Temporary/LastTest.log" >> "$build/tests.log"
  return $status
}

# Those that compare times have the GPU to themselves.
run_tests() {
  local allowed_to_skip='no fp8|cuobjdump|nvdisasm|this build has no cuDNN|cuDNN 9 is not installed|cuDNN is '
  local timed='^cuda_device:' status=0 program
  local -i count
  : > "$build/tests.log"
  some_tests -E "$timed" --parallel 4 --no-tests=error || status=$?
  some_tests -R "$timed" --no-tests=ignore || status=$?
  # Of those ctest knows nothing.
  for program in $(test_programs); do
    if [[ ! -x $build/tests/cuda/$program ]]; then
      say "$program was not built"
      status=1
    fi
  done
  count=$(grep -c 'skipped: ' "$build/tests.log")
  if ((count > 0)); then
    say "$count skipped, for these reasons:"
    sed -n 's/.*skipped: //p' "$build/tests.log" | sort | uniq -c
  fi
  # Every other reason means that the GPU was not used.
  if grep 'skipped: ' "$build/tests.log" | grep -qvE "skipped: ($allowed_to_skip)"; then
    status=1
  fi
  return $status
}

# Records of other kernels, or of other code around them, stay but are not added to.
move_old_records_aside() {
  local current earlier number=1
  current=$(grep -s -m 1 -o 'sha256:[0-9a-f]*' "$build/calibration/device/build_facts.cpp") || return 0
  for earlier in "$out"/records/*.jsonl; do
    if [[ ! -e $earlier ]] || head -n 1 "$earlier" | grep -qF "\"source_hash\":\"$current\""; then
      continue
    fi
    while [[ -e $out/records.$number ]]; do
      ((++number))
    done
    say "records of other kernels: moved to $out/records.$number"
    mv "$out/records" "$out/records.$number"
    return
  done
}

calibrate() {
  local left=$((all_s - SECONDS - grace_s))
  local budget=$((budget_s < left ? budget_s : left))
  if [[ ! -x $build/inferometer || ! -e $build/inferometer_cuda.so ]]; then
    say "the program or its module was not built"
    return 1
  fi
  if ((budget < 10)); then
    say "no time left to calibrate"
    return $past_limit
  fi
  # SIGINT ends it after the point at hand.
  timeout --signal=INT --kill-after=10 $((budget + grace_s - 10)) "$build/inferometer" calibrate run --gpu 0 \
    --budget "$budget s" --out "$out/records" --quiet
}

# sanitize TOOL: all programs at a time.
sanitize() {
  local tool=$1 program cases status worst=0
  local -A pids=()
  local -a options=(--tool "$tool" --error-exitcode 1 --print-limit 20 --launch-timeout 20)
  if ! command -v compute-sanitizer > /dev/null; then
    say "skipped: compute-sanitizer is not installed"
    return $skipped
  fi
  # Tests call for refusals of CUDA.
  if [[ $tool == memcheck ]]; then
    options+=(--report-api-errors no)
  fi
  for program in $(small_cases | cut -d ' ' -f 1 | sort -u); do
    cases=$(small_cases | sed -n "s/^$program //p" | paste -sd ,)
    limited $sanitizer_s compute-sanitizer "${options[@]}" "$build/tests/cuda/$program" "$cases" \
      > "$build/$tool.$program.log" 2>&1 &
    pids[$program]=$!
  done
  for program in "${!pids[@]}"; do
    wait "${pids[$program]}"
    status=$?
    # The program itself ends well when it knows no such case.
    if grep -q 'No test cases matched' "$build/$tool.$program.log"; then
      status=1
    fi
    printf '%s, exit code %d:\n' "$program" $status
    capped < "$build/$tool.$program.log"
    # What it found says more than that it was not done.
    if ((status != 0 && (worst == 0 || worst == past_limit))); then
      worst=$status
    fi
  done
  return $worst
}

# --- the whole -------------------------------------------------------------------------------------------------------

# What the folder holds in the end: few files, none of them large.
tidy_results() {
  local file
  rm -f "$out/records/.lock"
  for file in "$out"/records/*.jsonl; do
    if [[ -e $file && $(stat -c %s "$file") -gt $record_bytes_plain ]]; then
      gzip -9 "$file"
    fi
  done
}

print_summary() {
  if [[ -e $out/records/summary.txt ]]; then
    cat "$out/records/summary.txt"
    rm "$out/records/summary.txt"
    echo
  fi
  printf '%s, compiled for %s, in %d s\n\n' "$gpu_name" "$architecture" $SECONDS
  printf '%s\n' "${part_lines[@]}"
}

check_device() {
  local -a cmake_arguments=()
  local gpu_name architecture toolkit tool
  find_gpu && find_nvcc || return
  say "$gpu_name, for which kernels are compiled as $architecture; results in $out"
  nvidia-smi
  mkdir -p "$build"
  use_packages || say "the packages cannot be unpacked"
  find_cublas
  if part configure configure; then
    part build build_all
    part tests run_tests
    if ((anything_failed)); then
      say "calibrating although something failed: see above before its figures are used"
    fi
    move_old_records_aside
    part calibration calibrate
    for tool in memcheck racecheck synccheck; do
      part "$tool" sanitize "$tool"
    done
  fi
  printf '\n'
  nvidia-smi
  tidy_results
  printf '\n'
  print_summary | tee "$out/summary.txt"
  return $anything_failed
}

case ${1-} in
  --pack) pack ;;
  "")
    mkdir -p "$out"
    check_device 2>&1 | tee "$out/device_check.log"
    exit "${PIPESTATUS[0]}"
    ;;
  *)
    say "unknown argument $1; the only one is --pack" >&2
    exit 2
    ;;
esac
