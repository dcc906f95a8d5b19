// Steps under the roofs of their GPU.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

constexpr double kTera = 1e12;
constexpr std::array<const char*, kStepPhases> kPhaseNames = {"prefill", "decode", "mixed"};
/// Of the roofs, behind those of the phases.
constexpr int kMemoryColour = 3, kBf16Colour = 4, kFp8Colour = 5;

/// From where to where the roofs are drawn: around all steps and the ridge.
struct Range {
  double low, high;
};

Range range_of(const PoolRoofline& roofline) {
  constexpr double kMargin = 2;  // to each side, as a factor
  const double ridge = roofline.bf16_peak.count() / roofline.bandwidth.count();
  Range range{ridge / kMargin, ridge * kMargin};
  if (roofline.fp8_peak) {
    range.high = std::max(range.high, roofline.fp8_peak->count() / roofline.bandwidth.count() * kMargin);
  }
  for (const std::vector<RooflineCell>& cells : roofline.phases) {
    for (const RooflineCell& cell : cells) {
      range.low = std::min(range.low, cell.intensity() / kMargin);
      range.high = std::max(range.high, cell.intensity() * kMargin);
    }
  }
  return range;
}

ChartSeries line(std::string name, int colour, ChartPoint from, ChartPoint to) {
  ChartSeries series{std::move(name), {std::move(from), std::move(to)}};
  series.is_line = true;
  series.is_dashed = true;
  series.colour = colour;
  return series;
}

void add_roofs(const PoolRoofline& roofline, Chart& chart) {
  const Range range = range_of(roofline);
  const double bandwidth = roofline.bandwidth.count() / kTera;
  const double bf16 = roofline.bf16_peak.count() / kTera;
  const double top = roofline.fp8_peak ? std::max(bf16, roofline.fp8_peak->count() / kTera) : bf16;
  chart.series.push_back(line(fmt::format("memory, {} TB/s", short_number(bandwidth)), kMemoryColour,
                              {range.low, range.low * bandwidth}, {top / bandwidth, top}));
  chart.series.push_back(line(fmt::format("bf16, {} TFLOP/s", short_number(bf16)), kBf16Colour,
                              {bf16 / bandwidth, bf16}, {range.high, bf16}));
  if (roofline.fp8_peak) {
    const double fp8 = roofline.fp8_peak->count() / kTera;
    chart.series.push_back(line(fmt::format("fp8, {} TFLOP/s", short_number(fp8)), kFp8Colour,
                                {fp8 / bandwidth, fp8}, {range.high, fp8}));
  }
  chart.lines.push_back(
      {fmt::format("ridge point, {} FLOP/B", short_number(bf16 / bandwidth)), bf16 / bandwidth, true});
}

Int128 time_of(const PoolRoofline& roofline) {
  Int128 time = 0;
  for (const std::vector<RooflineCell>& cells : roofline.phases) {
    for (const RooflineCell& cell : cells) {
      time += cell.time;
    }
  }
  return time;
}

void add_steps(const PoolRoofline& roofline, Chart& chart) {
  const auto all = static_cast<double>(time_of(roofline));
  for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
    ChartSeries series{kPhaseNames[phase]};
    series.colour = static_cast<int>(phase);
    for (const RooflineCell& cell : roofline.phases[phase]) {
      const double share = static_cast<double>(cell.time) / all;
      series.points.push_back(
          {cell.intensity(), cell.flops_per_second() / kTera,
           fmt::format("{}, {} of the time in steps", counted(cell.steps, "step"), percent(share)), share});
    }
    if (!series.points.empty()) {
      chart.series.push_back(std::move(series));
    }
  }
}

Chart roofline_chart(const PoolRoofline& roofline, bool is_alone) {
  Chart chart;
  chart.id = is_alone ? "roofline" : "roofline-" + roofline.pool;
  chart.title = is_alone ? "Roofline of " + roofline.gpu
                         : fmt::format("Roofline of pool {} on {}", roofline.pool, roofline.gpu);
  chart.summary =
      "FLOPs for each byte of device memory against FLOPs a second, of one GPU, host time included. A dot is "
      "the mean "
      "of steps that are alike within a quarter; its area is their share of the time in steps.";
  chart.kind = ChartKind::points;
  chart.x = {"intensity, FLOP/B", true};
  chart.y = {"performance of a GPU, TFLOP/s", true};
  add_steps(roofline, chart);
  add_roofs(roofline, chart);
  return chart;
}

/// Means of all steps of a phase.
std::vector<Cell> phase_row(const std::string& name, const std::vector<RooflineCell>& cells,
                            const PhaseSummary& phase, const std::string& field) {
  RooflineCell sum;
  for (const RooflineCell& cell : cells) {
    sum.steps += cell.steps;
    sum.time += cell.time;
    sum.flops += cell.flops;
    sum.hbm_bytes += cell.hbm_bytes;
  }
  return {name,
          count_cell(field + "steps", phase.steps),
          cell(short_duration(1e3 * phase.seconds), field + "busy_s", phase.seconds),
          short_number(sum.intensity()),
          short_number(sum.flops_per_second() / kTera),
          share_cell(field + "mfu_share", phase.mfu),
          share_cell(field + "mbu_share", phase.mbu)};
}

TableBlock phase_table(const Report& report, const RunCharts& charts) {
  TableBlock table{
      "Steps by phase", {"steps", "number", "time", "FLOP/B", "TFLOP/s of a GPU", "MFU", "MBU"}, {}};
  const bool is_cluster = report.summary.cluster.has_value();
  for (std::size_t pool = 0; pool < charts.rooflines.size(); ++pool) {
    for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
      const std::vector<RooflineCell>& cells = charts.rooflines[pool].phases[phase];
      if (cells.empty()) {
        continue;
      }
      const std::string prefix = is_cluster ? fmt::format("pools.{}.", pool) : "";
      const std::string name = charts.rooflines.size() == 1
                                   ? kPhaseNames[phase]
                                   : charts.rooflines[pool].pool + ", " + kPhaseNames[phase];
      table.rows.push_back(phase_row(name, cells, report.summary.pools[pool].phases[phase],
                                     fmt::format("{}steps.{}.", prefix, kPhaseNames[phase])));
    }
  }
  return table;
}

}  // namespace

Section roofline_section(const Report& report, const RunCharts& charts) {
  Section section{"Steps on the roofline", {}};
  TableBlock table = phase_table(report, charts);
  if (table.rows.empty()) {
    section.blocks.emplace_back(
        Paragraph{"No step was run to its end, so none lies on the roofline.", Tone::warning});
    return section;
  }
  section.blocks.emplace_back(Paragraph{
      "Left of the ridge point a step waits for memory, right of it for arithmetic; how far it lies below "
      "the roof is what kernels, start-up and the host leave unused."});
  section.blocks.emplace_back(std::move(table));
  for (const PoolRoofline& roofline : charts.rooflines) {
    if (time_of(roofline) > 0) {
      section.blocks.emplace_back(roofline_chart(roofline, charts.rooflines.size() == 1));
    } else {
      section.blocks.emplace_back(Paragraph{"Pool " + roofline.pool + " ran no step."});
    }
  }
  return section;
}

}  // namespace inferometer
