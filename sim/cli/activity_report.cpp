#include "sim/cli/activity_report.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace inferometer {
namespace {

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

std::string rule_text(const ActivitySettings& settings) {
  if (!settings.windows.empty()) {
    return fmt::format(
        "Phases are those of --phases; a sample, {} ms of the log, belongs to the one that holds its "
        "middle.\n",
        1e3 * settings.period_s);
  }
  return fmt::format(
      "Phases by each sample alone: idle, SM below {} %; else decode-like (bound by bandwidth) where DRAM is "
      "at "
      "least\n{} of SM, prefill-like (bound by compute) below.\n",
      100 * kIdleBelow, kBandwidthBoundFrom);
}

void add_spread(const ActivitySpread& spread, std::vector<std::string>& row) {
  for (const double share : {spread.mean, spread.p10, spread.p50, spread.p90}) {
    row.push_back(percent(share));
  }
}

/// Measured, simulated and their difference, of one figure of the phase.
void add_difference(const ActivityPair& pair, double (*figure)(const PhaseActivity&),
                    std::vector<std::string>& row) {
  row.push_back(pair.measured ? percent(figure(*pair.measured)) : "-");
  row.push_back(pair.simulated ? percent(figure(*pair.simulated)) : "-");
  row.push_back(pair.measured && pair.simulated
                    ? fmt::format("{:+.1f}", 100 * (figure(*pair.simulated) - figure(*pair.measured)))
                    : "-");
}

}  // namespace

std::string activity_text(const std::vector<GpuActivity>& gpus, const ActivitySettings& settings) {
  std::vector<std::vector<std::string>> rows{{"GPU", "phase", "samples", "time %", "SM % mean", "p10", "p50",
                                              "p90", "DRAM % mean", "p10", "p50", "p90"}};
  std::string notes;
  for (const GpuActivity& gpu : gpus) {
    for (const PhaseActivity& phase : gpu.phases) {
      std::vector<std::string> row{gpu.name, phase.phase, std::to_string(phase.samples),
                                   percent(phase.time_share)};
      add_spread(phase.sm, row);
      add_spread(phase.dram, row);
      rows.push_back(std::move(row));
    }
    if (gpu.missing > 0) {
      notes += fmt::format("note: {}: {} row{} with N/A left out\n", gpu.name, gpu.missing,
                           gpu.missing > 1 ? "s" : "");
    }
  }
  return align_columns(rows, 2) + "\n" + rule_text(settings) + notes;
}

std::string activity_comparison_text(const ActivityComparison& comparison, const ActivitySettings& settings) {
  std::vector<std::vector<std::string>> rows{{"GPU", "phase", "time %", "simulated", "diff", "SM %",
                                              "simulated", "diff", "DRAM %", "simulated", "diff"}};
  for (const ActivityPair& pair : comparison.pairs) {
    std::vector<std::string> row{pair.gpu, pair.phase};
    add_difference(
        pair, [](const PhaseActivity& phase) { return phase.time_share; }, row);
    add_difference(
        pair, [](const PhaseActivity& phase) { return phase.sm.mean; }, row);
    add_difference(
        pair, [](const PhaseActivity& phase) { return phase.dram.mean; }, row);
    rows.push_back(std::move(row));
  }
  std::string text = align_columns(rows, 2) +
                     "\nMeans; measured first, diff is simulated less measured. Simulated SMs are all busy "
                     "while a kernel runs; "
                     "measured\nones only while they have a warp, so that small kernels show less.\n" +
                     rule_text(settings);
  for (const std::string& note : comparison.notes) {
    text += "note: " + note + "\n";
  }
  return text;
}

}  // namespace inferometer
