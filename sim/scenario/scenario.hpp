#pragma once

// A scenario file: everything one run needs, read strictly, with all defaults filled in.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config/table.hpp"
#include "costmodel/model_spec.hpp"
#include "hardware/gpu_spec.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/router/router.hpp"
#include "sim/scenario/cluster_hardware.hpp"
#include "sim/scenario/pool_spec.hpp"
#include "sim/scheduler/batch_policy.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// The built-in batch policies; before loading a scenario, load_plugin() adds others, and you may here.
PolicyRegistry& policy_registry();

/// The built-in routers, likewise.
RouterRegistry& router_registry();

/// The top of a scenario file, with all its sections.
Table scenario_table(const PolicyRegistry& policies, const RouterRegistry& routers = router_registry());

struct Scenario {
  std::string file;  ///< as the user named it
  Values values;     ///< parsed by scenario_table()
  SloTargets slo;
  ModelSpec model;                       ///< in the number formats of `engine`
  GpuSpec gpu;                           ///< of `hardware`, with the scenario's price, when it gives one
  std::vector<PoolSpec> pools;           ///< replicas of one kind each: at least one pool
  std::optional<ClusterHardware> nodes;  ///< that the pools stand on; absent for one replica in one node
  std::vector<std::string> notes;        ///< what the user should know of how the file was understood
  /// Replayed in place of the file that `workload.trace` names, when given; as make_listed_workload() takes
  /// them.
  std::shared_ptr<const std::vector<Request>> listed_requests;

  /// Files it was read from, under the names it uses for them: itself, what it extends, model, GPUs, their
  /// profiles, clusters, plugins of its policies, the presets of its traffic, its trace.
  struct Input {
    std::string name, path;
  };
  std::vector<Input> inputs;

  [[nodiscard]] const Values& hardware() const { return values.section("hardware"); }
  [[nodiscard]] const Values& engine() const { return values.section("engine"); }
  [[nodiscard]] const Values& workload() const { return values.section("workload"); }
  [[nodiscard]] std::int64_t tensor_parallel() const { return hardware().count("tensor_parallel"); }
  [[nodiscard]] std::uint64_t seed() const { return static_cast<std::uint64_t>(values.count("seed")); }
  /// How many runs are to stand behind uncertainty intervals; 0 for none.
  [[nodiscard]] std::int64_t uncertainty_runs() const { return values.section("uncertainty").count("runs"); }
  /// Where the relative path of a trace starts.
  [[nodiscard]] std::string trace_directory() const;
};

/// Changes that something lays over a scenario.
struct ScenarioLayer {
  std::string cause;                    ///< who, for notes: "variant chunk512"
  ConfigNode tree;                      ///< a map like a scenario's, with what differs
  std::vector<std::string> replaced{};  ///< dotted paths of sections that leave with all they say before
  std::vector<std::string> notes{};     ///< what the user should know of how the layer came about
};

/// What a study, then the command line lays over the file.
struct ScenarioOverrides {
  std::vector<std::string> assignments;  ///< "path.to.key=value", in order
  std::optional<std::int64_t> seed;
  std::vector<ScenarioLayer> layers{};  ///< of a study, laid before the assignments
  /// Laid between the two, and made of the tree that it is laid over: an engine's own command line.
  std::function<ScenarioLayer(const ConfigNode& below)> engine_command{};
};

/// Reads `path` and what it extends. Throws ConfigError with every mistake of the files at once; then, for
/// names of models and GPUs that are not known, likewise.
Scenario load_scenario(const std::string& path, const ScenarioOverrides& overrides = {});

/// The same for what was read of a file already, or of a part of one. `file` as the user named it, whose
/// folder relative paths start from.
Scenario load_scenario_tree(const ConfigNode& tree, const std::string& file,
                            const ScenarioOverrides& overrides = {});

/// The same for text in memory; `name` stands for the file, in messages and as the start of relative paths.
Scenario load_scenario_text(std::string_view text, const std::string& name,
                            const ScenarioOverrides& overrides = {});

}  // namespace inferometer
