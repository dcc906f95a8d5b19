#include "sim/report/plan/plan_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kGoodput = "goodput";

std::string latency_in_words(std::string_view latency) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 6> kNames = {
      {{"ttft", "TTFT"},
       {"tpot", "TPOT"},
       {"itl", "ITL"},
       {"icl", "ICL"},
       {"e2el", "E2E"},
       {"queue_delay", "queue delay"}}};
  for (const auto& [key, name] : kNames) {
    if (key == latency) {
      return name;
    }
  }
  return {};
}

std::string without_underscores(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

struct Unit {
  double size;  ///< of 1 of it, in what a target is measured in
  const char* name;
};

/// That suits the amount: as short_duration() has it, and per cent for goodput.
Unit unit_of(const TargetResult& target, double amount) {
  if (target.name == kGoodput) {
    return {0.01, "%"};
  }
  if (amount >= 999.5) {
    return {1e3, "s"};
  }
  return amount >= 0.9995 || amount == 0 ? Unit{1, "ms"} : Unit{1e-3, "us"};
}

/// Whether the hardware of a unit, as words, tells the value of that key.
bool is_shown_by_setup(std::string_view key) {
  static constexpr std::array<std::string_view, 5> kShown = {"gpu", "tensor_parallel", "pipeline_parallel",
                                                             "replicas", "split"};
  const std::string_view last = key.substr(key.rfind('.') + 1);
  return std::find(kShown.begin(), kShown.end(), last) != kShown.end();
}

}  // namespace

std::string target_in_words(std::string_view name) {
  return metric_in_words(metric_of_target(name));
}

std::string metric_in_words(std::string_view metric) {
  constexpr std::string_view kEnd = "_ms";
  const std::size_t first = metric.find('_');
  if (first != std::string_view::npos && metric.ends_with(kEnd) && first + kEnd.size() < metric.size()) {
    const std::string latency =
        latency_in_words(metric.substr(first + 1, metric.size() - kEnd.size() - first - 1));
    if (!latency.empty()) {
      return std::string(metric.substr(0, first)) + " " + latency;
    }
  }
  return metric == "goodput_share" ? std::string(kGoodput) : without_underscores(metric);
}

std::string metric_of_target(std::string_view name) {
  const std::size_t last = name.rfind('_');
  if (last != std::string_view::npos && !latency_in_words(name.substr(0, last)).empty()) {
    return fmt::format("{}_{}_ms", name.substr(last + 1), name.substr(0, last));
  }
  return name == kGoodput ? "goodput_share" : std::string(name);
}

std::string amount_in_words(const TargetResult& target, double amount) {
  const Unit unit = unit_of(target, amount);
  return short_number(amount / unit.size) + " " + unit.name;
}

std::string value_in_words(const TargetResult& target) {
  if (!target.mean) {
    return "nothing measured";
  }
  std::string text = amount_in_words(target, *target.mean);
  if (target.low && target.high) {
    const Unit unit = unit_of(target, *target.mean);
    text += fmt::format(" ({}-{})", short_number(std::max(*target.low, 0.0) / unit.size),
                        short_number(*target.high / unit.size));
  }
  return text;
}

std::string target_sentence(const TargetResult& target) {
  return fmt::format("{} {} of {}{}", target_in_words(target.name), value_in_words(target),
                     target.name == kGoodput ? "at least " : "", amount_in_words(target, target.limit));
}

std::string target_in_brief(const TargetResult& target) {
  if (!target.mean) {
    return target_in_words(target.name) + " not measured";
  }
  const Unit unit = unit_of(target, *target.mean);
  const bool is_same_unit = unit.size == unit_of(target, target.limit).size;
  return fmt::format(
      "{} {} of {}", target_in_words(target.name),
      is_same_unit ? short_number(*target.mean / unit.size) : amount_in_words(target, *target.mean),
      amount_in_words(target, target.limit));
}

std::string dollars_per_hour_in_words(double dollars) {
  if (dollars == 0) {
    return "no price";
  }
  return dollars < 999.995 ? fmt::format("${:.2f}/h", dollars)
                           : fmt::format("${}/h", grouped(std::llround(dollars)));
}

std::string power_in_words(double watts) {
  return watts >= 999.5 ? short_number(watts / 1e3) + " kW" : short_number(watts) + " W";
}

std::string objective_in_words(Objective objective) {
  switch (objective) {
    case Objective::dollars_per_hour:
      return "cost";
    case Objective::gpus:
      return "number of GPUs";
    case Objective::watts:
      return "power";
  }
  return {};
}

std::string cost_in_words(Objective objective, const Size& size) {
  switch (objective) {
    case Objective::dollars_per_hour:
      return dollars_per_hour_in_words(size.dollars_per_hour);
    case Objective::gpus:
      return counted(size.gpus, "GPU");
    case Objective::watts:
      return power_in_words(size.watts);
  }
  return {};
}

std::string setup_in_words(const ShapeResult& shape, std::int64_t units) {
  if (units == 1 || shape.setup.empty()) {
    return shape.setup;
  }
  if (shape.setup.starts_with("1 x (")) {
    return grouped(units) + shape.setup.substr(1);
  }
  return fmt::format("{} x [{}]", grouped(units), shape.setup);
}

std::string settings_in_words(const ShapeResult& shape, const ShapeResult* known) {
  std::string text;
  for (const std::pair<std::string, std::string>& value : shape.values) {
    const bool is_known = known != nullptr &&
                          std::find(known->values.begin(), known->values.end(), value) != known->values.end();
    if (!is_shown_by_setup(value.first) && !is_known) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", value.first.substr(value.first.rfind('.') + 1),
                          value.second);
    }
  }
  return text;
}

std::string rate_in_words(const SustainedRate& rate) {
  if (rate.high_per_second <= rate.low_per_second) {
    return fmt::format("at least {} req/s", short_number(rate.low_per_second));
  }
  if (rate.low_per_second <= 0) {
    return fmt::format("less than {} req/s", short_number(rate.high_per_second));
  }
  return fmt::format("{}-{} req/s", short_number(rate.low_per_second), short_number(rate.high_per_second));
}

std::string rate_in_brief(const SustainedRate& rate) {
  if (rate.high_per_second <= rate.low_per_second) {
    return ">= " + short_number(rate.low_per_second);
  }
  return rate.low_per_second <= 0
             ? "< " + short_number(rate.high_per_second)
             : fmt::format("{}-{}", short_number(rate.low_per_second), short_number(rate.high_per_second));
}

std::optional<double> headroom(const SustainedRate& rate, double offered_per_second) {
  if (rate.low_per_second <= 0 || offered_per_second <= 0) {
    return std::nullopt;
  }
  return rate.low_per_second / offered_per_second - 1;
}

std::string part_in_words(double part) {
  return fmt::format("{} % {}", short_number(100 * std::abs(part)), part < 0 ? "below" : "above");
}

std::string with_stop(std::string text) {
  if (!text.empty() && text.back() != '.') {
    text += '.';
  }
  return text;
}

std::string counted(std::int64_t number, const std::string& noun) {
  return grouped(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string fate_in_words(ShapeFate fate) {
  switch (fate) {
    case ShapeFate::meets:
      return "met the SLO";
    case ShapeFate::none_meets:
      return "missed the SLO up to the largest size allowed";
    case ShapeFate::dearer:
      return "missed the SLO at every size that costs less than the answer";
    case ShapeFate::bound_dearer:
      return "proven to cost no less than the answer";
    case ShapeFate::bound_impossible:
      return "proven to miss the SLO at any size";
    case ShapeFate::too_large:
      return "beyond the limits of the study with a single unit";
    case ShapeFate::does_not_fit:
      return "could not run: the model does not fit, or the GPU lacks what is asked of it";
  }
  return {};
}

std::string verdict_in_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::meets:
      return "meets the SLO";
    case Verdict::misses_slo:
      return "misses the SLO";
    case Verdict::saturated:
      return "saturated: the queue grew";
    case Verdict::failed:
      return "too many requests failed";
    case Verdict::cannot_run:
      return "cannot run";
  }
  return {};
}

}  // namespace inferometer
