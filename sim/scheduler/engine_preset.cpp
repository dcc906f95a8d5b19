#include "sim/scheduler/engine_preset.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/config/config_node.hpp"
#include "base/config/table.hpp"
#include "base/data_path.hpp"
#include "base/text.hpp"

namespace inferometer {
namespace {

constexpr const char* kFolder = "sim/presets";
constexpr const char* kSuffix = ".yaml";

Table setting_table() {
  Table table("setting", "One key of a scenario");
  table.add("set", ValueType::text, "The key, with its section").required();
  table.add("to", ValueType::text, "Its value").required();
  table.add("memory_from", ValueType::bytes, "Holds on GPUs of at least so much usable memory")
      .optional("on all");
  table.add("not_gpu", ValueType::text, "Does not hold on GPUs whose name begins so").optional("on all");
  table.add("unless_named", ValueType::text, "Does not hold where a scenario gives this key")
      .optional("always");
  table.add("source", ValueType::text, "Where it is from").required();
  return table;
}

Table preset_table() {
  Table table("preset", "Defaults of one version of a serving engine");
  table.add("summary", ValueType::text, "One line").required();
  table.add("released", ValueType::text, "Year and month of the version").required();
  table.add_section_list("settings", setting_table(), "What it says").required();
  return table;
}

std::string text_or_nothing(const Values& values, const char* key) {
  return values.has(key) ? values.text(key) : "";
}

EnginePreset::Setting setting_from(const Values& values) {
  return {values.text("set"),
          values.text("to"),
          values.has("memory_from") ? std::optional(values.bytes("memory_from")) : std::nullopt,
          text_or_nothing(values, "not_gpu"),
          text_or_nothing(values, "unless_named"),
          values.text("source")};
}

}  // namespace

bool EnginePreset::Setting::holds_on(const GpuSpec& gpu) const {
  const bool is_large = !memory_from || gpu.hbm_usable >= *memory_from;
  return is_large && (not_gpu.empty() || gpu.name.rfind(not_gpu, 0) != 0);
}

std::string EnginePreset::Setting::condition() const {
  std::string text = memory_from ? "on GPUs of at least " + to_text(Value::Scalar(*memory_from)) : "";
  if (!not_gpu.empty()) {
    text += (text.empty() ? "on GPUs" : "") + std::string(" but not ") + not_gpu;
  }
  if (!unless_named.empty()) {
    text += (text.empty() ? "" : ", ") + std::string("unless ") + unless_named + " is given";
  }
  return text;
}

std::vector<std::string> engine_preset_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(data_directory(kFolder))) {
    if (entry.path().extension() == kSuffix) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string engine_preset_file(const std::string& name) {
  return (data_directory(kFolder) / (name + kSuffix)).string();
}

EnginePreset load_engine_preset(const std::string& name) {
  Diagnostics diagnostics;
  const Values values = parse(preset_table(), read_yaml_file(engine_preset_file(name)), diagnostics);
  diagnostics.throw_if_any();
  EnginePreset preset{name, values.text("summary"), values.text("released"), {}};
  for (const Values* setting : values.sections("settings")) {
    preset.settings.push_back(setting_from(*setting));
  }
  return preset;
}

std::string describe_engine_presets() {
  std::vector<std::vector<std::string>> rows{{"preset", "released", "what it is"}};
  for (const std::string& name : engine_preset_names()) {
    const EnginePreset preset = load_engine_preset(name);
    rows.push_back({name, preset.released, preset.summary});
  }
  return align_columns(rows, 3) +
         "\nChosen by `engine: {preset: NAME}`, below whatever else a scenario says. What one says, and "
         "where "
         "that is\nfrom: inferometer describe NAME\n";
}

std::string describe_engine_preset(const std::string& name) {
  const EnginePreset preset = load_engine_preset(name);
  std::string text = name + ": " + preset.summary + ", released " + preset.released + "\n\n";
  for (const EnginePreset::Setting& setting : preset.settings) {
    const std::string condition = setting.condition();
    text += setting.key + ": " + setting.value + (condition.empty() ? "" : "   (" + condition + ")") +
            "\n    " + setting.source + "\n";
  }
  return text + "\nOf several values for one key the last that holds on the GPU counts.\n";
}

}  // namespace inferometer
