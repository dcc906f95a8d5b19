#pragma once

// Which of our GPUs a file of measurements is about.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/gpu_spec.hpp"

namespace inferometer {

class GpuNames {
 public:
  /// Reads all built-in GPUs.
  GpuNames();

  /// By what the driver calls it. O(GPUs).
  [[nodiscard]] std::optional<std::string> of_device(std::string_view device) const;

  /// By a folder or file of the path, the last one that names a GPU: h100_sxm, a100_dgx, h100-sxm.gemm.jsonl.
  [[nodiscard]] std::optional<std::string> of_path(std::string_view path) const;

  /// nullptr for a name that is not built in.
  [[nodiscard]] const GpuSpec* find(std::string_view name) const;

  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::vector<GpuSpec> gpus_;
};

}  // namespace inferometer
