#pragma once

// Measured kernels, whatever file they come from. Who uses it: the readers fill it, the fit and the
// validation read it.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "costmodel/kernels/kernel_call.hpp"

namespace inferometer {

/// What was measured, on what and how. One set never mixes two of these; empty text: not known.
struct MeasurementHeader {
  std::string gpu;              ///< built-in name: "h100-sxm"
  std::string device;           ///< as the driver calls it: "NVIDIA H100 80GB HBM3"
  std::string library;          ///< whose kernels: "vllm", "tensorrt-llm", "nccl", "vidur", "inferometer"
  std::string library_version;  ///< "0.24.0"
  std::string source;           ///< where the numbers were published: "ai-dynamo/aiconfigurator"
  std::string driver_version, cuda_runtime_version;
  std::string clocks;       ///< "locked 1755 MHz"
  std::string method;       ///< timer, cache state, warm-ups, stop rule
  std::string source_hash;  ///< of the kernels' source, or of the imported file

  friend bool operator==(const MeasurementHeader&, const MeasurementHeader&) = default;
};

/// One measured point.
struct MeasuredKernel {
  KernelCall call;
  double seconds = 0;  ///< median of the samples, > 0
  std::string kernel;  ///< name of the kernel where the file says it
  Position where;      ///< the row it came from
};

/// A row that is well formed but cannot be what it says, and why.
struct SuspectRow {
  Position where;
  std::string reason;
};

/// Points under one header.
struct Measurements {
  MeasurementHeader header;
  std::vector<MeasuredKernel> points;
  std::vector<SuspectRow> suspects;  ///< left out of `points`
  std::vector<std::string> notes;    ///< what a reader left out on purpose and how much of it
};

}  // namespace inferometer
