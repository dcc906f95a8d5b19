#include "workloads/presets.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/config/config_node.hpp"
#include "base/config/table.hpp"
#include "base/data_path.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"

namespace inferometer {

namespace {

constexpr const char* kFolder = "workloads/presets";
constexpr const char* kSuffix = ".yaml";

Table preset_table() {
  Table fit("fit", "How far the fit is from the trace");
  for (const char* lengths : {"prompt", "output"}) {
    const std::string name = lengths;
    fit.add(name + "_distance", ValueType::number, "Largest distance of the distribution functions")
        .required()
        .range("0", "1");
    fit.add(name + "_mean_error", ValueType::number, "Relative error of the mean").required();
  }
  Table table("preset", "Traffic fitted from a trace");
  table.add("summary", ValueType::text, "One line").required();
  table.add("source", ValueType::text, "Where the trace is from").required();
  table.add("licence", ValueType::text, "Of the trace").required();
  table.add("date", ValueType::text, "When the traffic was recorded or published").required();
  table.add("rows", ValueType::count, "Requests in the trace").required().range("1");
  table.add_section("fit", std::move(fit), "How far the fit is from the trace").required();
  table.add("burstiness", ValueType::number, "Shape of gamma gaps").required().above("0");
  table.add("length_correlation", ValueType::number, "Spearman's, of prompt and output")
      .required()
      .range("-1", "1");
  table.add_list("probabilities", ValueType::number, "Of the quantiles below").required().range("0", "1");
  const std::string longest = std::to_string(kLongestLength);
  table.add_list("prompt", ValueType::number, "Quantiles of prompt tokens").required().range("1", longest);
  table.add_list("output", ValueType::number, "Quantiles of output tokens").required().range("1", longest);
  return table;
}

std::shared_ptr<const LengthDistribution> quantiles(const Values& values, const char* key,
                                                    Diagnostics& diagnostics) {
  const std::string mistake = quantile_mistake(values.numbers("probabilities"), values.numbers(key));
  if (!mistake.empty()) {
    diagnostics.add(values.where(key), mistake);
    return nullptr;
  }
  return make_quantile_length(values.numbers("probabilities"), values.numbers(key));
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(data_directory(kFolder))) {
    if (entry.path().extension() == kSuffix) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string preset_file(const std::string& name) {
  return (data_directory(kFolder) / (name + kSuffix)).string();
}

Preset load_preset(const std::string& name) {
  const std::vector<std::string> known = preset_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw ConfigError(Position{kFolder}, "unknown preset \"" + name + "\": expected " +
                                             join_alternatives(known) + did_you_mean(name, known));
  }
  Diagnostics diagnostics;
  const Values values = parse(preset_table(), read_yaml_file(preset_file(name)), diagnostics);
  diagnostics.throw_if_any();
  Preset preset;
  preset.name = name;
  preset.summary = values.text("summary");
  preset.source = values.text("source");
  preset.licence = values.text("licence");
  preset.date = values.text("date");
  preset.burstiness = values.number("burstiness");
  preset.length_correlation = values.number("length_correlation");
  preset.prompt = quantiles(values, "prompt", diagnostics);
  preset.output = quantiles(values, "output", diagnostics);
  diagnostics.throw_if_any();
  return preset;
}

std::string describe_presets() {
  std::string text;
  for (const std::string& name : preset_names()) {
    const Preset preset = load_preset(name);
    text += name + "\n  " + preset.summary + "\n  from " + preset.source + ", " + preset.licence + "\n";
  }
  return text;
}

}  // namespace inferometer
