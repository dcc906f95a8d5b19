#include "sim/scenario/scenario.hpp"

#include <filesystem>
#include <utility>

#include "base/config/path_text.hpp"
#include "base/data_path.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "hardware/profile.hpp"
#include "sim/metrics/metric_definitions.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/scenario/scenario_layers.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

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
  table
      .add_choice(
          "percentiles", {kPercentilesNames.begin(), kPercentilesNames.end()},
          "What percentiles are read off: exact keeps every value (32 bytes a request, 8 or 16 a change of "
          "the batch), sketch counts them in constant memory, and each percentile and median is within "
          "1/512 (0.2 %) of the exact one; requests.csv keeps its records with either")
      .by_default("exact");
  return table;
}

Table uncertainty_table() {
  Table table("uncertainty", "Intervals around the results");
  table
      .add(
          "runs", ValueType::count,
          "So many further runs, each with other errors drawn from those that the measured kernels' prices "
          "had "
          "on shapes left out of their fit, give every result its 5 to 95 % interval; 0 (no intervals), or 8 "
          "and "
          "more")
      .by_default("0")
      .range("0", "1000");
  return table;
}

void check_uncertainty(const Values& values, Diagnostics& diagnostics) {
  constexpr std::int64_t kFewestRuns = 8;
  const Values& uncertainty = values.section("uncertainty");
  const std::int64_t runs = uncertainty.count("runs");
  if (runs == 0) {
    return;
  }
  if (runs < kFewestRuns) {
    diagnostics.add(uncertainty.where("runs"),
                    "uncertainty.runs: " + std::to_string(runs) +
                        " is too few for an interval; it must be 0 (no intervals) or at least " +
                        std::to_string(kFewestRuns));
  }
  const CostLevel level = cost_options_from(values.section("cost_model")).level;
  if (level != CostLevel::calibrated) {
    diagnostics.add(uncertainty.where("runs"),
                    "uncertainty.runs needs cost_model.level calibrated, whose kernels have measured errors; "
                    "level " +
                        std::string(to_string(level)) + " has none");
  }
}

/// Loads what `key` names. What is wrong with the name itself is reported at its place in the scenario.
template <class Load>
auto load_named(const Values& section, const std::string& key, Diagnostics& diagnostics, Load load)
    -> std::optional<decltype(load(std::string()))> {
  try {
    return load(path_or_name(section, key));
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

Scenario::Input model_file(const Values& values) {
  const std::string path = path_or_name(values, "model");
  if (!std::filesystem::exists(path)) {
    return {path, (data_directory("costmodel/models") / path / "config.json").string()};
  }
  return {values.text("model"), std::filesystem::is_directory(path) ? path + "/config.json" : path};
}

Scenario::Input gpu_file(const Values& hardware) {
  const std::string path = path_or_name(hardware, "gpu");
  return {hardware.text("gpu"), std::filesystem::exists(path)
                                    ? path
                                    : (data_directory("hardware/gpus") / (path + ".yaml")).string()};
}

/// A run reads its trace again, for the hash in the results and for each further run of a study.
Scenario::Input trace_file(const Scenario& scenario) {
  const std::string& name = scenario.workload().text("trace");
  std::string path = (std::filesystem::path(scenario.trace_directory()) / name).string();
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && std::filesystem::is_other(status)) {
    throw ConfigError(scenario.workload().where("trace"),
                      "workload.trace must be a file that can be read twice; " + name +
                          " is a pipe or a device (inferometer workload convert makes a file of it)");
  }
  return {name, std::move(path)};
}

Scenario build(ConfigNode root, const std::string& file, const std::string& directory,
               const ScenarioOverrides& overrides) {
  const Table table = scenario_table(policy_registry());
  ScenarioLayers layers = stack_layers(std::move(root), file, directory, overrides, table);
  Diagnostics diagnostics;
  Scenario scenario;
  scenario.file = file;
  scenario.values = parse(table, layers.tree, diagnostics);
  diagnostics.throw_if_any();
  scenario.slo = read_slo(scenario.values.section("slo"), diagnostics);
  check_uncertainty(scenario.values, diagnostics);
  std::optional<ModelSpec> model = load_named(scenario.values, "model", diagnostics, load_model);
  std::optional<GpuSpec> gpu = load_named(scenario.hardware(), "gpu", diagnostics, load_gpu);
  diagnostics.throw_if_any();
  scenario.gpu = std::move(*gpu);
  scenario.model = quantized(std::move(*model), scenario.gpu, scenario.engine().text("quantization"),
                             scenario.engine().text("kv_cache_dtype"));
  if (scenario.hardware().has("price")) {
    scenario.gpu.price = scenario.hardware().price_rate("price");
  }
  scenario.notes = std::move(layers.notes);
  scenario.inputs = std::move(layers.extended);
  scenario.inputs.push_back(model_file(scenario.values));
  scenario.inputs.push_back(gpu_file(scenario.hardware()));
  const std::string profile = profile_file(scenario.gpu.name);
  scenario.inputs.push_back({"profile " + std::filesystem::path(profile).stem().string(), profile});
  const CostOptions cost = cost_options_from(scenario.values.section("cost_model"));
  const auto kernels = kernel_profile_file(scenario.gpu.name, cost);
  if (cost.level == CostLevel::calibrated && kernels) {
    const std::string shipped = scenario.gpu.name + "/" + cost.kernels;
    scenario.inputs.push_back(
        {"profile " + (cost.kernel_profile.empty() ? shipped : cost.kernel_profile), *kernels});
  }
  if (scenario.workload().has("trace")) {
    scenario.inputs.push_back(trace_file(scenario));
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
  table.add_section("uncertainty", uncertainty_table(), "Intervals around the results");
  table.add("seed", ValueType::count, "Start of all random streams").by_default("1").range("0");
  return table;
}

std::string Scenario::trace_directory() const {
  return directory_of(workload(), "trace");
}

Scenario load_scenario(const std::string& path, const ScenarioOverrides& overrides) {
  Scenario scenario =
      build(read_yaml_file(path), path, std::filesystem::path(path).parent_path().string(), overrides);
  scenario.inputs.insert(scenario.inputs.begin(), {std::filesystem::path(path).filename().string(), path});
  return scenario;
}

Scenario load_scenario_text(std::string_view text, const std::string& name,
                            const ScenarioOverrides& overrides) {
  return build(read_yaml_text(text, name), name, std::filesystem::path(name).parent_path().string(),
               overrides);
}

}  // namespace inferometer
