#include "sim/study/plan/plan_space.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "hardware/gpu_spec.hpp"
#include "sim/scenario/disaggregation.hpp"
#include "sim/study/seed_use.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kMostShapes = 20'000;

ConfigNode scalar_node(std::string text, const Position& where) {
  ConfigNode node;
  node.kind = ConfigNode::Kind::scalar;
  node.scalar = std::move(text);
  node.where = where;
  return node;
}

/// `path: value` as a map of maps.
ConfigNode tree_of(const std::string& path, ConfigNode value) {
  ConfigNode map;
  map.kind = ConfigNode::Kind::map;
  map.where = value.where;
  map.entries.push_back({path, value.where, std::move(value)});
  return opened_paths(map);
}

/// What a value of a dimension is called: variants have a name of their own.
std::string value_text(const Dimension& dimension, std::size_t place) {
  const ConfigNode& value = dimension.values[place];
  return dimension.path.empty() ? value.entries.front().key : value.scalar;
}

ConfigNode value_tree(const Dimension& dimension, std::size_t place) {
  const ConfigNode& value = dimension.values[place];
  return dimension.path.empty() ? value.entries.front().value : tree_of(dimension.path, value);
}

/// "tensor_parallel 2"; words speak for themselves.
std::string label(const Dimension& dimension, const std::string& text) {
  const bool is_word = text.find_first_not_of("0123456789.") != std::string::npos && text != "true" &&
                       text != "false" && !dimension.is_of_disaggregated;
  const std::size_t dot = dimension.name.rfind('.');
  const bool keeps_pool = dimension.is_of_disaggregated || dot == std::string::npos;
  return is_word ? text : (keeps_pool ? dimension.name : dimension.name.substr(dot + 1)) + " " + text;
}

class Expansion {
 public:
  explicit Expansion(const PlanSpec& spec) : spec_(spec) {
    ScenarioOverrides common;
    common.layers = spec.common;
    base_policy_ = load_scenario_tree(spec.base.tree, spec.base.file, common).engine().text("policy");
  }

  std::vector<Shape> shapes() {
    check_number();
    std::vector<std::size_t> choice(spec_.dimensions.size(), 0);
    do {
      add(choice);
    } while (advance(choice));
    return std::move(shapes_);
  }

 private:
  void check_number() const {
    std::size_t number = spec_.splits.size();
    for (const Dimension& dimension : spec_.dimensions) {
      number *= dimension.values.size();
      if (number > kMostShapes) {
        throw ConfigError(
            spec_.values.where("candidates"),
            fmt::format("candidates: more than {} combinations of values; leave some out", kMostShapes));
      }
    }
  }

  /// Like a counter whose last digit turns first.
  bool advance(std::vector<std::size_t>& choice) const {
    for (std::size_t i = choice.size(); i-- > 0;) {
      if (++choice[i] < spec_.dimensions[i].values.size()) {
        return true;
      }
      choice[i] = 0;
    }
    return false;
  }

  void add(const std::vector<std::size_t>& choice) {
    if (policy_of(choice) == kDisaggregated) {
      for (const UnitSplit& split : spec_.splits) {
        shapes_.push_back(shape(choice, split));
      }
      return;
    }
    for (std::size_t i = 0; i < choice.size(); ++i) {
      if (spec_.dimensions[i].is_of_disaggregated && choice[i] > 0) {
        return;
      }
    }
    shapes_.push_back(shape(choice, {}));
  }

  std::string policy_of(const std::vector<std::size_t>& choice) const {
    std::string policy = base_policy_;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      const ConfigNode tree = value_tree(spec_.dimensions[i], choice[i]);
      const ConfigNode* const engine = tree.find("engine");
      const ConfigNode* const chosen = engine == nullptr ? nullptr : engine->find("policy");
      policy = chosen == nullptr ? policy : chosen->scalar;
    }
    return policy;
  }

  Shape shape(const std::vector<std::size_t>& choice, const UnitSplit& split) const {
    Shape shape;
    shape.choice = choice;
    shape.split = split;
    const auto name = [&](const std::string& part) { shape.name += (shape.name.empty() ? "" : ", ") + part; };
    for (std::size_t i = 0; i < choice.size(); ++i) {
      const Dimension& dimension = spec_.dimensions[i];
      if (dimension.is_of_disaggregated && !split.is_disaggregated()) {
        continue;
      }
      const std::string text = value_text(dimension, choice[i]);
      shape.values.emplace_back(dimension.name, text);
      if (dimension.values.size() > 1) {
        name(label(dimension, text));
      }
    }
    if (split.is_disaggregated()) {
      shape.values.emplace_back("split", fmt::format("{}:{}", split.prefill, split.decode));
      if (spec_.splits.size() > 1) {
        name(fmt::format("split {}:{}", split.prefill, split.decode));
      }
    }
    if (shape.name.empty()) {
      shape.name = shape.values.empty() ? "the base" : shape.values.front().second;
    }
    return shape;
  }

  const PlanSpec& spec_;
  std::string base_policy_;
  std::vector<Shape> shapes_;
};

/// Pools of the other kind leave with all they say.
ScenarioLayer unit_layer(const Shape& shape, const Position& where) {
  ScenarioLayer layer{"candidates", {}, {}};
  layer.tree.kind = ConfigNode::Kind::map;
  layer.tree.where = where;
  const auto add = [&](const std::string& pool, std::int64_t replicas) {
    overlay(layer.tree,
            tree_of("cluster.pools." + pool + ".replicas", scalar_node(std::to_string(replicas), where)));
  };
  if (shape.split.is_disaggregated()) {
    layer.replaced = {"cluster.pools.mixed"};
    add("prefill", shape.split.prefill);
    add("decode", shape.split.decode);
  } else {
    layer.replaced = {"cluster.pools.prefill", "cluster.pools.decode"};
    add("mixed", 1);
  }
  return layer;
}

StudyCase case_of(const PlanSpec& spec, const Shape& shape) {
  StudyCase study_case{shape.name, spec.common};
  for (std::size_t i = 0; i < shape.choice.size(); ++i) {
    const Dimension& dimension = spec.dimensions[i];
    if (!dimension.is_of_disaggregated || shape.split.is_disaggregated()) {
      study_case.layers.push_back({"candidates", value_tree(dimension, shape.choice[i]), {}});
    }
  }
  study_case.layers.push_back(unit_layer(shape, spec.values.where("candidates")));
  return study_case;
}

/// Prices that the study gives, for the GPUs that a shape turns out to have.
void add_prices(const PlanSpec& spec, StudyCase& study_case) {
  if (spec.prices.empty()) {
    return;
  }
  ScenarioOverrides overrides;
  overrides.layers = study_case.layers;
  Scenario scenario;
  try {
    scenario = load_scenario_tree(spec.base.tree, spec.base.file, overrides);
  } catch (const ConfigError&) {
    return;  // told when the book loads it
  }
  for (const PoolSpec& pool : scenario.pools) {
    const auto price = spec.prices.find(pool.gpu.name);
    if (price != spec.prices.end()) {
      const std::string path = "cluster.pools." + std::string(to_string(pool.role)) + ".price";
      study_case.layers.push_back(
          {"prices",
           tree_of(path, scalar_node(fmt::format("{} $/h", price->second), spec.values.where("prices"))),
           {}});
    }
  }
}

std::optional<std::int64_t> first_readable(const PlanSpace& space) {
  for (std::int64_t shape = 0; shape < space.book.size(); ++shape) {
    if (space.book.mistakes(shape).empty()) {
      return shape;
    }
  }
  return std::nullopt;
}

/// All shapes have as many runs, those of one traffic.
bool depend_on_seed(const PlanSpace& space, std::int64_t readable) {
  bool draws = depends_on_seed(space.book.scenario(readable));
  for (std::int64_t shape = readable; shape < space.book.size() && !draws; ++shape) {
    draws = space.book.mistakes(shape).empty() && has_drawing_router(space.book.scenario(shape));
  }
  return draws;
}

/// What holds of the study whatever the shape: it asks for something, and its traffic can be scaled.
void check_question(const PlanSpec& spec, const Scenario& scenario) {
  if (scenario.slo.targets.empty() && !scenario.slo.goodput_min) {
    throw ConfigError({spec.file, 0, 0},
                      "a plan needs limits: give slo, e.g. \"slo: {ttft_p99: 500 ms, itl_p99: 50 ms}\"");
  }
  rate_assignments(scenario, spec.growth);
}

/// Where a value has none but shapes with mistakes, it is a mistake itself.
void check_values(const PlanSpec& spec, const PlanSpace& space) {
  Diagnostics diagnostics;
  for (std::size_t d = 0; d < spec.dimensions.size(); ++d) {
    for (std::size_t v = 0; v < spec.dimensions[d].values.size(); ++v) {
      bool is_readable = false;
      const std::vector<Diagnostic>* first = nullptr;
      for (std::size_t s = 0; s < space.shapes.size(); ++s) {
        if (space.shapes[s].choice[d] == v) {
          const auto& mistakes = space.book.mistakes(static_cast<std::int64_t>(s));
          is_readable = is_readable || mistakes.empty();
          first = first == nullptr && !mistakes.empty() ? &mistakes : first;
        }
      }
      if (!is_readable && first != nullptr) {
        for (const Diagnostic& mistake : *first) {
          diagnostics.add(mistake.where, mistake.message);
        }
      }
    }
  }
  diagnostics.throw_if_any();
  if (spec.dimensions.empty() && !space.book.mistakes(0).empty()) {
    throw ConfigError(space.book.mistakes(0));
  }
}

/// A price of what there is not is most likely a name misspelt. That of a GPU which no candidate has may
/// stand there.
void check_prices(const PlanSpec& spec, const PlanSpace& space) {
  if (spec.prices.empty()) {
    return;
  }
  std::vector<std::string> known = builtin_gpu_names();
  for (std::int64_t shape = 0; shape < space.book.size(); ++shape) {
    if (space.book.mistakes(shape).empty()) {
      for (const PoolSpec& pool : space.book.scenario(shape).pools) {
        known.push_back(pool.gpu.name);
      }
    }
  }
  Diagnostics diagnostics;
  for (const ConfigNode::Entry& entry : spec.values.tree("prices").entries) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      diagnostics.add(entry.where,
                      fmt::format("prices: there is no GPU \"{}\"{}; expected the name of a candidate's, "
                                  "or of one that is built in",
                                  entry.key, did_you_mean(entry.key, known)));
    }
  }
  diagnostics.throw_if_any();
}

}  // namespace

PlanSpace make_plan_space(const PlanSpec& spec) {
  std::vector<Shape> shapes = Expansion(spec).shapes();
  std::vector<StudyCase> cases;
  for (const Shape& shape : shapes) {
    cases.push_back(case_of(spec, shape));
    add_prices(spec, cases.back());
  }
  PlanSpace space{std::move(shapes), StudyBook(spec.base, std::move(cases)), spec.seeds};
  check_values(spec, space);
  check_prices(spec, space);
  if (const std::optional<std::int64_t> any = first_readable(space)) {
    check_question(spec, space.book.scenario(*any));
    space.seeds = depend_on_seed(space, *any) ? spec.seeds : 1;
  }
  return space;
}

std::vector<std::string> size_assignments(const Shape& shape, std::int64_t units) {
  if (!shape.split.is_disaggregated()) {
    return {fmt::format("cluster.pools.mixed.replicas={}", units)};
  }
  return {fmt::format("cluster.pools.prefill.replicas={}", units * shape.split.prefill),
          fmt::format("cluster.pools.decode.replicas={}", units * shape.split.decode)};
}

std::vector<std::string> rate_assignments(const Scenario& scenario, double factor) {
  const Values& workload = scenario.workload();
  if (workload.has("rate")) {
    return {fmt::format("workload.rate={} req/s", workload.rate("rate").count() * factor)};
  }
  if (workload.has("rate_scale")) {
    return {fmt::format("workload.rate_scale={}", workload.number("rate_scale") * factor)};
  }
  throw ConfigError(workload.where(),
                    "workload: a plan needs traffic with a rate: a preset, a trace, or a generator that has "
                    "one; closed loops and requests that come all at once slow down with the deployment");
}

Size size_of(const Scenario& scenario, std::int64_t units, Objective objective) {
  Size size;
  size.units = units;
  for (const PoolSpec& pool : scenario.pools) {
    const std::int64_t gpus = units * pool.replicas * pool.gpus_per_replica();
    size.gpus += gpus;
    size.dollars_per_hour += static_cast<double>(gpus) * pool.gpu.price.count();
    size.watts += static_cast<double>(gpus) * pool.gpu.tdp.count();
  }
  size.cost = objective == Objective::gpus    ? static_cast<double>(size.gpus)
              : objective == Objective::watts ? size.watts
                                              : size.dollars_per_hour;
  return size;
}

}  // namespace inferometer
