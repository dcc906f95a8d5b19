#include "sim/report/plan/plan_tables.hpp"

#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/report/plan/plan_view.hpp"
#include "sim/report/plan/plan_words.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

/// In a long table only so many rows say which fields they show: the attributes are most of its bytes.
constexpr std::size_t kRowsTraced = 20;

std::optional<TableBlock> if_any(TableBlock table) {
  return table.rows.empty() ? std::nullopt : std::optional(std::move(table));
}

Cell count_cell(std::int64_t count, std::string field) {
  return {grouped(count), ResultsNumber{std::move(field), static_cast<double>(count)}};
}

Cell dollars_cell(double dollars, std::string field) {
  return dollars == 0 ? Cell("no price")
                      : Cell(fmt::format("{:.2f}", dollars), ResultsNumber{std::move(field), dollars});
}

Cell latency_cell(const std::optional<double>& latency, std::string field) {
  return latency ? Cell(short_duration(*latency), ResultsNumber{std::move(field), *latency}) : Cell("none");
}

/// "22.1 % to spare", "3.0 % too much".
std::string margin_in_words(const TargetResult& target) {
  if (!target.over) {
    return "not measured";
  }
  return fmt::format("{} % {}", short_number(100 * std::abs(*target.over)),
                     target.met                 ? "to spare"
                     : target.name == "goodput" ? "too little"
                                                : "too much");
}

Tone tone_of(const TargetResult& target) {
  return target.is_close ? Tone::warning : target.met ? Tone::good : Tone::bad;
}

Cell worst_cell(const Assessment& assessment, const std::string& path) {
  const TargetResult* worst = assessment.worst();
  if (worst == nullptr || !worst->mean) {
    return Cell("none");
  }
  const auto place = worst - assessment.targets.data();
  return {fmt::format("{} of {}, {}", amount_in_words(*worst, *worst->mean),
                      amount_in_words(*worst, worst->limit), target_in_words(worst->name)),
          ResultsNumber{fmt::format("{}.targets.{}.mean", path, place), *worst->mean}};
}

/// Names the bound that its words begin with.
Cell rate_cell(const SustainedRate& rate, std::size_t shape) {
  const bool is_low = rate.low_per_second > 0;
  return {rate_in_words(rate),
          ResultsNumber{fmt::format("shapes.{}.sustained.{}_requests_per_s", shape, is_low ? "low" : "high"),
                        is_low ? rate.low_per_second : rate.high_per_second}};
}

/// What the size that stands for the shape sustains, when that was looked for.
Cell rate_of_shown(const PlanResult& plan, AssessmentPlace place) {
  const std::optional<SustainedRate>& rate = plan.shapes[place.shape].sustained;
  const bool is_of_this_size =
      rate && !rate->tried.empty() && rate->tried.front().size.units == at(plan, place).size.units;
  return is_of_this_size ? rate_cell(*rate, place.shape) : Cell("");
}

/// Why it is not the answer.
std::string outcome_in_words(const PlanResult& plan, AssessmentPlace place) {
  if (place == answer_place(plan)) {
    return "the answer";
  }
  const Assessment& assessment = at(plan, place);
  if (assessment.verdict == Verdict::meets) {
    return "meets the SLO, costs more";
  }
  const bool would_be_dearer = plan.shapes[place.shape].fate == ShapeFate::dearer;
  return verdict_in_words(assessment.verdict) +
         (would_be_dearer ? "; more units cost more than the answer" : "; more units are not allowed");
}

std::vector<Cell> simulated_row(const PlanResult& plan, std::size_t shape) {
  const AssessmentPlace place = *shown_place(plan, shape);
  const Assessment& assessment = at(plan, place);
  const std::string path = json_path(place);
  return {plan.shapes[shape].name,
          count_cell(assessment.size.units, path + ".size.units"),
          count_cell(assessment.size.gpus, path + ".size.gpus"),
          dollars_cell(assessment.size.dollars_per_hour, path + ".size.dollars_per_hour"),
          power_in_words(assessment.size.watts),
          worst_cell(assessment, path),
          rate_of_shown(plan, place),
          {outcome_in_words(plan, place), place == answer_place(plan) ? Tone::good : Tone::plain}};
}

}  // namespace

std::optional<TableBlock> target_table(const PlanResult& plan) {
  const std::optional<AssessmentPlace> answer = answer_place(plan);
  const std::optional<AssessmentPlace> place = answer ? answer : nearest_miss(plan);
  if (!place) {
    return std::nullopt;
  }
  TableBlock table{answer ? "Limits of the SLO and the answer" : "Limits of the SLO and what comes nearest",
                   {"Limit", "Value", "Allowed", "Margin"},
                   {}};
  const std::vector<TargetResult>& targets = at(plan, *place).targets;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const TargetResult& target = targets[i];
    const std::string path = fmt::format("{}.targets.{}", json_path(*place), i);
    table.rows.push_back(
        {target_in_words(target.name),
         target.mean ? Cell(value_in_words(target), ResultsNumber{path + ".mean", *target.mean})
                     : Cell(value_in_words(target)),
         {amount_in_words(target, target.limit), ResultsNumber{path + ".limit", target.limit}},
         {margin_in_words(target) + (target.is_close ? ", too close to call" : ""), tone_of(target)}});
  }
  return if_any(std::move(table));
}

std::optional<TableBlock> front_table(const PlanResult& plan) {
  TableBlock table{fmt::format("Nothing {} beats these in cost, {} and power at once",
                               plan.is_front_whole ? "among the candidates" : "that was simulated",
                               metric_in_words(plan.latency_axis)),
                   {"Shape", "Units", "$/h", "Mean power", metric_in_words(plan.latency_axis)},
                   {}};
  for (std::size_t i = 0; i < plan.front.size(); ++i) {
    const AssessmentPlace place{plan.front[i].first, plan.front[i].second};
    const Assessment& assessment = at(plan, place);
    const std::string path = fmt::format("front.{}", i);
    table.rows.push_back({plan.shapes[place.shape].name,
                          count_cell(assessment.size.units, json_path(place) + ".size.units"),
                          dollars_cell(assessment.size.dollars_per_hour, path + ".dollars_per_hour"),
                          {power_in_words(mean_watts(assessment)),
                           ResultsNumber{path + ".mean_power_watts", mean_watts(assessment)}},
                          latency_cell(assessment.find(plan.latency_axis), path + "." + plan.latency_axis)});
  }
  return if_any(std::move(table));
}

std::optional<TableBlock> rate_table(const PlanResult& plan) {
  TableBlock table{
      "Highest rates within the SLO", {"Shape", "Units", "Sustains", "Of the traffic", "Ends at"}, {}};
  const std::optional<AssessmentPlace> answer = answer_place(plan);
  const double traffic = answer ? at(plan, *answer).offered_per_second : 0;
  for (std::size_t shape = 0; shape < plan.shapes.size(); ++shape) {
    const std::optional<SustainedRate>& rate = plan.shapes[shape].sustained;
    if (rate && !rate->tried.empty()) {
      const std::optional<double> above = headroom(*rate, traffic);
      table.rows.push_back(
          {plan.shapes[shape].name,
           count_cell(rate->tried.front().size.units, fmt::format("shapes.{}.sustained.units", shape)),
           rate_cell(*rate, shape), above ? Cell(part_in_words(*above)) : Cell("none"), rate->limited_by});
    }
  }
  return if_any(std::move(table));
}

std::optional<TableBlock> simulated_table(const PlanResult& plan) {
  TableBlock table{"Shapes that were simulated: the smallest size that meets, else the largest tried",
                   {"Shape", "Units", "GPUs", "$/h", "Power limit", "Worst limit", "Sustains", "Outcome"},
                   {}};
  for (const std::size_t shape : sized_shapes(plan)) {
    table.rows.push_back(simulated_row(plan, shape));
    for (std::size_t cell = 0; cell < table.columns.size() && table.rows.size() > kRowsTraced; ++cell) {
      table.rows.back()[cell].number.reset();
    }
  }
  return if_any(std::move(table));
}

std::optional<TableBlock> unsimulated_table(const PlanResult& plan) {
  TableBlock table{"Shapes that needed no run, by reason", {"Reason", "Shapes", "Which"}, {}};
  for (const FateGroup& group : shapes_that_do_not(plan)) {
    std::map<std::string, std::vector<std::size_t>> by_reason;
    for (const std::size_t shape : group.shapes) {
      if (!shown_place(plan, shape)) {
        by_reason[plan.shapes[shape].reason].push_back(shape);
      }
    }
    for (const auto& [reason, shapes] : by_reason) {
      std::string names;
      for (const std::size_t shape : shapes) {
        names += (names.empty() ? "" : "; ") + plan.shapes[shape].name;
      }
      table.rows.push_back({fate_in_words(group.fate) + (reason.empty() ? "" : ": " + reason),
                            grouped(static_cast<std::int64_t>(shapes.size())), names});
    }
  }
  return if_any(std::move(table));
}

std::optional<TableBlock> sensitivity_table(const PlanResult& plan) {
  TableBlock table{"What else the answer could have been",
                   {"If this were different", "Now", "Then", "Effect", "Simulated"},
                   {}};
  for (const SensitivityRow& row : plan.sensitivity) {
    table.rows.push_back({row.what, row.from, row.to, row.effect,
                          row.assessment ? verdict_in_words(row.assessment->verdict) : std::string()});
  }
  return if_any(std::move(table));
}

std::optional<TableBlock> input_table(const StudyProvenance& provenance) {
  TableBlock table{"Files that the result depends on", {"File", "Hash", "Bytes"}, {}};
  for (std::size_t i = 0; i < provenance.inputs.size(); ++i) {
    const InputFile& input = provenance.inputs[i];
    table.rows.push_back(
        {input.name, input.hash, count_cell(input.bytes, fmt::format("inputs.{}.size_bytes", i))});
  }
  return if_any(std::move(table));
}

}  // namespace inferometer
