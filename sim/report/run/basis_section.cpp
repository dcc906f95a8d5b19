// What the figures stand on, and the files that the run was made from.

#include <fmt/format.h>

#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/sensitivity_sentence.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

void add_prices(const Report& report, Section& section) {
  const CostBasis& basis = report.cost_basis;
  section.blocks.emplace_back(
      Paragraph{fmt::format("Steps are priced at level {}{}.", to_string(basis.level),
                            basis.profile.empty() ? ", by no measured kernels" : ", by " + basis.profile)});
  if (report.summary.extrapolated_share == 0 || basis.extrapolations.empty()) {
    return;
  }
  TableBlock table{"Kernels beyond what was measured",
                   {"kernel", "by", "goes up to (or down to)", "measured", "factor"},
                   {}};
  for (std::size_t i = 0; i < basis.extrapolations.size(); ++i) {
    const Extrapolation& beyond = basis.extrapolations[i];
    const std::string field = fmt::format("cost_model.extrapolated.{}.", i);
    table.rows.push_back({beyond.kernel, beyond.axis,
                          cell(short_number(beyond.value), field + "value", beyond.value),
                          cell(short_number(beyond.measured), field + "measured", beyond.measured),
                          cell(short_number(beyond.factor()), field + "factor", beyond.factor())});
  }
  section.blocks.emplace_back(std::move(table));
}

void add_intervals(const Report& report, Section& section) {
  if (!report.uncertainty) {
    section.blocks.emplace_back(
        Paragraph{"No uncertainty intervals: the run was not repeated (section uncertainty asks for that)."});
    return;
  }
  const Uncertainty& uncertainty = *report.uncertainty;
  TableBlock table{
      fmt::format("Intervals: {:.0f} to {:.0f} % of {} runs with kernels as far off as on shapes left out "
                  "of the fit",
                  100 * Uncertainty::kLow, 100 * Uncertainty::kHigh, grouped(uncertainty.runs)),
      {"metric", "from", "to"},
      {}};
  for (const MetricInterval& interval : uncertainty.intervals) {
    const std::string field = "uncertainty.metrics." + interval.metric;
    table.rows.push_back({interval.metric, cell(short_number(interval.low), field + ".0", interval.low),
                          cell(short_number(interval.high), field + ".1", interval.high)});
  }
  section.blocks.emplace_back(std::move(table));
}

}  // namespace

Section basis_section(const Report& report) {
  Section section{"What this stands on", {}};
  add_prices(report, section);
  add_intervals(report, section);
  if (report.sensitivity) {
    section.blocks.emplace_back(
        Paragraph{sentence("With " + sensitivity_sentence(*report.sensitivity, report.summary))});
  }
  for (const std::string& note : report.notes) {
    section.blocks.emplace_back(Paragraph{sentence("Note: " + note)});
  }
  const StepCounts& counts = report.step_counts;
  section.blocks.emplace_back(
      Paragraph{counts.by_reference > 0
                    ? "Steps were run one by one, by the reference stepper."
                    : fmt::format("Steps were run in {} stretches of steps alike, and {} one by one.",
                                  grouped(counts.stretches), grouped(counts.single()))});
  return section;
}

Section input_section(const Report& report) {
  Section section{"Inputs", {}};
  TableBlock table{"Files that the run was read from", {"file", "bytes", "hash"}, {}};
  for (std::size_t i = 0; i < report.inputs.size(); ++i) {
    const InputFile& input = report.inputs[i];
    table.rows.push_back(
        {input.name, count_cell(fmt::format("inputs.{}.size_bytes", i), input.bytes), input.hash});
  }
  if (table.rows.empty()) {
    section.blocks.emplace_back(Paragraph{"The run was read from no file."});
  } else {
    section.blocks.emplace_back(std::move(table));
  }
  constexpr int kIndent = 2;
  section.blocks.emplace_back(
      Listing{"The scenario with all defaults", report.resolved_scenario.dump(kIndent)});
  section.blocks.emplace_back(Listing{"What its settings amount to", report.deployment.dump(kIndent)});
  return section;
}

}  // namespace inferometer
