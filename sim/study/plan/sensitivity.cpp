#include "sim/study/plan/sensitivity.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/study/plan/exploration.hpp"
#include "sim/study/plan/target_words.hpp"

namespace inferometer {
namespace {

class Neighbours {
 public:
  Neighbours(Exploration& exploration, const PlanSearch& search, const PlanResult& result)
      : exploration_(exploration),
        search_(search),
        result_(result),
        best_(*result.best),
        answer_(result.shapes[best_].assessments[*result.shapes[best_].smallest]) {}

  std::vector<SensitivityRow> rows() {
    fewer_units();
    const std::vector<Dimension>& dimensions = search_.spec().dimensions;
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      other_values(d);
    }
    other_splits();
    limits();
    prices();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] const Shape& shape(std::size_t place) const { return search_.space().shapes[place]; }

  void fewer_units() {
    const std::vector<std::int64_t>& units = search_.facts(best_).units;
    const auto at = std::lower_bound(units.begin(), units.end(), answer_.size.units);
    if (at != units.begin()) {
      run("units", std::to_string(answer_.size.units), std::to_string(*(at - 1)), best_, *(at - 1));
    }
  }

  /// The shapes that differ from the answer in one dimension alone.
  void other_values(std::size_t dimension) {
    for (std::size_t place = 0; place < result_.shapes.size(); ++place) {
      std::vector<std::size_t> choice = shape(place).choice;
      const std::size_t value = choice[dimension];
      choice[dimension] = shape(best_).choice[dimension];
      const bool is_same_split = shape(place).split.prefill == shape(best_).split.prefill &&
                                 shape(place).split.decode == shape(best_).split.decode;
      const bool turns_disaggregated =
          shape(place).split.is_disaggregated() != shape(best_).split.is_disaggregated();
      if (choice == shape(best_).choice && value != shape(best_).choice[dimension] &&
          (is_same_split || turns_disaggregated)) {
        const std::string& name = search_.spec().dimensions[dimension].name;
        const bool comes_with_a_split =
            shape(place).split.is_disaggregated() && turns_disaggregated && search_.spec().splits.size() > 1;
        run(name, value_of(best_, name),
            value_of(place, name) + (comes_with_a_split ? ", split " + value_of(place, "split") : ""), place,
            answer_.size.units);
      }
    }
  }

  void other_splits() {
    for (std::size_t place = 0; place < result_.shapes.size(); ++place) {
      if (place != best_ && shape(place).choice == shape(best_).choice) {
        run("split", value_of(best_, "split"), value_of(place, "split"), place, answer_.size.units);
      }
    }
  }

  [[nodiscard]] std::string value_of(std::size_t place, const std::string& name) const {
    const auto& values = shape(place).values;
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& each) { return each.first == name; });
    return found == values.end() ? "none" : found->second;
  }

  void run(const std::string& what, const std::string& from, const std::string& to, std::size_t place,
           std::int64_t units) {
    const ShapeFacts& facts = search_.facts(place);
    SensitivityRow row{what, from, to, "", std::nullopt};
    if (facts.unfit) {
      row.effect = "does not fit: " + *facts.unfit;
    } else if (const Assessment* const found = exploration_.assess({place, units, 1})) {
      row.assessment = *found;
      row.effect = effect_of(*found);
    } else {
      return;
    }
    rows_.push_back(std::move(row));
  }

  [[nodiscard]] std::string effect_of(const Assessment& other) const {
    std::string text = other.verdict == Verdict::meets ? "meets the SLO" : other.reason;
    const TargetResult* const tightest = answer_.worst();
    if (tightest != nullptr && other.verdict == Verdict::meets) {
      const auto same = std::find_if(other.targets.begin(), other.targets.end(),
                                     [&](const TargetResult& each) { return each.name == tightest->name; });
      if (same != other.targets.end() && same->mean && tightest->mean) {
        text += fmt::format("; {} {} instead of {}", target_in_words(same->name),
                            target_amount(same->name, *same->mean),
                            target_amount(tightest->name, *tightest->mean));
      }
    }
    const double more = other.size.cost / answer_.size.cost - 1;
    return text +
           (more == 0 ? std::string("; costs the same")
                      : fmt::format("; costs {:.3g} % {}", 100 * std::abs(more), more > 0 ? "more" : "less"));
  }

  /// How far each limit may be moved before the answer is lost: what it keeps is where that is.
  void limits() {
    for (const TargetResult& target : answer_.targets) {
      if (target.mean && target.met) {
        rows_.push_back(
            {"limit of " + target_in_words(target.name), target_amount(target.name, target.limit),
             target_amount(target.name, *target.mean),
             fmt::format("may be tightened so far, by {:.3g} % of the limit, before this no longer "
                         "does",
                         -100 * *target.over),
             std::nullopt});
      }
    }
  }

  /// Other GPUs that meet the SLO for more money: by how much they would have to be cheaper.
  void prices() {
    if (result_.objective != Objective::dollars_per_hour) {
      return;
    }
    for (const std::string& gpu : other_gpus()) {
      const Assessment* cheapest = nullptr;
      for (std::size_t place = 0; place < result_.shapes.size(); ++place) {
        const ShapeResult& each = result_.shapes[place];
        if (each.smallest && only_gpu(place) == gpu &&
            (cheapest == nullptr || each.assessments[*each.smallest].size.cost < cheapest->size.cost)) {
          cheapest = &each.assessments[*each.smallest];
        }
      }
      if (cheapest != nullptr && cheapest->size.gpus > 0) {
        const double price = cheapest->size.cost / static_cast<double>(cheapest->size.gpus);
        const double wanted = answer_.size.cost / static_cast<double>(cheapest->size.gpus);
        rows_.push_back({"price of " + gpu, fmt::format("${:.2f}/h", price), fmt::format("${:.2f}/h", wanted),
                         fmt::format("below that, {} of them would be the answer", cheapest->size.gpus),
                         std::nullopt});
      }
    }
  }

  /// The GPU of all its pools; "" when it has several kinds or is not known.
  [[nodiscard]] std::string only_gpu(std::size_t place) const {
    const StudyBook& book = search_.space().book;
    if (!book.mistakes(static_cast<std::int64_t>(place)).empty()) {
      return "";
    }
    const Scenario& scenario = book.scenario(static_cast<std::int64_t>(place));
    const std::string& first = scenario.pools.front().gpu.name;
    return std::all_of(scenario.pools.begin(), scenario.pools.end(),
                       [&](const PoolSpec& pool) { return pool.gpu.name == first; })
               ? first
               : "";
  }

  [[nodiscard]] std::vector<std::string> other_gpus() const {
    std::vector<std::string> names;
    for (std::size_t place = 0; place < result_.shapes.size(); ++place) {
      const std::string gpu = only_gpu(place);
      if (!gpu.empty() && gpu != only_gpu(best_) &&
          std::find(names.begin(), names.end(), gpu) == names.end()) {
        names.push_back(gpu);
      }
    }
    return names;
  }

  Exploration& exploration_;
  const PlanSearch& search_;
  const PlanResult& result_;
  std::size_t best_;
  const Assessment& answer_;
  std::vector<SensitivityRow> rows_;
};

}  // namespace

std::string latency_axis(const SloTargets& slo) {
  if (slo.targets.empty()) {
    return "p99_e2el_ms";
  }
  const SloTarget& first = slo.targets.front();
  return std::string(to_string(first.statistic)) + "_" + std::string(to_string(first.metric)) + "_ms";
}

std::vector<SensitivityRow> sensitivity_of(Exploration& exploration, const PlanSearch& search,
                                           const PlanResult& result) {
  return Neighbours(exploration, search, result).rows();
}

}  // namespace inferometer
