#pragma once

// Times of kernels as one side of a comparison knows them: those that a profile predicts, or those that were
// measured. Who uses it: comparison.hpp, and the command line that reads the sides.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibration/record/measurement.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// A family and a variant of it.
using KernelKind = std::pair<KernelFamily, std::string>;

class KernelTimes {
 public:
  /// `name`: as the user calls it. Throws ConfigError when the profile's GPU is not built in.
  KernelTimes(std::string name, KernelProfile profile);
  /// Throws ConfigError when the sets are of several GPUs, or hold one kind of several libraries or versions:
  /// a median over those would be nobody's time.
  KernelTimes(std::string name, const std::vector<Measurements>& measured);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// "vllm kernels on h100-sxm, fitted 2026-11-30", "vllm 0.24.0 measured on h100-sxm"
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] const GpuSpec& gpu() const { return gpu_; }
  [[nodiscard]] bool is_profile() const { return profile_.has_value(); }

  /// Ascending.
  [[nodiscard]] std::vector<KernelKind> kinds() const;
  /// What was measured of a kind, ascending by axes; nothing from a profile.
  [[nodiscard]] std::vector<KernelCall> measured_calls(const KernelKind& kind) const;
  /// Nothing for a call that was not measured, or that lies outside of what a profile was fitted to.
  [[nodiscard]] std::optional<double> seconds(const KernelCall& call) const;

 private:
  using Axes = std::array<double, kMostAxes>;

  std::string name_, description_;
  std::optional<KernelProfile> profile_;
  std::map<KernelKind, std::map<Axes, double>> measured_;  // medians, in seconds
  GpuSpec gpu_;
};

}  // namespace inferometer
