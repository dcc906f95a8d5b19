// The run over simulated time: blocks, requests, batches.

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "sim/report/run/figures.hpp"
#include "sim/report/run/run_sections.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

/// A value of a pool's bin; nothing where it has none.
using PoolValue =
    std::function<std::optional<double>(const PoolTimeline&, std::size_t pool, std::size_t bin)>;

class TimelineCharts {
 public:
  TimelineCharts(const Report& report, const Timeline& timeline)
      : summary_(report.summary), timeline_(timeline) {}

  [[nodiscard]] Chart kv_cache() const {
    Chart chart =
        over_time("kv-timeline", "KV cache",
                  "Share of KV blocks held, mean of each bin and the most of one replica. Blocks count "
                  "while their replica runs steps.",
                  "blocks held, %");
    add_pools(chart, "mean", [this](const PoolTimeline& pool, std::size_t place, std::size_t bin) {
      const double all = static_cast<double>(summary_.pools[place].kv_blocks * pool.lanes);
      return 100 * mean(pool.bins[bin].held_blocks, bin) / all;
    });
    add_pools(chart, "most", [this](const PoolTimeline& pool, std::size_t place, std::size_t bin) {
      return 100 * summary_.pools[place].kv_share(static_cast<double>(pool.bins[bin].most_held));
    });
    return chart;
  }

  [[nodiscard]] Chart requests() const {
    Chart chart = over_time("request-timeline", "Requests",
                            "Requests in steps, on all replicas, and waiting: means of each bin, and "
                            "the most that a request found waiting as it came.",
                            "requests");
    add_pools(chart, "running", [this](const PoolTimeline& pool, std::size_t, std::size_t bin) {
      return mean(pool.bins[bin].running, bin);
    });
    if (timeline_.pools.size() == 1) {  // of several pools the batches have a chart of their own
      add_pools(chart, "decoding", [this](const PoolTimeline& pool, std::size_t, std::size_t bin) {
        return mean(pool.bins[bin].decoding, bin);
      });
    }
    ChartSeries waiting{"waiting"};
    ChartSeries most{"waiting, most found"};
    most.is_dashed = true;
    waiting.colour = most.colour = static_cast<int>(chart.series.size());
    for (std::size_t bin = 0; bin < timeline_.requests.size(); ++bin) {
      waiting.points.push_back({middle(bin), mean(timeline_.waiting(bin), bin)});
      if (const std::int64_t found = timeline_.requests[bin].most_waiting; found >= 0) {
        most.points.push_back({middle(bin), static_cast<double>(found)});
      }
    }
    chart.series.push_back(std::move(waiting));
    chart.series.push_back(std::move(most));
    return chart;
  }

  [[nodiscard]] Chart batches() const {
    Chart chart =
        over_time("batch-timeline", "Decoding batch",
                  "Sequences that decode in a step: mean over the time in steps of each bin, and most.",
                  "sequences of a step");
    add_pools(
        chart, "mean", [](const PoolTimeline& pool, std::size_t, std::size_t bin) -> std::optional<double> {
          const PoolBin& at = pool.bins[bin];
          return at.in_steps == 0
                     ? std::nullopt
                     : std::optional(static_cast<double>(at.decoding) / static_cast<double>(at.in_steps));
        });
    add_pools(chart, "most",
              [](const PoolTimeline& pool, std::size_t, std::size_t bin) -> std::optional<double> {
                const PoolBin& at = pool.bins[bin];
                return at.in_steps == 0 ? std::nullopt : std::optional(static_cast<double>(at.most_decoding));
              });
    return chart;
  }

  [[nodiscard]] Chart busy() const {
    Chart chart =
        over_time("busy-timeline", "Time in steps",
                  "Share of the time in which replicas run steps, host time and waiting for a stage of "
                  "the pipeline included; of all replicas there may be.",
                  "time in steps, %");
    add_pools(chart, "in steps", [this](const PoolTimeline& pool, std::size_t, std::size_t bin) {
      return 100 * mean(pool.bins[bin].in_steps, bin) / static_cast<double>(pool.replicas * pool.lanes);
    });
    return chart;
  }

 private:
  [[nodiscard]] Chart over_time(const char* id, const char* title, const char* summary, const char* y) const {
    Chart chart;
    chart.id = id;
    chart.title = title;
    chart.summary = fmt::format("{} Bins of {}.", summary, short_duration(to_milliseconds(timeline_.width)));
    chart.x = {"simulated time, s"};
    chart.y = {y};
    return chart;
  }

  /// A series a pool. The first call's are whole lines, in the pools' colours; "most" is a dashed line in the
  /// same; others have colours of their own.
  void add_pools(Chart& chart, const std::string& what, const PoolValue& value) const {
    const bool is_most = what == "most";
    const auto before = static_cast<int>(chart.series.size());
    for (std::size_t place = 0; place < timeline_.pools.size(); ++place) {
      const PoolTimeline& pool = timeline_.pools[place];
      ChartSeries series{timeline_.pools.size() == 1 ? what : pool.name + ", " + what};
      series.is_dashed = is_most;
      series.colour = (is_most ? 0 : before) + static_cast<int>(place);
      for (std::size_t bin = 0; bin < pool.bins.size(); ++bin) {
        if (const std::optional<double> y = value(pool, place, bin)) {
          series.points.push_back({middle(bin), *y});
        }
      }
      chart.series.push_back(std::move(series));
    }
  }

  /// Of a value times picoseconds over a bin.
  [[nodiscard]] double mean(Int128 integral, std::size_t bin) const {
    return static_cast<double>(integral) / static_cast<double>(timeline_.length_of(bin).count());
  }
  /// In seconds.
  [[nodiscard]] double middle(std::size_t bin) const {
    return to_seconds(timeline_.start_of(bin).since_start()) + to_seconds(timeline_.length_of(bin)) / 2;
  }

  const Summary& summary_;
  const Timeline& timeline_;
};

TableBlock levels_table(const Summary& summary) {
  TableBlock table{"Over the whole run", {"quantity", "mean while busy", "mean over all time", "most"}, {}};
  const auto add = [&](const char* name, const std::string& field, const LevelSummary& level) {
    table.rows.push_back({name, cell(short_number(level.mean_busy), field + ".mean_busy", level.mean_busy),
                          cell(short_number(level.mean_total), field + ".mean_total", level.mean_total),
                          count_cell(field + ".peak", level.peak)});
  };
  add("KV blocks held", "engine.kv_held_blocks", summary.kv_occupancy_blocks);
  add("running requests", "engine.running_requests", summary.running);
  add("decoding requests", "engine.decoding_requests", summary.batch_size);
  add("waiting requests", "engine.waiting_requests", summary.waiting);
  return table;
}

}  // namespace

Section timeline_section(const Report& report, const RunCharts& charts) {
  const Summary& summary = report.summary;
  Section section{"Load over time", {}};
  if (charts.timeline.requests.empty() || summary.all_phases.steps == 0) {
    section.blocks.emplace_back(
        Paragraph{"No step was run to its end, so there is nothing to show over time.", Tone::warning});
    return section;
  }
  const TimelineCharts over_time(report, charts.timeline);
  section.blocks.emplace_back(levels_table(summary));
  if (std::all_of(summary.pools.begin(), summary.pools.end(),
                  [](const PoolSummary& pool) { return pool.kv_blocks > 0; })) {
    section.blocks.emplace_back(over_time.kv_cache());
  } else {
    section.blocks.emplace_back(
        Paragraph{"The size of the KV cache is not known, so no share of it is shown."});
  }
  section.blocks.emplace_back(over_time.requests());
  section.blocks.emplace_back(over_time.batches());
  section.blocks.emplace_back(over_time.busy());
  return section;
}

}  // namespace inferometer
