#pragma once

// What a user may say about the cost model: the scenario's section `cost_model`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config/table.hpp"
#include "base/config/values.hpp"
#include "base/units.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "hardware/profile.hpp"

namespace inferometer {

/// How closely an operator's time follows real kernels.
enum class CostLevel {
  datasheet,   ///< the larger of the two roofs of the datasheet; no start-up
  roofline,    ///< roofs scaled by fitted efficiencies, plus start-up, by operator family
  calibrated,  ///< a roofline of each kernel family times a correction fitted to measured kernels
};

std::string_view to_string(CostLevel level);

struct CostOptions {
  CostLevel level = CostLevel::roofline;
  std::string kernels = "vllm";  ///< library whose measured kernels the level `calibrated` takes
  std::string kernel_profile;    ///< path of the user's own profile, in place of a shipped one; "": none
  /// Set in the runs behind an uncertainty interval: which draw from the errors of the profile.
  std::optional<std::uint64_t> resample;
  Duration host_fixed = microseconds(500);       ///< scheduler and launch, each step
  Duration host_per_sequence = microseconds(5);  ///< bookkeeping of each sequence of the step
  Duration host_per_prefill_token{};             ///< bookkeeping of each prompt token of the step
  Duration frontend_latency{};  ///< of a request, from the client's sending it to the scheduler's queue
  bool host_overlap = false;  ///< false: the GPU waits for the host; true: a step takes the longer of the two
  bool cuda_graphs = true;    ///< decode-only steps are padded up to the next captured batch size

  /// Replace the profile's figures; in (0, 1].
  std::optional<double> gemm_compute_efficiency, gemm_bandwidth_efficiency;
  std::optional<double> attention_compute_efficiency, attention_bandwidth_efficiency;
  std::optional<double> link_efficiency;
};

/// Libraries whose measured kernels can be asked for. Not every GPU has a profile of each.
std::vector<std::string> kernel_libraries();

/// Keys of the section.
Table cost_model_table();

/// Efficiencies that the user gives belong to the level `roofline`: it is taken then, unless `level` is
/// given, too. Throws ConfigError for efficiencies beside `level: calibrated`. Precondition: `values` was
/// parsed by cost_model_table().
CostOptions cost_options_from(const Values& values);

/// Path of the profile of kernels that the level `calibrated` takes on a GPU: the user's, or else the shipped
/// one of the library; nothing where there is none.
std::optional<std::string> kernel_profile_file(const std::string& gpu, const CostOptions& options);

/// That profile. Throws ConfigError: it cannot be read, or is of another GPU.
std::optional<KernelProfile> kernel_profile(const std::string& gpu, const CostOptions& options);

/// The profile with the user's figures in place of its own.
Profile overridden(Profile profile, const CostOptions& options);

}  // namespace inferometer
