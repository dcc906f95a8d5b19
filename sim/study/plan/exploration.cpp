#include "sim/study/plan/exploration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/study/plan/assessment.hpp"
#include "sim/study/plan/rate_search.hpp"
#include "sim/study/plan/sensitivity.hpp"
#include "sim/study/plan/size_search.hpp"

namespace inferometer {
namespace {

/// Shapes of one wave are sized side by side, and what one of them costs cuts off only those of later waves:
/// so the runs that are needed do not depend on how many workers there are. Waves grow, as soon only few can
/// be cheaper.
constexpr std::size_t kFirstWave = 4;

std::string cost_text(Objective objective, double cost) {
  return objective == Objective::gpus    ? fmt::format("{:g} GPUs", cost)
         : objective == Objective::watts ? fmt::format("{:g} W", cost)
                                         : fmt::format("${:.2f}/h", cost);
}

double latency_of(const PlanResult& result, const Assessment& assessment) {
  return assessment.find(result.latency_axis).value_or(std::numeric_limits<double>::infinity());
}

/// An assessment that meets the SLO, and what fronts compare.
struct Meeting {
  double cost = 0, latency = 0, power = 0;
  std::pair<std::size_t, std::size_t> place;

  [[nodiscard]] auto figures() const { return std::tie(cost, latency, power); }
  [[nodiscard]] bool beats(const Meeting& other) const {
    return cost <= other.cost && latency <= other.latency && power <= other.power &&
           figures() != other.figures();
  }
};

bool can_run(ShapeFate fate) {
  return fate != ShapeFate::does_not_fit && fate != ShapeFate::too_large;
}

}  // namespace

const Assessment* Exploration::assess(const Setting& setting) {
  const auto cached = search_.assessments_.find(setting);
  if (cached != search_.assessments_.end()) {
    used_[setting] = &cached->second;
    return &cached->second;
  }
  const Scenario& scenario = search_.space_.book.scenario(static_cast<std::int64_t>(setting.shape));
  Evaluation evaluation;
  evaluation.study_case = static_cast<std::int64_t>(setting.shape);
  evaluation.assignments = size_assignments(search_.space_.shapes[setting.shape], setting.units);
  for (std::string& rate : rate_assignments(scenario, search_.spec_.growth * setting.rate_factor)) {
    evaluation.assignments.push_back(std::move(rate));
  }
  std::vector<const Outcome*> outcomes;
  for (std::int64_t seed = 0; seed < search_.space_.seeds; ++seed) {
    evaluation.seed = static_cast<std::int64_t>(scenario.seed()) + seed;
    const Outcome* const outcome = known_.find(evaluation);
    if (outcome != nullptr) {
      outcomes.push_back(outcome);
    } else if (wanted_set_.insert(evaluation).second) {
      wanted_.push_back(evaluation);
    }
  }
  if (static_cast<std::int64_t>(outcomes.size()) < search_.space_.seeds) {
    return nullptr;
  }
  const Size size = size_of(scenario, setting.units, search_.spec_.objective);
  Assessment found = inferometer::assess(outcomes, size, setting.rate_factor, search_.spec_.failed_max);
  const Assessment& kept = search_.assessments_.emplace(setting, std::move(found)).first->second;
  used_[setting] = &kept;
  return &kept;
}

std::optional<Probe> Exploration::probe(const Setting& setting) {
  const Assessment* const assessment = assess(setting);
  if (assessment == nullptr) {
    return std::nullopt;
  }
  return Probe{assessment->verdict == Verdict::meets, assessment->find("load_share")};
}

PlanResult Exploration::run() {
  PlanResult result;
  start(result);
  size_shapes(result);
  if (!wanted_.empty()) {
    return result;
  }
  choose_best(result);
  collect(result);
  find_front(result);
  if (search_.spec_.sensitivity && result.best) {
    result.sensitivity = sensitivity_of(*this, search_, result);
  }
  sustain(result);
  result.evaluations = static_cast<std::int64_t>(used_.size()) * search_.space_.seeds;
  return result;
}

void Exploration::start(PlanResult& result) const {
  const PlanSpec& spec = search_.spec_;
  result.objective = spec.objective;
  result.growth = spec.growth;
  result.seeds = search_.space_.seeds;
  result.tolerance = spec.tolerance;
  result.is_front_whole = spec.goal == SearchGoal::front;
  for (std::size_t i = 0; i < search_.space_.shapes.size(); ++i) {
    const Shape& shape = search_.space_.shapes[i];
    ShapeResult& each = result.shapes.emplace_back();
    each.name = shape.name;
    each.values = shape.values;
    each.setup = facts(i).setup;
    each.unit = facts(i).unit;
    each.least_units = facts(i).bound.least_units;
    result.candidates += static_cast<std::int64_t>(spec.units.size());
    if (facts(i).unfit) {
      each.fate = ShapeFate::does_not_fit;
      each.reason = *facts(i).unfit;
    } else if (facts(i).units.empty()) {
      each.fate = ShapeFate::too_large;
      each.reason = "not one unit is within the limits";
    } else if (facts(i).bound.is_impossible || facts(i).units.back() < each.least_units) {
      each.fate = ShapeFate::bound_impossible;
      each.reason = facts(i).bound.reason;
    } else if (result.latency_axis.empty()) {
      result.latency_axis = latency_axis(search_.space_.book.scenario(static_cast<std::int64_t>(i)).slo);
    }
  }
}

void Exploration::size_shapes(PlanResult& result) {
  const std::vector<std::size_t>& order = search_.order_;
  const bool is_capped = search_.spec_.goal == SearchGoal::cheapest;
  double incumbent = std::numeric_limits<double>::infinity();
  std::size_t begin = 0;
  for (std::size_t size = is_capped ? kFirstWave : order.size(); begin < order.size(); size *= 2) {
    const std::size_t end = std::min(begin + size, order.size());
    size_wave({order.begin() + static_cast<std::ptrdiff_t>(begin),
               order.begin() + static_cast<std::ptrdiff_t>(end)},
              incumbent, result);
    if (!wanted_.empty()) {
      return;
    }
    for (std::size_t i = begin; i < end && is_capped; ++i) {
      const ShapeResult& shape = result.shapes[order[i]];
      if (shape.fate == ShapeFate::meets) {
        incumbent = std::min(incumbent, shape.assessments[*shape.smallest].size.cost);
      }
    }
    begin = end;
  }
}

void Exploration::size_wave(const std::vector<std::size_t>& wave, double incumbent, PlanResult& result) {
  const Objective objective = search_.spec_.objective;
  for (const std::size_t place : wave) {
    ShapeResult& shape = result.shapes[place];
    std::vector<std::int64_t> units;
    std::int64_t first = 0;
    for (const std::int64_t each : facts(place).units) {
      if (each >= shape.least_units) {
        first = first == 0 ? each : first;
        if (static_cast<double>(each) * shape.unit.cost < incumbent) {
          units.push_back(each);
        }
      }
    }
    if (units.empty()) {
      shape.fate = ShapeFate::bound_dearer;
      shape.reason = fmt::format("needs at least {} unit{} for {}, and another meets the SLO for {}", first,
                                 first == 1 ? "" : "s",
                                 cost_text(objective, static_cast<double>(first) * shape.unit.cost),
                                 cost_text(objective, incumbent));
      continue;
    }
    const bool is_capped = incumbent < std::numeric_limits<double>::infinity();
    size_shape(place, units, is_capped, shape);
    if (shape.fate == ShapeFate::dearer) {
      shape.reason = fmt::format("the largest size below {} ({} unit{}) does not do: {}",
                                 cost_text(objective, incumbent), units.back(), units.back() == 1 ? "" : "s",
                                 shape.reason);
    }
  }
}

void Exploration::size_shape(std::size_t shape, const std::vector<std::int64_t>& units, bool is_capped,
                             ShapeResult& result) {
  const std::optional<SizeAnswer> answer = find_smallest(units, is_capped, [&](std::int64_t each) {
    return probe({shape, each, 1});
  });
  if (!answer) {
    return;
  }
  if (answer->smallest) {
    result.fate = ShapeFate::meets;
    result.assessments = {*assess({shape, *answer->smallest, 1})};
    result.smallest = 0;
    return;
  }
  const Assessment& largest = *assess({shape, units.back(), 1});
  const bool is_cut = is_capped && units.back() < facts(shape).units.back();
  result.fate = largest.verdict == Verdict::cannot_run ? ShapeFate::does_not_fit
                : is_cut                               ? ShapeFate::dearer
                                                       : ShapeFate::none_meets;
  result.reason = largest.reason;
}

void Exploration::choose_best(PlanResult& result) const {
  const auto rank = [&](std::size_t place) {
    const ShapeResult& shape = result.shapes[place];
    const Assessment& assessment = shape.assessments[*shape.smallest];
    // Of as many watts or GPUs, the cheaper ones.
    return std::tuple(assessment.size.cost, assessment.size.dollars_per_hour, latency_of(result, assessment));
  };
  for (std::size_t i = 0; i < result.shapes.size(); ++i) {
    if (result.shapes[i].fate == ShapeFate::meets && (!result.best || rank(i) < rank(*result.best))) {
      result.best = i;
    }
  }
}

/// Everything that was run under the study's own traffic, by shape and size.
void Exploration::collect(PlanResult& result) const {
  for (ShapeResult& shape : result.shapes) {
    shape.assessments.clear();
  }
  for (const auto& [setting, assessment] : used_) {
    if (setting.rate_factor == 1) {
      ShapeResult& shape = result.shapes[setting.shape];
      const bool is_smallest = assessment->verdict == Verdict::meets && shape.fate == ShapeFate::meets;
      if (is_smallest && (shape.assessments.empty() || shape.assessments.back().verdict != Verdict::meets)) {
        shape.smallest = shape.assessments.size();
      }
      shape.assessments.push_back(*assessment);
    }
  }
}

void Exploration::find_front(PlanResult& result) const {
  std::vector<Meeting> all;
  for (std::size_t s = 0; s < result.shapes.size(); ++s) {
    for (std::size_t a = 0; a < result.shapes[s].assessments.size(); ++a) {
      const Assessment& each = result.shapes[s].assessments[a];
      if (each.verdict == Verdict::meets) {
        all.push_back({each.size.cost,
                       latency_of(result, each),
                       each.find("mean_power_watts").value_or(each.size.watts),
                       {s, a}});
      }
    }
  }
  // In this order none is beaten by a later one, and what any beats, one of the front does.
  std::stable_sort(all.begin(), all.end(),
                   [](const Meeting& a, const Meeting& b) { return a.figures() < b.figures(); });
  std::vector<Meeting> front;
  for (const Meeting& each : all) {
    if (std::none_of(front.begin(), front.end(), [&](const Meeting& other) { return other.beats(each); })) {
      front.push_back(each);
      result.front.push_back(each.place);
    }
  }
}

void Exploration::sustain(PlanResult& result) {
  const SustainedOf whose = search_.spec_.sustained;
  for (std::size_t i = 0; i < result.shapes.size(); ++i) {
    const bool is_on_front = std::any_of(result.front.begin(), result.front.end(),
                                         [&](const auto& place) { return place.first == i; });
    if ((whose == SustainedOf::answer && result.best == i) ||
        (whose == SustainedOf::front && (is_on_front || result.best == i)) ||
        (whose == SustainedOf::all && can_run(result.shapes[i].fate))) {
      sustain_shape(i, result.shapes[i]);
    }
  }
}

/// The smallest size that meets; else the largest that missed; else, of what was never run, the smallest that
/// is not excluded.
std::int64_t Exploration::sustained_units(std::size_t shape, const ShapeResult& result) const {
  if (!result.assessments.empty()) {
    return result.assessments[result.smallest.value_or(result.assessments.size() - 1)].size.units;
  }
  const std::vector<std::int64_t>& units = facts(shape).units;
  const auto first = std::lower_bound(units.begin(), units.end(), result.least_units);
  return first == units.end() ? units.back() : *first;
}

void Exploration::sustain_shape(std::size_t shape, ShapeResult& result) {
  const std::int64_t units = sustained_units(shape, result);
  SustainedRate rate;
  const std::optional<RateAnswer> answer =
      find_highest_rate(search_.spec_.tolerance, [&](double factor) -> std::optional<Probe> {
        const std::optional<Probe> told = probe({shape, units, factor});
        if (told) {
          rate.tried.push_back(*assess({shape, units, factor}));
        }
        return told;
      });
  if (!answer) {
    return;
  }
  std::sort(rate.tried.begin(), rate.tried.end(),
            [](const Assessment& a, const Assessment& b) { return a.rate_factor < b.rate_factor; });
  for (const Assessment& tried : rate.tried) {
    if (tried.rate_factor == answer->low) {
      rate.low_per_second = tried.offered_per_second;
    } else if (tried.rate_factor == answer->high) {
      rate.high_per_second = tried.offered_per_second;
      rate.limited_by = tried.reason;
    }
  }
  result.sustained = std::move(rate);
}

}  // namespace inferometer
