#pragma once

// The roofline of one kernel family with fitted constants, and where a call stands beside it: the features by
// which a fitted correction tells calls apart. Who uses it: kernel_fit.hpp and the fit of profiles.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "costmodel/kernels/kernel_call.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// seconds = start_up + per_unit * units + max(FLOPs / (compute_efficiency * peak),
///                                             bytes / (bandwidth_efficiency * bandwidth)).
/// Units: decode attention, sequences x KV heads (latent: heads); host work, sequences; else none. Bytes are
/// those of the link for collectives. Prefill attention counts `overhang_tokens` - 1 keys more for two
/// queries: masked parts of tiles.
/// Experts do the work of a benchmark (expert_load.hpp), not that of independent choices.
struct RooflineConstants {
  double start_up_s = 0;
  double per_unit_s = 0;
  double compute_efficiency = 1;    ///< in (0, 1]
  double bandwidth_efficiency = 1;  ///< in (0, 1]
  double overhang_tokens = 1;       ///< >= 1
};

/// Time of the parts of a call; the higher of the last two counts.
struct RooflineParts {
  double start_up_s, compute_s, bandwidth_s;
  [[nodiscard]] double total_s() const {
    return start_up_s + (compute_s > bandwidth_s ? compute_s : bandwidth_s);
  }
};

RooflineParts roofline_parts(const KernelCall& call, const RooflineConstants& constants, const GpuSpec& gpu);

inline constexpr std::size_t kMostFeaturesOfAKernel = 26;

/// Values by which a correction may cut, in the family's fixed order. Sizes are natural logarithms.
struct KernelFeatures {
  std::array<double, kMostFeaturesOfAKernel> values{};
  std::size_t count = 0;

  void add(double value) { values[count++] = value; }
  [[nodiscard]] std::span<const double> span() const { return {values.data(), count}; }
};

/// None for families without a correction by trees: elementwise, collective, host.
KernelFeatures kernel_features(const KernelCall& call, const GpuSpec& gpu);
/// How many features the calls of a family have.
std::size_t feature_count(KernelFamily family);

}  // namespace inferometer
