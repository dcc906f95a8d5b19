#include "sim/scenario/scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/config/path_text.hpp"
#include "base/data_path.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "hardware/profile.hpp"
#include "sim/metrics/metric_definitions.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/scenario/cluster_table.hpp"
#include "sim/scenario/disaggregation.hpp"
#include "sim/scenario/load_named.hpp"
#include "sim/scenario/load_plugin.hpp"
#include "sim/scenario/plugin_hint.hpp"
#include "sim/scenario/pool_layers.hpp"
#include "sim/scenario/preset_layers.hpp"
#include "sim/scenario/scenario_layers.hpp"
#include "sim/scheduler/engine_preset.hpp"
#include "workloads/presets.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

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

Table sensitivity_table() {
  Table table("sensitivity", "How far latencies move when steps take longer or shorter");
  table
      .add("step_time", ValueType::number,
           "Two further runs with the same traffic, in which all steps take this share of their time longer "
           "and "
           "shorter, tell how far each latency moves; 0: none")
      .optional("0.05 in runs of at most 200,000 requests, else 0")
      .range("0", "0.5");
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

/// Of a section that names a model: the scenario's, or one that drafts for it.
Scenario::Input model_file(const Values& values) {
  const std::string path = path_or_name(values, "model");
  if (!std::filesystem::exists(path)) {
    return {path, (data_directory("costmodel/models") / path / "config.json").string()};
  }
  return {values.text("model"), std::filesystem::is_directory(path) ? path + "/config.json" : path};
}

/// A built-in thing's own file, or the file that `path` names; `name` is what the scenario calls it.
Scenario::Input data_file(const std::string& name, const std::string& path, const std::string& folder) {
  return {name, std::filesystem::exists(path) ? path : (data_directory(folder) / (path + ".yaml")).string()};
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

void add_input(Scenario::Input input, std::vector<Scenario::Input>& inputs) {
  const bool is_new = std::none_of(inputs.begin(), inputs.end(),
                                   [&](const Scenario::Input& each) { return each.path == input.path; });
  if (is_new) {
    inputs.push_back(std::move(input));
  }
}

/// A GPU and what its prices come from.
void add_gpu_inputs(const Scenario& scenario, const PoolSpec& pool, std::vector<Scenario::Input>& inputs) {
  const Values& hardware = scenario.hardware();
  const std::string role(to_string(pool.role));
  const bool is_own = scenario.values.has("cluster") &&
                      scenario.values.section("cluster").section("pools").has(role) &&
                      scenario.values.section("cluster").section("pools").section(role).has("gpu");
  const Values& section =
      is_own ? scenario.values.section("cluster").section("pools").section(role) : hardware;
  add_input(data_file(section.text("gpu"), path_or_name(section, "gpu"), "hardware/gpus"), inputs);
  const std::string profile = profile_file(pool.gpu.name);
  add_input({"profile " + std::filesystem::path(profile).stem().string(), profile}, inputs);
  const CostOptions cost = cost_options_of(pool);
  const auto kernels = kernel_profile_file(pool.gpu.name, cost);
  if (cost.level == CostLevel::calibrated && kernels) {
    const std::string shipped = pool.gpu.name + "/" + cost.kernels;
    add_input({"profile " + (cost.kernel_profile.empty() ? shipped : cost.kernel_profile), *kernels}, inputs);
  }
}

/// Where policies and routers come from, if from outside.
void add_plugins(const Scenario& scenario, std::vector<Scenario::Input>& inputs) {
  const auto add = [&](const std::string& plugin) {
    if (!plugin.empty()) {
      add_input({"plugin " + std::filesystem::path(plugin).filename().string(), plugin}, inputs);
    }
  };
  for (const PoolSpec& pool : scenario.pools) {
    add(plugin_of_policy(pool.engine.text("policy")));
  }
  for (const char* router : {"router", "prefill_router", "decode_router"}) {
    if (scenario.values.has("cluster") && scenario.values.section("cluster").has(router)) {
      add(plugin_of_router(scenario.values.section("cluster").section(router).text("policy")));
    }
  }
}

std::vector<Scenario::Input> inputs_of(const Scenario& scenario) {
  std::vector<Scenario::Input> inputs;
  inputs.push_back(model_file(scenario.values));
  for (const PoolSpec& pool : scenario.pools) {
    if (pool.speculation && pool.speculation->drafter.method == DraftMethod::draft_model) {
      add_input(model_file(pool.engine.section("speculation")), inputs);
    }
    add_gpu_inputs(scenario, pool, inputs);
    if (pool.engine.has("preset")) {
      const std::string& name = pool.engine.text("preset");
      add_input({"engine preset " + name, engine_preset_file(name)}, inputs);
    }
  }
  if (scenario.nodes) {
    for (const std::string& name : scenario.nodes->descriptions) {
      add_input(data_file(std::filesystem::path(name).filename().string(), name, "hardware/clusters"),
                inputs);
    }
  }
  add_plugins(scenario, inputs);
  for (const char* key : {"preset", "lengths"}) {
    if (scenario.workload().has(key)) {
      const std::string& name = scenario.workload().text(key);
      add_input({"preset " + name, preset_file(name)}, inputs);
    }
  }
  if (scenario.workload().has("trace")) {
    inputs.push_back(trace_file(scenario));
  }
  return inputs;
}

/// Everything that a scenario names, and pools and nodes as it wants them.
void load_parts(Scenario& scenario, Diagnostics& diagnostics) {
  std::optional<ModelSpec> model = load_named(scenario.values, "model", diagnostics, load_model);
  std::optional<GpuSpec> gpu = load_named(scenario.hardware(), "gpu", diagnostics, load_gpu);
  scenario.pools = read_pools(scenario.values, model.value_or(ModelSpec()), diagnostics);
  diagnostics.throw_if_any();
  scenario.gpu = std::move(*gpu);
  scenario.model = quantized(std::move(*model), scenario.gpu, scenario.engine().text("quantization"),
                             scenario.engine().text("kv_cache_dtype"));
  if (scenario.hardware().has("price")) {
    scenario.gpu.price = scenario.hardware().price_rate("price");
  }
  if (needs_cluster_hardware(scenario.values, scenario.pools)) {
    scenario.nodes = read_cluster_hardware(scenario.values, scenario.pools, diagnostics);
    diagnostics.throw_if_any();
  }
}

Scenario build(ConfigNode root, const std::string& file, const std::string& directory,
               const ScenarioOverrides& overrides) {
  const Table table = scenario_table(policy_registry());
  ScenarioLayers layers = stack_layers(std::move(root), file, directory, overrides, table);
  const std::vector<std::string> preset_notes = lay_engine_presets(layers.tree, policy_registry());
  const PoolLayers pool_layers = lay_below_pools(layers.tree, policy_registry());
  Diagnostics found;
  Scenario scenario;
  scenario.file = file;
  scenario.values = parse(table, layers.tree, found);
  Diagnostics diagnostics = with_plugin_hints(told_once(found, pool_layers), layers.tree);
  diagnostics.throw_if_any();
  scenario.slo = read_slo(scenario.values.section("slo"), diagnostics);
  check_uncertainty(scenario.values, diagnostics);
  load_parts(scenario, diagnostics);
  scenario.notes = std::move(layers.notes);
  scenario.notes.insert(scenario.notes.end(), preset_notes.begin(), preset_notes.end());
  scenario.notes.insert(scenario.notes.end(), pool_layers.notes.begin(), pool_layers.notes.end());
  scenario.inputs = std::move(layers.extended);
  for (Scenario::Input& input : inputs_of(scenario)) {
    add_input(std::move(input), scenario.inputs);
  }
  return scenario;
}

/// A study gets one answer instead of many about its keys.
void refuse_studies(const ConfigNode& root, const std::string& file) {
  for (const auto& [key, command] : {std::pair("variants", "compare"), std::pair("candidates", "plan")}) {
    if (root.find("base") != nullptr && root.find(key) != nullptr) {
      throw ConfigError({file, 0, 0},
                        "is a study, which \"inferometer " + std::string(command) + "\" carries out");
    }
  }
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

RouterRegistry& router_registry() {
  static RouterRegistry registry = [] {
    RouterRegistry builtin;
    register_builtin_routers(builtin);
    return builtin;
  }();
  return registry;
}

Table scenario_table(const PolicyRegistry& policies, const RouterRegistry& routers) {
  Table table("", "One run: a model on GPUs, an engine, traffic");
  table.add("extends", ValueType::text, "Another scenario file that this one changes")
      .optional("the file stands alone");
  table.add("description", ValueType::text, "What the scenario is about").optional("none");
  table.add("model", ValueType::text, "A built-in model, or a path to a Hugging Face config.json").required();
  table.add_section("hardware", hardware_table(), "What one replica runs on").required();
  table.add_section("engine", engine_table(policies, disaggregation_split(policies)),
                    "How requests are batched");
  table
      .add_section("cluster", cluster_table(policies, routers),
                   "Several replicas, what joins them and what befalls them")
      .optional("one replica on its own");
  table.add_section("cost_model", cost_model_table(), "How steps are priced");
  table.add_section("workload", workload_table(), "Where requests come from").required();
  table.add_section("slo", slo_table(), "Latencies that must be met");
  table.add_section("metrics", metrics_table(), "What results mean");
  table.add_section("uncertainty", uncertainty_table(), "Intervals around the results");
  table.add_section("sensitivity", sensitivity_table(), "How far latencies move with the time of steps");
  table.add("seed", ValueType::count, "Start of all random streams").by_default("1").range("0");
  return table;
}

std::string Scenario::trace_directory() const {
  return directory_of(workload(), "trace");
}

Scenario load_scenario(const std::string& path, const ScenarioOverrides& overrides) {
  ConfigNode root = read_yaml_file(path);
  refuse_studies(root, path);
  Scenario scenario =
      build(std::move(root), path, std::filesystem::path(path).parent_path().string(), overrides);
  scenario.inputs.insert(scenario.inputs.begin(), {std::filesystem::path(path).filename().string(), path});
  return scenario;
}

Scenario load_scenario_tree(const ConfigNode& tree, const std::string& file,
                            const ScenarioOverrides& overrides) {
  return build(tree, file, std::filesystem::path(file).parent_path().string(), overrides);
}

Scenario load_scenario_text(std::string_view text, const std::string& name,
                            const ScenarioOverrides& overrides) {
  return build(read_yaml_text(text, name), name, std::filesystem::path(name).parent_path().string(),
               overrides);
}

}  // namespace inferometer
