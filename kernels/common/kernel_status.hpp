#pragma once

// How launching a kernel ended, and what every launcher takes. Who uses it: every launcher here, and the
// device of calibration. Nothing here throws, prints or allocates.

struct CUstream_st;  // what cudaStream_t points to

namespace inferometer::kernels {

/// A cudaStream_t, for callers that do not include CUDA.
using Stream = CUstream_st*;

enum class KernelStatus {
  ok,
  unsupported,    ///< these shapes or formats, or this GPU
  out_of_memory,  ///< of the GPU
  failed,         ///< whatever else the driver or a library says
};

/// `reason` is a static text, "" when all went well. A launch that is ok has been queued; what goes wrong
/// while the kernel runs shows at the next synchronisation.
struct LaunchResult {
  KernelStatus status = KernelStatus::ok;
  const char* reason = "";

  [[nodiscard]] bool ok() const { return status == KernelStatus::ok; }
};

/// What a launch computes and moves at the least: each input read once, each output written once. Equal to
/// the cost model's figures for the same call, which a test checks.
struct Work {
  double flops = 0;
  double bytes = 0;
};

}  // namespace inferometer::kernels
