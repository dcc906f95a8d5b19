#pragma once

// How near a GPU's kernels come to its datasheet: efficiencies and start-up times by kernel family. Fitted to
// kernel measurements where there are any, assumed from a related GPU where there are none. Files:
// hardware/profiles/<gpu>.yaml.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// time = start_up + max(FLOPs / (compute_efficiency * peak), bytes / (bandwidth_efficiency * bandwidth)).
/// Efficiencies are shares of the datasheet, in (0, 1].
struct KernelEfficiency {
  Duration start_up;
  double compute_efficiency = 1;
  double bandwidth_efficiency = 1;
};

/// A collective among GPUs of one node: start_up + bytes over this GPU's link / (link_efficiency * link
/// bandwidth).
struct LinkEfficiency {
  Duration start_up;
  double link_efficiency = 1;
};

/// One profile. All figures are relative to a datasheet, so that a profile can stand in for a related GPU.
struct Profile {
  std::string gpu;  ///< whose kernels these are: "h100-sxm"
  std::vector<std::string>
      assumed_sections;  ///< not measured on this very GPU but borrowed from a related one
  KernelEfficiency gemm;
  KernelEfficiency decode_attention;
  Duration decode_per_sequence_head;  ///< more start-up, for each sequence x KV head of the GPU
  KernelEfficiency prefill_attention;
  std::int64_t overhang_tokens =
      1;  ///< T0: causal prefill of s tokens costs s (s + T0) / 2 pairs; 1 = exact count
  KernelEfficiency elementwise;
  std::array<LinkEfficiency, 3> all_reduce;                    ///< among 2, 4 and 8 GPUs
  std::vector<std::pair<std::string, Provenance>> provenance;  ///< by section, in file order
};

/// Largest number of GPUs that a profile describes collectives for: one node.
inline constexpr std::int64_t kMaxTensorParallel = 8;

/// Collectives among `gpus` (2..8): the smallest tabulated group that holds them.
const LinkEfficiency& link_efficiency(const Profile& profile, std::int64_t gpus);

/// The shipped file that load_profile() reads for that GPU.
std::string profile_file(const std::string& gpu_name);

/// The profile of a GPU by name; "generic" for a GPU without a profile of its own (one the user described).
/// Throws ConfigError for a file that is not a profile.
Profile load_profile(const std::string& gpu_name);

/// Reads one profile file. Throws ConfigError: unreadable, unknown or missing keys, efficiencies outside (0,
/// 1].
Profile read_profile(const std::string& path);

}  // namespace inferometer
