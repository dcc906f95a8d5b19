#pragma once

// Measured kernels, whatever file they come from. Who uses it: the readers fill it, the fit and the
// validation read it.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "costmodel/kernels/kernel_call.hpp"

namespace inferometer {

/// What was measured, on what and how. One set never mixes two of these; empty text and 0: not known.
struct MeasurementHeader {
  std::string gpu;              ///< built-in name: "h100-sxm"
  std::string device;           ///< as the driver calls it: "NVIDIA H100 80GB HBM3"
  std::string library;          ///< whose kernels: "vllm", "tensorrt-llm", "nccl", "vidur", "inferometer"
  std::string library_version;  ///< "0.24.0"
  std::string source;           ///< where the numbers were published: "ai-dynamo/aiconfigurator"
  std::string driver_version, cuda_runtime_version, cublas_version, nvcc_version;
  std::string clocks;              ///< "locked 1755 MHz"
  std::string method;              ///< timer, warm-ups, stop rule
  std::string l2_state;            ///< before each sample: kColdL2, or "" for as the run before left it
  std::string source_hash;         ///< of the measured kernels' source
  std::string revision;            ///< of the program that measured: "8f3be4c", "8f3be4c dirty"
  std::string compute_capability;  ///< "9.0"
  std::string ecc, mig;            ///< "on" or "off"
  double sm_count = 0, l2_bytes = 0, hbm_bytes = 0;
  double power_limit_w = 0, mem_mhz = 0;

  // What may differ from one file of a set to the next.
  std::string uuid_hash;  ///< tells GPUs of one kind apart without naming them
  std::string host;
  std::string utc;  ///< when it began: "2026-11-30T05:40:00Z"
  double temperature_c = 0;
  double sm_mhz_mean = 0;
  std::vector<std::string> inputs;  ///< imported files, "gemm_perf.csv.gz sha256:...", sorted

  friend bool operator==(const MeasurementHeader&, const MeasurementHeader&) = default;
};

/// MeasurementHeader::l2_state of measurements that found nothing of their data in the L2 cache.
inline constexpr std::string_view kColdL2 = "flushed";

/// Whether the L2 cache was emptied before each run, or held what the run before left.
enum class CacheState { warm, cold };

inline CacheState cache_state(const MeasurementHeader& header) {
  return header.l2_state == kColdL2 ? CacheState::cold : CacheState::warm;
}

/// How the samples of a point lie around their median; 0: not known.
struct SampleStatistics {
  double q1_seconds = 0, q3_seconds = 0, min_seconds = 0;
  double sm_mhz_mean = 0;
  std::int64_t samples = 0;
  bool verified = false;                ///< the kernel's result was compared with a reference and agreed
  CacheState cache = CacheState::warm;  ///< of the set's header, where points of several sets come together

  friend bool operator==(const SampleStatistics&, const SampleStatistics&) = default;
};

/// One measured point.
struct MeasuredKernel {
  KernelCall call;
  double seconds = 0;  ///< median of the samples, > 0
  std::string kernel;  ///< name of the kernel where the file says it
  Position where;      ///< the row it came from
  SampleStatistics statistics;
};

/// A row that is well formed but cannot be what it says, and why.
struct SuspectRow {
  Position where;
  std::string reason;
};

/// A point of a sweep that was not measured, and why: it does not fit the memory, its result was wrong.
struct SkippedPoint {
  KernelCall call;
  std::string reason;
  Position where;
};

/// Points under one header.
struct Measurements {
  MeasurementHeader header;
  std::vector<MeasuredKernel> points;
  std::vector<SuspectRow> suspects;   ///< left out of `points`
  std::vector<SkippedPoint> skipped;  ///< no measurements either
  std::vector<std::string> notes;     ///< what a reader left out on purpose and how much of it
  std::map<std::string, std::vector<std::string>> inputs_by_file;  ///< of header.inputs, by Position::file
};

}  // namespace inferometer
