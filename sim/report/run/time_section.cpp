// What the time of the replicas went to.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

struct Part {
  const char* name;
  double TimeSplit::*share;
};
constexpr std::array<Part, 7> kParts = {{{"compute", &TimeSplit::compute},
                                         {"bandwidth", &TimeSplit::bandwidth},
                                         {"communication", &TimeSplit::communication},
                                         {"latency", &TimeSplit::latency},
                                         {"host", &TimeSplit::host},
                                         {"bubble", &TimeSplit::bubble},
                                         {"idle", &TimeSplit::idle}}};

/// Whose time: the whole run's, then each pool's of several.
struct Owner {
  std::string name, field;
  const TimeSplit* split;
};

std::vector<Owner> owners(const Summary& summary) {
  std::vector<Owner> all = {{summary.pools.size() > 1 ? "all" : "time", "time_split.", &summary.time_split}};
  for (std::size_t i = 0; summary.pools.size() > 1 && i < summary.pools.size(); ++i) {
    all.push_back(
        {summary.pools[i].name, fmt::format("pools.{}.time_split.", i), &summary.pools[i].time_split});
  }
  return all;
}

bool is_anywhere(const Part& part, const std::vector<Owner>& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Owner& owner) { return owner.split->*part.share != 0; });
}

/// results.json has no bubble where there is none.
Cell part_cell(const Owner& owner, const Part& part) {
  const double share = owner.split->*part.share;
  return part.share == &TimeSplit::bubble && share == 0 ? Cell(percent(share))
                                                        : share_cell(owner.field + part.name, share);
}

}  // namespace

Section time_section(const Report& report) {
  Section section{"Where the time went", {}};
  if (report.summary.all_phases.steps == 0) {
    section.blocks.emplace_back(
        Paragraph{"No step was run to its end: the replicas were idle all the time."});
    return section;
  }
  const std::vector<Owner> all = owners(report.summary);
  Chart chart;
  chart.id = "time-split";
  chart.title = "Share of the time of the replicas";
  chart.summary =
      "Compute: under the compute roof. Bandwidth: under the memory roof. Communication: between GPUs of a "
      "replica. "
      "Latency: start-up of kernels. Host: scheduler, launch and sampling that the GPU waits for. Bubble: "
      "waiting for a "
      "stage of the pipeline. Idle: no step runs. Parts that are nowhere are left out.";
  chart.kind = ChartKind::stacked_bars;
  chart.y = {"share of time, %"};
  TableBlock table{"Shares of time", {"of"}, {}};
  for (const Owner& owner : all) {
    chart.categories.push_back(owner.name);
    table.rows.push_back({owner.name});
  }
  for (std::size_t place = 0; place < kParts.size(); ++place) {
    const Part& part = kParts[place];
    if (!is_anywhere(part, all)) {
      continue;
    }
    ChartSeries series{part.name};
    series.colour = static_cast<int>(place);
    table.columns.emplace_back(part.name);
    for (std::size_t i = 0; i < all.size(); ++i) {
      series.points.push_back({0, 100 * (all[i].split->*part.share)});
      table.rows[i].push_back(part_cell(all[i], part));
    }
    chart.series.push_back(std::move(series));
  }
  section.blocks.emplace_back(std::move(chart));
  section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace inferometer
