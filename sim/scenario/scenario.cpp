#include "sim/scenario/scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/data_path.hpp"
#include "costmodel/cost_options.hpp"
#include "sim/metrics/metric_definitions.hpp"
#include "sim/metrics/slo.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

constexpr int kMaxExtends = 16;

Table hardware_table() {
  Table table("hardware", "What one replica runs on");
  table.add("gpu", ValueType::text, "A built-in GPU, or a YAML file that describes one").required();
  table.add("tensor_parallel", ValueType::count, "GPUs over which every layer is split")
      .by_default("1")
      .range("1", "64");
  table.add("price", ValueType::price_rate, "Price of one GPU")
      .optional("the default of the GPU's description")
      .range("0 $/h", "1000 $/h");
  return table;
}

Table metrics_table() {
  Table table("metrics", "What results mean");
  table
      .add_choice("definitions", {kMetricDefinitionNames.begin(), kMetricDefinitionNames.end()},
                  "Whose definition of a metric holds where benchmarks differ")
      .by_default("vllm");
  return table;
}

/// Replaces `extends: FILE` by the contents of FILE below what the extending file says.
ConfigNode with_base(ConfigNode node, const std::string& directory, std::vector<std::string>& chain,
                     std::vector<Scenario::Input>& inputs) {
  ConfigNode* const extends = node.find("extends");
  if (extends == nullptr) {
    return node;
  }
  if (extends->kind != ConfigNode::Kind::scalar || extends->scalar.empty()) {
    throw ConfigError(extends->where, "extends names a file, e.g. \"extends: quickstart.yaml\"");
  }
  const std::filesystem::path base_path = std::filesystem::path(directory) / extends->scalar;
  const std::string canonical = std::filesystem::weakly_canonical(base_path).string();
  if (std::find(chain.begin(), chain.end(), canonical) != chain.end() || chain.size() >= kMaxExtends) {
    throw ConfigError(extends->where, "extends goes round in a circle, or through more than " +
                                          std::to_string(kMaxExtends) + " files: " + base_path.string());
  }
  chain.push_back(canonical);
  if (!std::filesystem::exists(base_path)) {
    throw ConfigError(extends->where, "extends: there is no file " + base_path.string());
  }
  inputs.push_back({extends->scalar, base_path.string()});
  ConfigNode base =
      with_base(read_yaml_file(base_path.string()), base_path.parent_path().string(), chain, inputs);
  std::erase_if(node.entries, [](const ConfigNode::Entry& entry) { return entry.key == "extends"; });
  overlay(base, node);
  base.where = node.where;
  return base;
}

/// A built-in name stays; anything that looks like a path starts from the scenario's folder.
std::string resolve(const std::string& name, const std::string& directory) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".json") ||
                       name.ends_with(".yaml") || name.ends_with(".yml");
  return is_path ? (std::filesystem::path(directory) / name).string() : name;
}

/// Loads what `key` names. What is wrong with the name itself is reported at its place in the scenario.
template <class Load>
auto load_named(const Values& section, const std::string& key, const std::string& directory,
                Diagnostics& diagnostics, Load load) -> std::optional<decltype(load(std::string()))> {
  const std::string name = resolve(section.text(key), directory);
  try {
    return load(name);
  } catch (const ConfigError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      const bool is_about_name = diagnostic.where.line == 0;
      diagnostics.add(is_about_name ? section.where(key) : diagnostic.where,
                      diagnostic.where.file.empty() || !is_about_name
                          ? diagnostic.message
                          : diagnostic.where.file + ": " + diagnostic.message);
    }
    return std::nullopt;
  }
}

Scenario::Input model_file(const std::string& name, const std::string& directory) {
  const std::string path = resolve(name, directory);
  if (!std::filesystem::exists(path)) {
    return {name, (data_directory("costmodel/models") / name / "config.json").string()};
  }
  return {name, std::filesystem::is_directory(path) ? path + "/config.json" : path};
}

Scenario::Input gpu_file(const std::string& name, const std::string& directory) {
  const std::string path = resolve(name, directory);
  return {name, std::filesystem::exists(path)
                    ? path
                    : (data_directory("hardware/gpus") / (name + ".yaml")).string()};
}

Scenario build(ConfigNode root, const std::string& file, const std::string& directory,
               const ScenarioOverrides& overrides, std::vector<Scenario::Input> inputs) {
  std::vector<std::string> chain{std::filesystem::weakly_canonical(file).string()};
  root = with_base(std::move(root), directory, chain, inputs);
  for (const std::string& assignment : overrides.assignments) {
    apply_override(root, assignment);
  }
  if (overrides.seed) {
    apply_override(root, "seed=" + std::to_string(*overrides.seed));
  }
  Diagnostics diagnostics;
  Scenario scenario;
  scenario.file = file;
  scenario.directory = directory;
  scenario.values = parse(scenario_table(policy_registry()), root, diagnostics);
  diagnostics.throw_if_any();
  scenario.slo = read_slo(scenario.values.section("slo"), diagnostics);
  std::optional<ModelSpec> model = load_named(scenario.values, "model", directory, diagnostics, load_model);
  std::optional<GpuSpec> gpu = load_named(scenario.hardware(), "gpu", directory, diagnostics, load_gpu);
  diagnostics.throw_if_any();
  scenario.model = std::move(*model);
  scenario.gpu = std::move(*gpu);
  scenario.inputs = std::move(inputs);
  scenario.inputs.push_back(model_file(scenario.values.text("model"), directory));
  scenario.inputs.push_back(gpu_file(scenario.hardware().text("gpu"), directory));
  if (scenario.hardware().has("price")) {
    scenario.gpu.price = scenario.hardware().price_rate("price");
  }
  return scenario;
}

}  // namespace

PolicyRegistry& policy_registry() {
  static PolicyRegistry registry = [] {
    PolicyRegistry builtin;
    register_builtin_policies(builtin);
    return builtin;
  }();
  return registry;
}

Table scenario_table(const PolicyRegistry& policies) {
  Table table("", "One run: a model on GPUs, an engine, traffic");
  table.add("extends", ValueType::text, "Another scenario file that this one changes")
      .optional("the file stands alone");
  table.add("description", ValueType::text, "What the scenario is about").optional("none");
  table.add("model", ValueType::text, "A built-in model, or a path to a Hugging Face config.json").required();
  table.add_section("hardware", hardware_table(), "What one replica runs on").required();
  table.add_section("engine", engine_table(policies), "How requests are batched");
  table.add_section("cost_model", cost_model_table(), "How steps are priced");
  table.add_section("workload", workload_table(), "Where requests come from").required();
  table.add_section("slo", slo_table(), "Latencies that must be met");
  table.add_section("metrics", metrics_table(), "What results mean");
  table.add("seed", ValueType::count, "Start of all random streams").by_default("1").range("0");
  return table;
}

Scenario load_scenario(const std::string& path, const ScenarioOverrides& overrides) {
  return build(read_yaml_file(path), path, std::filesystem::path(path).parent_path().string(), overrides,
               {{std::filesystem::path(path).filename().string(), path}});
}

Scenario load_scenario_text(std::string_view text, const std::string& name, const std::string& directory,
                            const ScenarioOverrides& overrides) {
  return build(read_yaml_text(text, name), name, directory, overrides, {});
}

}  // namespace inferometer
