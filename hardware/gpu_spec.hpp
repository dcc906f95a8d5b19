#pragma once

// What a GPU is, as its datasheet says. Files: hardware/gpus/<name>.yaml, every number with source and date.

#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// Where a figure comes from.
struct Provenance {
  std::string source;
  std::string date;  ///< ISO, when it was read
};

/// Datasheet figures of one GPU. Compute peaks are dense (without sparsity).
struct GpuSpec {
  std::string name;                       ///< as in a scenario: "h100-sxm"
  std::string title;                      ///< "NVIDIA H100 SXM5 80 GB"
  std::vector<std::string> device_names;  ///< as its driver calls it: "NVIDIA H100 80GB HBM3"; may be empty
  FlopsPerSecond bf16_peak;
  std::optional<FlopsPerSecond> fp8_peak;  ///< absent where the chip has no such unit
  std::optional<FlopsPerSecond> int8_peak;
  Bytes hbm_capacity;  ///< nominal: 80 GB
  Bytes hbm_usable;    ///< what a process sees in total (before any reservation)
  BytesPerSecond hbm_bandwidth;
  Bytes l2_cache;
  std::optional<BytesPerSecond> nvlink_per_direction;  ///< to all peers together; absent without NVLink
  BytesPerSecond pcie_per_direction;
  Watts tdp;
  std::int64_t sm_count = 0;
  Hertz boost_clock;
  DollarsPerHour price;                                        ///< a default that a scenario overrides
  std::vector<std::pair<std::string, Provenance>> provenance;  ///< by key of the file, in file order

  /// FLOP per byte at which a kernel passes from the bandwidth roof to the compute roof.
  [[nodiscard]] double ridge_point() const { return bf16_peak.count() / hbm_bandwidth.count(); }
};

/// Names of the built-in GPUs, sorted.
std::vector<std::string> builtin_gpu_names();

/// A built-in name, or a path to a YAML file of the same form. Throws ConfigError (unknown name: lists the
/// known ones and suggests the nearest).
GpuSpec load_gpu(const std::string& name_or_path);

}  // namespace inferometer
