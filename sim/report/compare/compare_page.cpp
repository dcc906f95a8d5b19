#include "sim/report/compare/compare_page.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/report/compare/compare_charts.hpp"
#include "sim/report/compare/compare_json.hpp"
#include "sim/report/compare/compare_sentences.hpp"
#include "sim/report/compare/difference_words.hpp"
#include "sim/report/compare/metric_words.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

Tone tone_of(const Difference& difference) {
  return difference.verdict == DifferenceVerdict::better  ? Tone::good
         : difference.verdict == DifferenceVerdict::worse ? Tone::bad
                                                          : Tone::plain;
}

/// A metric in compare.json.
std::string field_of(const CompareReport& report, std::size_t load, std::size_t variant, std::size_t metric) {
  return fmt::format("loads.{}.variants.{}.metrics.{}", load, variant, report.study->metrics[metric]);
}

void add_chart(std::optional<Chart> chart, Section& section) {
  if (chart) {
    section.blocks.emplace_back(*std::move(chart));
  }
}

/// In the unit of the metric's heading, which stands behind a share once more: "12.3", "45.6 %".
std::string figure_text(const std::string& metric, double value) {
  return metric_number(metric, value) + (metric_words(metric).unit == "%" ? " %" : "");
}

/// "12.3 (11.9 to 12.7)", likewise.
std::string range_text(const std::string& metric, const Estimate& estimate) {
  std::string text = figure_text(metric, estimate.mean);
  if (estimate.half_width) {
    text +=
        fmt::format(" ({} to {})", figure_text(metric, estimate.low()), figure_text(metric, estimate.high()));
  }
  return text;
}

/// "-41.2 % (-44.3 to -38.1)"
std::string share_text(const Difference& difference) {
  if (!difference.relative) {
    return "-";
  }
  const RelativeDifference& relative = *difference.relative;
  const auto percent = [](double value) { return (value > 0 ? "+" : "") + short_number(100 * value); };
  return percent(relative.share) + " %" +
         (relative.low ? fmt::format(" ({} to {})", percent(*relative.low), percent(*relative.high)) : "");
}

/// The leading metric of each variant.
std::vector<KeyFigure> key_figures(const CompareReport& report, std::size_t load) {
  const CompareStudy& study = *report.study;
  const auto metric = static_cast<std::size_t>(
      std::find(study.metrics.begin(), study.metrics.end(), study.leading_metric) - study.metrics.begin());
  std::vector<KeyFigure> figures;
  for (std::size_t variant = 0; variant < study.variants.size(); ++variant) {
    const VariantResult& result = report.result.loads[load].variants[variant];
    KeyFigure figure{study.variants[variant], "-"};
    if (!result.error.empty() || !result.metrics[metric].value) {
      figure.remark = result.error.empty() ? "no value" : "could not be run";
      figure.tone = result.error.empty() ? Tone::plain : Tone::bad;
      figures.push_back(std::move(figure));
      continue;
    }
    const double mean = kept_figure(result.metrics[metric].value->mean);
    figure.value = metric_amount(study.leading_metric, result.metrics[metric].value->mean);
    figure.number = ResultsNumber{field_of(report, load, variant, metric) + ".mean", mean};
    figure.remark = metric_words(study.leading_metric).title + (variant == 0 ? ", the baseline" : "");
    if (const std::optional<Difference>& difference = result.metrics[metric].difference) {
      figure.remark += ", " + difference_in_words(study.leading_metric, *difference, study.variants.front());
      figure.tone = tone_of(*difference);
    }
    if (result.is_unstable()) {
      figure.remark += "; queue grows";
      figure.tone = Tone::warning;
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

/// The mean of a metric, and but for the baseline how it differs.
void add_cells(const CompareReport& report, std::size_t load, std::size_t variant, std::size_t metric,
               std::vector<Cell>& row) {
  const std::string& name = report.study->metrics[metric];
  const VariantResult& result = report.result.loads[load].variants[variant];
  const bool has_value = result.error.empty() && result.metrics[metric].value;
  if (has_value) {
    const double mean = result.metrics[metric].value->mean;
    row.emplace_back(figure_text(name, mean),
                     ResultsNumber{field_of(report, load, variant, metric) + ".mean", kept_figure(mean)});
  } else {
    row.emplace_back("-");
  }
  if (variant == 0) {
    return;
  }
  if (!has_value || !result.metrics[metric].difference) {
    row.emplace_back("-");
    return;
  }
  const Difference& difference = *result.metrics[metric].difference;
  const std::string in_words = short_difference(name, difference);
  row.emplace_back((in_words.empty() ? "" : in_words + "  ") + verdict_word(difference), tone_of(difference));
}

/// Metrics down, variants across.
TableBlock overview_table(const CompareReport& report, std::size_t load) {
  const CompareStudy& study = *report.study;
  const std::vector<VariantResult>& variants = report.result.loads[load].variants;
  TableBlock table;
  table.caption = "Means, and differences from " + study.variants.front() +
                  " (~ none shown, = the same in every pair, * depends on the length of the run)";
  table.columns = {"metric"};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    table.columns.push_back(study.variants[i] + (variants[i].is_unstable() ? " *" : ""));
    if (i > 0) {
      table.columns.emplace_back("difference");
    }
  }
  for (std::size_t metric = 0; metric < study.metrics.size(); ++metric) {
    std::vector<Cell> row = {metric_heading(study.metrics[metric])};
    for (std::size_t i = 0; i < variants.size(); ++i) {
      add_cells(report, load, i, metric, row);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// A row for each metric and variant, with intervals.
TableBlock difference_table(const CompareReport& report, std::size_t load) {
  const CompareStudy& study = *report.study;
  const LoadResult& result = report.result.loads[load];
  TableBlock table;
  table.caption = result.is_exact ? "Differences in full: exact, for this traffic"
                                  : "Differences in full, with 95 % intervals";
  table.columns = {"metric", "variant", "mean", study.variants.front(), "difference", "relative", "verdict"};
  for (std::size_t metric = 0; metric < study.metrics.size(); ++metric) {
    const std::string& name = study.metrics[metric];
    for (std::size_t i = 1; i < result.variants.size(); ++i) {
      if (!result.variants[i].error.empty() || !result.variants[i].metrics[metric].difference) {
        continue;
      }
      const ComparedMetric& compared = result.variants[i].metrics[metric];
      const Difference& difference = *compared.difference;
      table.rows.push_back(
          {metric_heading(name), study.variants[i], range_text(name, *compared.value),
           metric_number(name, difference.baseline),
           Cell(range_text(name, difference.value),
                ResultsNumber{field_of(report, load, i, metric) + ".difference.mean",
                              kept_figure(difference.value.mean)}),
           share_text(difference),
           Cell(std::string(to_string(difference.verdict)) + (difference.is_unsteady ? " *" : ""),
                tone_of(difference))});
    }
  }
  return table;
}

/// "3 of 5" runs that kept a limit; "-" for a variant whose scenario has none of that name.
Cell kept_cell(const VariantResult& variant, const ComparedSlo& limit) {
  const auto found = std::find_if(variant.slo.begin(), variant.slo.end(), [&](const ComparedSlo& each) {
    return each.name == limit.name && each.limit == limit.limit;
  });
  if (found == variant.slo.end()) {
    return "-";
  }
  const Tone tone = found->runs_met == variant.runs ? Tone::good
                    : found->runs_met == 0          ? Tone::bad
                                                    : Tone::warning;
  return {fmt::format("{} of {}", found->runs_met, variant.runs), tone};
}

/// Limits down, variants across: in how many runs they were kept. Nothing without limits.
std::optional<TableBlock> slo_table_of(const CompareReport& report, std::size_t load) {
  const std::vector<VariantResult>& variants = report.result.loads[load].variants;
  std::vector<ComparedSlo> limits;
  for (const VariantResult& variant : variants) {
    for (const ComparedSlo& slo : variant.slo) {
      const bool is_new = std::none_of(limits.begin(), limits.end(), [&](const ComparedSlo& each) {
        return each.name == slo.name && each.limit == slo.limit;
      });
      if (is_new) {
        limits.push_back(slo);
      }
    }
  }
  if (limits.empty()) {
    return std::nullopt;
  }
  TableBlock table;
  table.caption = "Limits (SLO): runs that kept them";
  table.columns = {"limit"};
  table.columns.insert(table.columns.end(), report.study->variants.begin(), report.study->variants.end());
  for (const ComparedSlo& limit : limits) {
    const std::string amount =
        limit.name == "goodput" ? short_number(100 * limit.limit) + " %" : short_duration(limit.limit);
    std::vector<Cell> row = {limit.name + " " + amount};
    for (const VariantResult& variant : variants) {
      row.push_back(kept_cell(variant, limit));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Section load_section(const CompareReport& report, std::size_t load) {
  const LoadResult& result = report.result.loads[load];
  const std::string& words = report.study->loads[load].in_words;
  Section section;
  section.title = words.empty() ? "Differences" : "Differences " + words;
  section.blocks.emplace_back(key_figures(report, load));
  section.blocks.emplace_back(overview_table(report, load));
  if (const std::optional<TableBlock> slo = slo_table_of(report, load)) {
    section.blocks.emplace_back(*slo);
  }
  add_chart(distribution_chart(report, load, LatencyMetric::ttft), section);
  add_chart(distribution_chart(report, load, LatencyMetric::itl), section);
  add_chart(distribution_chart(report, load, LatencyMetric::e2el), section);
  const bool any = std::any_of(result.variants.begin(), result.variants.end(),
                               [](const VariantResult& each) { return each.error.empty(); });
  if (any) {
    section.blocks.emplace_back(time_chart(report, load));
  }
  TableBlock differences = difference_table(report, load);
  if (!differences.rows.empty()) {
    section.blocks.emplace_back(std::move(differences));
  }
  return section;
}

Section rates_section(const CompareReport& report) {
  Section section{"Latency against throughput", {}};
  for (const LatencyMetric metric : {LatencyMetric::ttft, LatencyMetric::tpot}) {
    for (const LatencyStatistic statistic : {LatencyStatistic::p50, LatencyStatistic::p99}) {
      add_chart(rate_chart(report, metric, statistic), section);
    }
  }
  return section;
}

Section cost_section(const CompareReport& report) {
  static const std::vector<std::string> kMetrics = {"dollars_per_hour", "output_dollars_per_million_tokens",
                                                    "total_dollars_per_million_tokens",
                                                    "joules_per_output_token", "mean_power_watts"};
  TableBlock table;
  table.caption = "Means";
  table.columns = {"variant", "load"};
  for (const std::string& metric : kMetrics) {
    table.columns.push_back(metric_heading(metric));
  }
  for (const LoadResult& load : report.result.loads) {
    for (std::size_t i = 0; i < load.variants.size(); ++i) {
      if (!load.variants[i].error.empty()) {
        continue;
      }
      std::vector<Cell> row = {report.study->variants[i], load.name.empty() ? "as in the base" : load.name};
      for (const std::string& metric : kMetrics) {
        const std::optional<double> mean = load.variants[i].mean(metric);
        row.emplace_back(mean ? metric_number(metric, *mean) : "-");
      }
      table.rows.push_back(std::move(row));
    }
  }
  Section section{"Cost and energy", {}};
  if (table.rows.empty()) {
    section.blocks.emplace_back(Paragraph{"No variant could be run."});
    return section;
  }
  add_chart(metric_chart(report, "output_dollars_per_million_tokens"), section);
  add_chart(metric_chart(report, "joules_per_output_token"), section);
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section basis_section(const CompareReport& report) {
  Section section{"What this stands on", {}};
  for (const std::string& sentence : basis_sentences(report)) {
    section.blocks.emplace_back(Paragraph{sentence});
  }
  for (const std::string& note : report.study->notes) {
    section.blocks.emplace_back(Paragraph{"Note: " + note + "."});
  }
  TableBlock table;
  table.caption = "Runs";
  table.columns = {
      "variant", "load", "runs", "queue grows in", "not served", "cut short", "outside of what was measured"};
  for (const LoadResult& load : report.result.loads) {
    for (std::size_t i = 0; i < load.variants.size(); ++i) {
      const VariantResult& each = load.variants[i];
      table.rows.push_back(
          {report.study->variants[i], load.name.empty() ? "as in the base" : load.name,
           std::to_string(each.runs),
           Cell(std::to_string(each.unstable_runs), each.is_unstable() ? Tone::warning : Tone::plain),
           short_number(each.failed_requests), short_number(each.truncated_requests),
           short_number(100 * each.extrapolated_share) + " %"});
    }
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section study_section(const CompareReport& report) {
  Section section{"The study", {}};
  TableBlock variants;
  variants.caption = "What variants change in " + report.study->variants.front();
  variants.columns = {"variant", "key", "value"};
  for (const VariantChanges& variant : report.variants) {
    for (const auto& [key, value] : variant.changes.items()) {
      variants.rows.push_back({variant.name, key,
                               value.is_null()     ? "(not there)"
                               : value.is_string() ? value.get<std::string>()
                                                   : value.dump()});
    }
  }
  if (!variants.rows.empty()) {
    section.blocks.emplace_back(std::move(variants));
  }
  section.blocks.emplace_back(Listing{"Scenario of " + report.study->variants.front() + ", with all defaults",
                                      report.baseline.dump(2)});
  TableBlock inputs;
  inputs.caption = "Inputs";
  inputs.columns = {"file", "hash", "bytes"};
  for (const InputFile& input : report.inputs) {
    inputs.rows.push_back({input.name, input.hash, grouped(input.bytes)});
  }
  section.blocks.emplace_back(std::move(inputs));
  return section;
}

}  // namespace

Page compare_page(const CompareReport& report) {
  const CompareStudy& study = *report.study;
  Page page;
  page.title = report.name;
  page.subtitle = study.description.empty()
                      ? fmt::format("{} variants of a scenario compared", study.variants.size())
                      : study.description;
  for (const std::string& sentence : answer_sentences(report)) {
    page.answer.push_back({sentence});
  }
  for (const std::string& sentence : warning_sentences(report)) {
    page.answer.push_back({sentence, Tone::warning});
  }
  Section rates = rates_section(report);
  if (!rates.blocks.empty()) {
    page.sections.push_back(std::move(rates));
  }
  for (std::size_t load = 0; load < report.result.loads.size(); ++load) {
    page.sections.push_back(load_section(report, load));
  }
  page.sections.push_back(cost_section(report));
  page.sections.push_back(basis_section(report));
  page.sections.push_back(study_section(report));
  page.footer = "inferometer " + report.program_version + ", " + report.name + ", seeds " +
                std::to_string(study.seeds.front()) + " to " + std::to_string(study.seeds.back());
  return page;
}

}  // namespace inferometer
