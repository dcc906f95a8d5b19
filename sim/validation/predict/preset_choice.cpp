#include "sim/validation/predict/preset_choice.hpp"

#include <algorithm>
#include <charconv>

#include "sim/scheduler/engine_preset.hpp"

namespace inferometer {
namespace {

/// "v0.15.1rc2" -> 0, 15, 1.
std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> numbers;
  const char* at = version.data();
  const char* const end = at + version.size();
  if (at != end && *at == 'v') {
    ++at;
  }
  while (at != end) {
    int number = 0;
    const auto [after, fault] = std::from_chars(at, end, number);
    if (fault != std::errc()) {
      break;
    }
    numbers.push_back(number);
    at = after;
    if (at == end || *at != '.') {
      break;
    }
    ++at;
  }
  while (!numbers.empty() && numbers.back() == 0) {
    numbers.pop_back();  // 1.0 and 1.0.0 are one
  }
  return numbers;
}

std::string version_of(const DatedPreset& preset) {
  return preset.name.substr(preset.name.find('-') + 1);
}

}  // namespace

std::optional<PresetChoice> preset_for(const MeasuredEngine& engine, std::span<const DatedPreset> presets) {
  std::vector<DatedPreset> own;
  for (const DatedPreset& preset : presets) {
    if (preset.name.substr(0, preset.name.find('-')) == engine.name) {
      own.push_back(preset);
    }
  }
  if (own.empty()) {
    return std::nullopt;
  }
  std::stable_sort(own.begin(), own.end(), [](const DatedPreset& a, const DatedPreset& b) {
    return numbers_of(version_of(a)) < numbers_of(version_of(b));
  });
  if (engine.version.empty() && engine.month.empty()) {
    return PresetChoice{own.back().name,
                        "which " + engine.name + " it was is not said; taken for " + own.back().name};
  }
  const auto is_later = [&](const DatedPreset& preset) {
    return engine.version.empty() ? preset.released.substr(0, engine.month.size()) > engine.month
                                  : numbers_of(version_of(preset)) > numbers_of(engine.version);
  };
  std::optional<PresetChoice> choice;
  for (const DatedPreset& preset : own) {
    if (!is_later(preset)) {
      choice = PresetChoice{preset.name, ""};
    }
  }
  if (!choice) {
    const std::string which = engine.version.empty() ? "of " + engine.month : engine.version;
    return PresetChoice{own.front().name, engine.name + " " + which +
                                              " is older than all presets; taken for " + own.front().name};
  }
  return choice;
}

std::vector<DatedPreset> shipped_presets() {
  std::vector<DatedPreset> presets;
  for (const std::string& name : engine_preset_names()) {
    presets.push_back({name, load_engine_preset(name).released});
  }
  return presets;
}

}  // namespace inferometer
