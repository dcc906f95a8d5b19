#include "sim/cli/calibrate_report.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "base/text.hpp"

namespace inferometer {
namespace {

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

std::string signed_percent(double share) {
  return fmt::format("{:+.1f}", 100 * share);
}

/// "/data/x/gemm.csv.gz:17" as "gemm.csv.gz:17": rows of tables are narrow.
std::string short_place(Position place) {
  place.file = place.file.substr(place.file.find_last_of('/') + 1);
  return to_string(place);
}

std::string range_text(const KernelFit& fit) {
  std::string text;
  const auto axes = info(fit.family).axes;
  for (std::size_t i = 0; i < fit.range.size(); ++i) {
    const AxisRange range = fit.range[i];
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", axes[i], range.low);
    if (range.high > range.low) {
      text += fmt::format("..{}", range.high);
    }
  }
  return text;
}

constexpr int kChartWidth = 50;

/// A bar a column: how many points lie in each range of error.
std::string chart_text(const ValidationRow& row) {
  std::string text =
      fmt::format("{} {}: points by predicted / measured\n", to_string(row.family), row.variant);
  const std::int64_t most = *std::max_element(row.chart.begin(), row.chart.end());
  const auto border = [](std::size_t i) { return fmt::format("{:+.0f} %", 100 * kChartEdges[i]); };
  for (std::size_t i = 0; i < row.chart.size(); ++i) {
    const std::string low = i == 0 ? "" : border(i - 1);
    const std::string high = i < std::size(kChartEdges) ? border(i) : "";
    const auto bar = static_cast<std::size_t>(kChartWidth * row.chart[i] / std::max<std::int64_t>(most, 1));
    const std::string line =
        fmt::format("  {:>6} {} {:>6} {:>8} {}", low, low.empty() || high.empty() ? "  " : "to", high,
                    row.chart[i], std::string(bar, '#'));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

std::string profile_text(const KernelProfile& profile) {
  std::string text = fmt::format("{} kernels on {}, fitted {}\n", profile.library, profile.gpu, profile.date);
  for (const ProfileSource& source : profile.sources) {
    text += fmt::format("  from {}: {}{}{}\n", source.library, source.source,
                        source.notice.empty() ? "" : ", ", source.notice);
  }
  std::vector<std::vector<std::string>> rows{{"family", "format", "points", "start-up us", "compute %",
                                              "bandwidth %", "trees", "error on unseen shapes"}};
  std::string ranges;
  for (const KernelFit& fit : profile.fits) {
    std::string errors;
    for (const RegionError& error : fit.regions) {
      errors += fmt::format("{}{}: {} / {}", errors.empty() ? "" : "; ", error.region, percent(error.median),
                            percent(error.mean));
    }
    rows.push_back({std::string(to_string(fit.family)), fit.variant, std::to_string(fit.points),
                    fmt::format("{:.2f}", 1e6 * fit.roofline.start_up_s),
                    percent(fit.roofline.compute_efficiency), percent(fit.roofline.bandwidth_efficiency),
                    std::to_string(fit.trees.tree_count() + fit.trees_in_l2.tree_count()), errors});
    ranges += fmt::format("  {} {}: {}\n", to_string(fit.family), fit.variant, range_text(fit));
  }
  text += "\n" + align_columns(rows, 2);
  text += "\nErrors are median / mean, in %, of shapes left out of the fit.\n\nMeasured range\n" + ranges;
  return text;
}

std::string validation_table(const Validation& validation) {
  std::vector<std::vector<std::string>> rows{{"family", "format", "region", "points", "bias %", "median %",
                                              "mean %", "p90 %", "in 90 %", "outside", "worst %",
                                              "worst at"}};
  for (const ValidationRow& row : validation.rows) {
    rows.push_back({std::string(to_string(row.family)), row.variant, row.error.region,
                    std::to_string(row.error.points), signed_percent(row.error.bias),
                    percent(row.error.median), percent(row.error.mean), percent(row.error.p90),
                    percent(row.covered_90), std::to_string(row.extrapolated),
                    signed_percent(row.worst_error), short_place(row.worst_where)});
  }
  return align_columns(rows, 3) +
         "\nErrors are predicted / measured - 1. in 90 %: measured times within the profile's 90 % interval; "
         "outside: points\nbeyond the fitted range.\n";
}

std::string validation_text(const Validation& validation) {
  std::string text = validation_table(validation);
  for (const ValidationRow& row : validation.rows) {
    if (row.error.region == kAllRegions) {
      text += "\n" + chart_text(row);
    }
  }
  for (const std::string& note : validation.notes) {
    text += "note: " + note + "\n";
  }
  return text;
}

}  // namespace inferometer
