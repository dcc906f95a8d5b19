#include "sim/cli/sweep_report.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "calibration/measure/point_outcome.hpp"
#include "costmodel/kernels/kernel_work.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

struct KindTotals {
  std::int64_t points = 0, held_out = 0;
  double bytes = 0, flops = 0, seconds = 0;

  void add(const SweepPoint& point) {
    const KernelWork work = kernel_work(point.call);
    ++points;
    held_out += point.use == PointUse::held_out ? 1 : 0;
    bytes += work.hbm_bytes + work.link_bytes;
    flops += work.flops;
    seconds += point.expected_seconds;
  }
};

std::vector<std::string> plan_row(const std::string& name, const KindTotals& totals) {
  return {name,
          grouped(totals.points),
          grouped(totals.held_out),
          short_number(totals.bytes / 1e9),
          short_number(totals.flops / 1e12),
          short_duration(1e3 * totals.seconds)};
}

std::string how_it_ended(const SweepResult& result) {
  switch (result.end) {
    case SweepResult::End::complete:
      return "all points were tried";
    case SweepResult::End::stopped:
      return "stopped; the same command goes on from here";
    case SweepResult::End::budget:
      return "the time is used up; the same command measures further points";
    case SweepResult::End::device_lost:
      return "the GPU was lost: " + result.why + "; the same command goes on from here";
  }
  return "";
}

}  // namespace

std::string plan_text(const SweepPlan& plan, const GpuSpec& gpu) {
  std::map<std::pair<KernelFamily, std::string>, KindTotals> kinds;
  KindTotals all;
  for (const SweepPoint& point : plan.points) {
    kinds[{point.call.family, point.call.variant}].add(point);
    all.add(point);
  }
  std::vector<std::vector<std::string>> rows = {{"kernels", "points", "held out", "GB", "TFLOP", "time"}};
  for (const auto& [kind, totals] : kinds) {
    rows.push_back(plan_row(std::string(to_string(kind.first)) + " " + kind.second, totals));
  }
  rows.push_back(plan_row("all", all));
  return fmt::format(
      "{}: {} points in about {}, of a budget of {}\n\n{}\n"
      "GB and TFLOP are those of one run of each point. Times are estimates from the datasheet's roofline: a "
      "point\n"
      "is filled, checked, and run about twenty times with the cache flushed before each.\n",
      gpu.title, grouped(all.points), short_duration(1e3 * all.seconds),
      short_duration(1e3 * plan.budget_seconds), align_columns(rows, 1));
}

std::string sweep_text(const SweepResult& result, const SweepPlan& plan) {
  std::int64_t written = 0;
  for (const auto& [outcome, count] : result.counts) {
    written += count;
  }
  std::string text = fmt::format("{} of {} points in {}: {}\n", grouped(written),
                                 grouped(static_cast<std::int64_t>(plan.points.size())),
                                 short_duration(1e3 * result.elapsed_seconds), how_it_ended(result));
  for (const auto& [outcome, count] : result.counts) {
    text += fmt::format("  {} {}\n", grouped(count), to_string(outcome));
  }
  if (result.there_before > 0) {
    text += fmt::format("  {} were there before\n", grouped(result.there_before));
  }
  if (result.not_tried > 0) {
    text += fmt::format("  {} not tried\n", grouped(result.not_tried));
  }
  if (result.thrown_away > 0) {
    text += fmt::format("  {} samples thrown away: the GPU was below three quarters of its clock, or hot\n",
                        grouped(result.thrown_away));
  }
  return text;
}

std::string left_out_text(const std::vector<Measurements>& measured) {
  struct Kind {
    std::int64_t points = 0;
    std::string first;
    void add(const std::string& example) { first = ++points == 1 ? example : first; }
  };
  std::map<std::string, Kind> kinds;
  for (const Measurements& set : measured) {
    for (const SkippedPoint& point : set.skipped) {
      const std::optional<PointOutcome> outcome = outcome_of(point.reason);
      kinds[outcome ? std::string(to_string(*outcome)) : "skipped"].add(to_string(point.call) + ": " +
                                                                        point.reason);
    }
    for (const SuspectRow& row : set.suspects) {
      kinds["faster than the GPU can be"].add(to_string(row.where) + ": " + row.reason);
    }
  }
  std::string text = kinds.empty() ? "" : "Left out of the fit:\n";
  for (const auto& [name, kind] : kinds) {
    text += fmt::format("  {} {}, such as {}\n", grouped(kind.points), name, kind.first);
  }
  return text;
}

}  // namespace inferometer
