#pragma once

// The defaults of one version of a serving engine, as data: sim/presets/NAME.yaml. Who uses it: scenarios
// with `engine: {preset: NAME}`, `inferometer describe`, and the validation, which knows engines by their
// versions.

#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

struct EnginePreset {
  struct Setting {
    std::string key;                   ///< in a scenario: "engine.max_num_batched_tokens"
    std::string value;                 ///< as a scenario would write it: "8192"
    std::optional<Bytes> memory_from;  ///< holds on GPUs of at least so much usable memory
    std::string not_gpu;               ///< ... and not on those whose name begins so; "": on all
    std::string unless_named;          ///< not where a scenario itself gives this key; "": always
    std::string source;                ///< file of the engine's code, or where else it is from

    [[nodiscard]] bool holds_on(const GpuSpec& gpu) const;
    /// "on GPUs of at least 70 GiB, not a100"; "" for all.
    [[nodiscard]] std::string condition() const;
  };

  std::string name;
  std::string summary;
  std::string released;           ///< year and month of the version it is named after: "2026-01"
  std::vector<Setting> settings;  ///< of several for one key the last that holds counts
};

/// Names of those shipped, sorted: "sglang-0.5", "trtllm-1.0", "vllm-0.15".
std::vector<std::string> engine_preset_names();

/// Precondition: one of the names. Throws ConfigError for a file that is not of the form.
EnginePreset load_engine_preset(const std::string& name);

/// Path of its file.
std::string engine_preset_file(const std::string& name);

/// A line for each.
std::string describe_engine_presets();
/// Its settings with their sources.
std::string describe_engine_preset(const std::string& name);

}  // namespace inferometer
