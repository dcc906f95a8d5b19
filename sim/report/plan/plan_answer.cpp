#include "sim/report/plan/plan_answer.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/report/plan/plan_view.hpp"
#include "sim/report/plan/plan_words.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

/// "3 x (1 x h100-sxm) with policy chunked_prefill".
std::string deployment_in_words(const ShapeResult& shape, const Size& size) {
  const std::string settings = settings_in_words(shape);
  return setup_in_words(shape, size.units) + (settings.empty() ? "" : " with " + settings);
}

/// "$8.85/h ($6,461 a month), 3 GPUs, 2.10 kW": what is minimised first.
std::string price_in_words(Objective objective, const Size& size) {
  const std::string money =
      size.dollars_per_hour == 0
          ? "no price"
          : fmt::format("{} (${} a month)", dollars_per_hour_in_words(size.dollars_per_hour),
                        grouped(std::llround(kHoursOfMonth * size.dollars_per_hour)));
  const std::string gpus = gpus_in_words(size.gpus), power = power_in_words(size.watts);
  switch (objective) {
    case Objective::dollars_per_hour:
      return money + ", " + gpus + ", " + power;
    case Objective::gpus:
      return gpus + ", " + money + ", " + power;
    case Objective::watts:
      return power + ", " + money + ", " + gpus;
  }
  return {};
}

std::string sustained_sentence(const SustainedRate& rate, double offered_per_second) {
  if (rate.low_per_second <= 0) {
    return fmt::format("No rate that was tried is sustained, down to {} req/s.",
                       short_number(rate.high_per_second));
  }
  std::string text = "It sustains " + rate_in_words(rate);
  const std::optional<double> above = headroom(rate, offered_per_second);
  if (above) {
    text +=
        fmt::format(", {} the traffic of {} req/s", part_in_words(*above), short_number(offered_per_second));
  }
  text += ".";
  return rate.limited_by.empty() ? text : text + " Beyond that: " + as_sentence(rate.limited_by);
}

/// Targets of the answer: the one with least to spare, with its value.
std::string margin_sentence(const Assessment& assessment) {
  const TargetResult* worst = assessment.worst();
  if (worst == nullptr) {
    return {};
  }
  return fmt::format("{}, {} % to spare{}{}.", target_sentence(*worst),
                     short_number(100 * std::abs(*worst->over)),
                     assessment.targets.size() > 1 ? " and more at the other limits" : "",
                     worst->is_close ? ", too close to call" : "");
}

std::vector<std::string> sentences_of_answer(const PlanResult& plan, AssessmentPlace place) {
  const ShapeResult& shape = plan.shapes[place.shape];
  const Assessment& assessment = at(plan, place);
  std::vector<std::string> sentences = {fmt::format("Buy {}: {}.",
                                                    deployment_in_words(shape, assessment.size),
                                                    price_in_words(plan.objective, assessment.size))};
  if (const std::string margin = margin_sentence(assessment); !margin.empty()) {
    sentences.push_back(margin);
  }
  if (shape.sustained) {
    sentences.push_back(sustained_sentence(*shape.sustained, assessment.offered_per_second));
  }
  const std::vector<std::size_t> meeting = shapes_that_meet(plan);
  if (meeting.size() > 1) {
    const AssessmentPlace next = *shown_place(plan, meeting[1]);
    sentences.push_back(fmt::format("Next in {}: {}, {}.", objective_in_words(plan.objective),
                                    deployment_in_words(plan.shapes[next.shape], at(plan, next).size),
                                    cost_in_words(plan.objective, at(plan, next).size)));
  }
  return sentences;
}

/// By which target it misses and how much, or why it is not even judged by one.
std::string miss_sentence(const Assessment& assessment) {
  const TargetResult* worst = assessment.worst();
  std::string text;
  if (worst != nullptr && *worst->over > 0) {
    text = fmt::format("{}, {} % {}.", target_sentence(*worst), short_number(100 * *worst->over),
                       worst->name == "goodput" ? "too little" : "too much");
  }
  if (assessment.verdict == Verdict::misses_slo && !text.empty()) {
    return text;
  }
  return text + (text.empty() ? "" : " ") + as_sentence(assessment.reason);
}

std::vector<std::string> sentences_of_none(const PlanResult& plan) {
  std::vector<std::string> sentences = {"No candidate meets the SLO."};
  if (const std::optional<AssessmentPlace> nearest = nearest_miss(plan)) {
    const Assessment& assessment = at(plan, *nearest);
    sentences.push_back(fmt::format("Nearest comes {} ({}).",
                                    deployment_in_words(plan.shapes[nearest->shape], assessment.size),
                                    price_in_words(plan.objective, assessment.size)));
    sentences.push_back(miss_sentence(assessment));
    return sentences;
  }
  if (plan.shapes.empty()) {
    sentences.emplace_back("There is no candidate.");
    return sentences;
  }
  const FateGroup& first = shapes_that_do_not(plan).front();
  const ShapeResult& shape = plan.shapes[first.shapes.front()];
  sentences.push_back(fmt::format(
      "None had to be run: {} {} {}; for {}: {}.", grouped(static_cast<std::int64_t>(first.shapes.size())),
      first.shapes.size() == 1 ? "shape:" : "shapes:", fate_in_words(first.fate), shape.name, shape.reason));
  return sentences;
}

}  // namespace

std::vector<std::string> answer_sentences(const PlanResult& plan) {
  const std::optional<AssessmentPlace> answer = answer_place(plan);
  return answer ? sentences_of_answer(plan, *answer) : sentences_of_none(plan);
}

}  // namespace inferometer
