#pragma once

// What `engine.speculation` asks for. Who uses it: the pools of a scenario.

#include <cstdint>
#include <optional>
#include <string>

#include "base/config/values.hpp"
#include "base/error.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/speculation.hpp"
#include "hardware/gpu_spec.hpp"
#include "sim/batch/speculation.hpp"

namespace inferometer {

struct SpeculationSpec {
  SpeculationRule rule;
  Drafter drafter;
  Position at;  ///< where mistakes that come of its size are reported
};

/// Of an engine of this target, on this GPU; nothing when it does not speculate. Adds to `diagnostics`: as
/// many acceptances as neither 1 nor the drafted tokens, a spread that takes them out of 0 to 1, a draft
/// model that is not known or has another vocabulary. `engine` was parsed by engine_table().
std::optional<SpeculationSpec> read_speculation(const Values& engine, const ModelSpec& target,
                                                const GpuSpec& gpu, std::uint64_t seed,
                                                Diagnostics& diagnostics);

}  // namespace inferometer
