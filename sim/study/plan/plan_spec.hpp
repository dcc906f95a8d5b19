#pragma once

// A plan study as its file says it: `inferometer plan STUDY`.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/config/table.hpp"
#include "sim/study/plan/plan_result.hpp"
#include "sim/study/study_book.hpp"

namespace inferometer {

/// A thing that candidates differ in.
struct Dimension {
  std::string name;                  ///< as the study calls it: "gpu"
  std::string path;                  ///< the scenario's key: "hardware.gpu"
  std::vector<ConfigNode> values;    ///< at least one
  bool is_of_disaggregated = false;  ///< of a pool for prefill or decode: means nothing where there is none
};

/// Prefill and decode replicas that make a unit; none of either for a unit of one mixed replica.
struct UnitSplit {
  std::int64_t prefill = 0, decode = 0;

  [[nodiscard]] bool is_disaggregated() const { return prefill > 0; }
};

struct PlanLimits {
  std::optional<std::int64_t> gpus;
  std::optional<double> watts, dollars_per_hour;
};

enum class SearchGoal { cheapest, front };
enum class SustainedOf { none, answer, front, all };

struct PlanSpec {
  std::string file;
  Values values;
  StudyBase base;
  std::vector<ScenarioLayer> common;  ///< traffic and SLO, over the base, for all candidates
  std::vector<Dimension> dimensions;
  std::vector<UnitSplit> splits;         ///< of disaggregated candidates
  std::vector<std::int64_t> units;       ///< sizes, ascending
  std::map<std::string, double> prices;  ///< dollars per GPU-hour, by name of the GPU
  PlanLimits limits;
  double growth = 1;
  std::int64_t seeds = 1;
  double failed_max = 0;
  Objective objective = Objective::dollars_per_hour;
  SearchGoal goal = SearchGoal::cheapest;
  SustainedOf sustained = SustainedOf::answer;
  double tolerance = 0;
  bool prune = true;
  bool sensitivity = true;
};

/// The top of a plan's file. `candidates` is described by candidates_help().
Table plan_table();

/// What `candidates` may say, for `describe plan`.
std::string candidates_help();

/// Reads a study. `assignments` are laid over the base, as after --set. Throws ConfigError with every mistake
/// of the file.
PlanSpec read_plan(const std::string& path, const std::vector<std::string>& assignments);

/// The same for what was read of a file already.
PlanSpec read_plan_tree(const ConfigNode& root, const std::string& file,
                        const std::vector<std::string>& assignments);

}  // namespace inferometer
