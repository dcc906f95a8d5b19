#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/study/plan/plan_search.hpp"

namespace inferometer {
namespace {

bool is_within(const PlanLimits& limits, const Size& unit, std::int64_t units) {
  const auto times = static_cast<double>(units);
  return (!limits.gpus || unit.gpus * units <= *limits.gpus) &&
         (!limits.watts || unit.watts * times <= *limits.watts) &&
         (!limits.dollars_per_hour || unit.dollars_per_hour * times <= *limits.dollars_per_hour);
}

/// "1 x (2 x h100-sxm)"; "prefill 1 x (...), decode 2 x (...)".
std::string setup_of(const Scenario& scenario) {
  std::string text;
  for (const PoolSpec& pool : scenario.pools) {
    const std::string role = scenario.pools.size() > 1 ? std::string(to_string(pool.role)) + " " : "";
    text += fmt::format("{}{}{} x ({} x {})", text.empty() ? "" : ", ", role, pool.replicas,
                        pool.gpus_per_replica(), pool.gpu.name);
  }
  return text;
}

/// Requests of the study's traffic, by seed; nothing where they wait for answers. `shape`: any, traffic is
/// the same for all.
std::vector<std::vector<TrafficRequest>> traffic_by_seed(const PlanSpec& spec, const PlanSpace& space,
                                                         std::int64_t shape) {
  Evaluation evaluation;
  evaluation.study_case = shape;
  const Scenario& base = space.book.scenario(shape);
  evaluation.assignments = rate_assignments(base, spec.growth);
  std::vector<std::vector<TrafficRequest>> traffic;
  for (std::int64_t seed = 0; seed < space.seeds; ++seed) {
    evaluation.seed = static_cast<std::int64_t>(base.seed()) + seed;
    std::optional<std::vector<TrafficRequest>> of_seed = traffic_of(space.book.scenario(evaluation));
    if (!of_seed) {
      return {};
    }
    traffic.push_back(std::move(*of_seed));
  }
  return traffic;
}

std::string first_sentence(const InputError& error) {
  return error.diagnostics().front().message;
}

}  // namespace

std::vector<ShapeFacts> shape_facts(const PlanSpec& spec, const PlanSpace& space, int threads) {
  std::vector<ShapeFacts> all(space.shapes.size());
  std::optional<std::int64_t> readable;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    if (!space.book.mistakes(place).empty()) {
      all[i].unfit = space.book.mistakes(place).front().message;
    } else if (!readable) {
      readable = place;
    }
  }
  if (!readable) {
    return all;
  }
  const std::vector<std::vector<TrafficRequest>> traffic =
      spec.prune ? traffic_by_seed(spec, space, *readable) : std::vector<std::vector<TrafficRequest>>();
  run_jobs(
      static_cast<std::int64_t>(all.size()), threads,
      [&](std::int64_t place) {
        ShapeFacts& facts = all[static_cast<std::size_t>(place)];
        if (facts.unfit) {
          return;
        }
        const Scenario& scenario = space.book.scenario(place);
        facts.unit = size_of(scenario, 1, spec.objective);
        facts.setup = setup_of(scenario);
        std::copy_if(spec.units.begin(), spec.units.end(), std::back_inserter(facts.units),
                     [&](std::int64_t units) { return is_within(spec.limits, facts.unit, units); });
        if (facts.units.empty()) {
          return;
        }
        try {
          const Deployment deployment = make_deployment(scenario);
          if (!traffic.empty()) {
            facts.bound = plan_bound(scenario, deployment, scenario.slo, traffic, spec.failed_max);
          }
        } catch (const InputError& mistake) {
          facts.unfit = first_sentence(mistake);
        }
      },
      [] {});
  return all;
}

}  // namespace inferometer
