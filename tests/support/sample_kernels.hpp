#pragma once

// Profiles of kernels written out by hand: round constants, corrections of one cut, so that what prices they
// give is a formula.

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/kernels/kernel_profile.hpp"
#include "hardware/gpu_spec.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer::samples {

/// 1000 TFLOPS and 1 TB/s, in 100 multiprocessors.
inline GpuSpec measured_gpu() {
  GpuSpec gpu = round_gpu();
  gpu.sm_count = 100;
  return gpu;
}

/// Places of kernel_features().
enum Feature : std::size_t {
  gemm_rows = 0,
  moe_tokens = 0,
  prefill_length = 1,
  decode_batch = 0,
  decode_context = 3
};

/// One tree that adds `low` where a feature, a logarithm, is at most that of `size`, else `high`. Both are
/// whole multiples of 1e-4.
inline RegressionTrees cut_at(std::size_t feature, double size, double low, double high) {
  const auto leaf = [](double value) { return RegressionTrees::leaf_code(std::lround(value * 1e4)); };
  std::vector<std::vector<double>> edges(feature + 1);
  edges[feature] = {std::log(size) + 1e-9};
  return {edges, {static_cast<int>(feature) * 256, leaf(low), leaf(high)}};
}

/// The same value everywhere.
inline RegressionTrees everywhere(double value) {
  return {{}, {RegressionTrees::leaf_code(std::lround(value * 1e4))}};
}

inline KernelFit gemm_fit(std::string variant = "bf16") {
  KernelFit fit;
  fit.family = KernelFamily::gemm;
  fit.variant = std::move(variant);
  fit.roofline = {.start_up_s = 4e-6, .compute_efficiency = 0.5, .bandwidth_efficiency = 0.8};
  fit.range = {{1, 8192}, {64, 65536}, {64, 65536}};
  return fit;
}

inline KernelFit moe_fit(std::string variant = "bf16") {
  KernelFit fit;
  fit.family = KernelFamily::moe;
  fit.variant = std::move(variant);
  fit.roofline = {.start_up_s = 30e-6, .compute_efficiency = 0.4, .bandwidth_efficiency = 0.5};
  fit.range = {{1, 4096}, {1024, 8192}, {512, 16384}, {8, 256}, {1, 8}, {1, 8}, {1, 64}, {0, 1.2}};
  return fit;
}

inline KernelFit decode_fit(std::string variant = "bf16") {
  KernelFit fit;
  fit.family = KernelFamily::decode_attention;
  fit.variant = std::move(variant);
  fit.roofline = {
      .start_up_s = 10e-6, .per_unit_s = 20e-9, .compute_efficiency = 0.4, .bandwidth_efficiency = 0.9};
  fit.range = {{1, 64}, {2, 4096}, {1, 64}, {1, 8}, {64, 128}, {0, 4096}};
  return fit;
}

inline KernelFit prefill_fit(std::string variant = "bf16") {
  KernelFit fit;
  fit.family = KernelFamily::prefill_attention;
  fit.variant = std::move(variant);
  fit.roofline = {
      .start_up_s = 12e-6, .compute_efficiency = 0.25, .bandwidth_efficiency = 0.5, .overhang_tokens = 101};
  fit.range = {{1, 64}, {16, 4096}, {0, 0}, {1, 64}, {1, 8}, {64, 128}, {0, 4096}};
  return fit;
}

inline KernelFit mla_decode_fit(std::string variant = "bf16") {
  KernelFit fit;
  fit.family = KernelFamily::mla_decode;
  fit.variant = std::move(variant);
  fit.roofline = {
      .start_up_s = 11e-6, .per_unit_s = 3e-9, .compute_efficiency = 0.6, .bandwidth_efficiency = 0.7};
  fit.range = {{1, 64}, {2, 4096}, {1, 128}};
  return fit;
}

inline KernelFit mla_prefill_fit(std::string variant = "bf16") {
  KernelFit fit;
  fit.family = KernelFamily::mla_prefill;
  fit.variant = std::move(variant);
  fit.roofline = {
      .start_up_s = 13e-6, .compute_efficiency = 0.3, .bandwidth_efficiency = 0.4, .overhang_tokens = 51};
  fit.range = {{1, 64}, {16, 4096}, {0, 0}, {1, 128}};
  return fit;
}

inline KernelFit elementwise_fit(std::string variant) {
  KernelFit fit;
  fit.family = KernelFamily::elementwise;
  fit.variant = std::move(variant);
  fit.roofline = {.start_up_s = 2e-6, .bandwidth_efficiency = 0.4};
  fit.range = {{1, 4096}, {4096, 8192}};
  return fit;
}

/// 1.5 times the roofline at 1 kB and twice it at 1 MB and beyond.
inline KernelFit collective_fit(std::string variant) {
  KernelFit fit;
  fit.family = KernelFamily::collective;
  fit.variant = std::move(variant);
  fit.roofline = {.start_up_s = 5e-6, .bandwidth_efficiency = 0.5};
  fit.curves = {{2, {1e3, 1e6}, {std::log(1.5), std::log(2.0)}}};
  fit.range = {{2, 2}, {1e3, 1e6}};
  return fit;
}

inline KernelProfile profile_of(std::vector<KernelFit> fits) {
  KernelProfile profile;
  profile.gpu = "round";
  profile.library = "vllm";
  profile.date = "2026-11-30";
  profile.fits = std::move(fits);
  return profile;
}

inline KernelProfile whole_profile() {
  return profile_of({gemm_fit(), decode_fit(), prefill_fit(), elementwise_fit("embedding"),
                     elementwise_fit("norm"), elementwise_fit("rope"), elementwise_fit("silu_mul"),
                     collective_fit("all_reduce"), collective_fit("all_gather")});
}

}  // namespace inferometer::samples
