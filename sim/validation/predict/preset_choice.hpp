#pragma once

// Which preset of an engine stands for the version that a run was measured with.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/validation/measured_run.hpp"

namespace inferometer {

/// A value of `engine.preset`.
struct DatedPreset {
  std::string name;      ///< "vllm-0.15": engine, version
  std::string released;  ///< "2026-01" or "2026-01-20"
};

struct PresetChoice {
  std::string name;
  std::string note;  ///< what was assumed, a sentence without a full stop; "": nothing
};

/// The latest preset of that engine whose version is not later than the run's; without a version, the latest
/// that was released not later than the run's month; without both, the latest. A run from before the first
/// gets the first. Whole numbers between dots count ("1.0.0rc3" is 1.0.0), those left out are 0. Nothing for
/// an engine without presets. O(presets).
std::optional<PresetChoice> preset_for(const MeasuredEngine& engine, std::span<const DatedPreset> presets);

/// Those that are built in.
std::vector<DatedPreset> shipped_presets();

}  // namespace inferometer
