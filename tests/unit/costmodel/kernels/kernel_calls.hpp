#pragma once

// Kernel calls of tests, by their axes.

#include <initializer_list>
#include <string>

#include "costmodel/kernels/kernel_call.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer::test {

inline KernelCall call_of(KernelFamily family, const std::string& variant,
                          std::initializer_list<double> axes) {
  KernelCall call{.family = family, .variant = variant};
  std::size_t at = 0;
  for (const double value : axes) {
    call.axes[at++] = value;
  }
  return call;
}

inline KernelCall gemm_call(double m, double n, double k, const std::string& variant = "bf16") {
  return call_of(KernelFamily::gemm, variant, {m, n, k});
}

/// Heads of 128 elements, no window.
inline KernelCall prefill_call(double batch, double tokens, double past, double heads, double kv_heads) {
  return call_of(KernelFamily::prefill_attention, "bf16", {batch, tokens, past, heads, kv_heads, 128, 0});
}
inline KernelCall decode_call(double batch, double context, double heads, double kv_heads) {
  return call_of(KernelFamily::decode_attention, "bf16", {batch, context, heads, kv_heads, 128, 0});
}

inline KernelCall collective_call(double gpus, double bytes, const std::string& variant = "all_reduce") {
  return call_of(KernelFamily::collective, variant, {gpus, bytes});
}

/// Of samples::round_gpu() with what kernels need beside: ten multiprocessors and 1 MB of L2.
inline GpuSpec kernel_gpu() {
  GpuSpec gpu = samples::round_gpu();
  gpu.sm_count = 10;
  gpu.l2_cache = Bytes(1'000'000);
  return gpu;
}

}  // namespace inferometer::test
