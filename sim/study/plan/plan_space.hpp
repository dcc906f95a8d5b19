#pragma once

// The candidates of a plan: every combination of the dimensions' values is a shape, and each shape comes in
// sizes.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/plan/plan_spec.hpp"

namespace inferometer {

struct Shape {
  std::string name;  ///< values of the dimensions that have several: "h100-sxm, tensor_parallel 2"
  std::vector<std::pair<std::string, std::string>> values;  ///< by dimension, those that count here
  std::vector<std::size_t> choice;                          ///< place of its value, by dimension
  UnitSplit split;
};

struct PlanSpace {
  std::vector<Shape> shapes;
  StudyBook book;  ///< a case for each shape, of one unit, in the same order
  /// Runs of a deployment that say something of their own: the study's seeds, or one where another seed gives
  /// the same traffic.
  std::int64_t seeds = 1;
};

/// Expands the candidates and loads each shape once. Values of dimensions that count only for disaggregated
/// candidates make no difference to the others, which appear once. Throws ConfigError: more than 20,000
/// combinations; a value with which no shape can be read, which is a mistake in the value; no SLO; a price of
/// a GPU that is none; traffic without a rate.
PlanSpace make_plan_space(const PlanSpec& spec);

/// What makes `units` units of a shape, as after --set.
std::vector<std::string> size_assignments(const Shape& shape, std::int64_t units);

/// What puts a scenario under `factor` times its traffic. Throws ConfigError for traffic without a rate.
std::vector<std::string> rate_assignments(const Scenario& scenario, double factor);

/// What so many units of the scenario's pools amount to. `scenario` is of one unit.
Size size_of(const Scenario& scenario, std::int64_t units, Objective objective);

}  // namespace inferometer
