#include "sim/cli/comparison_report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace inferometer {
namespace {

std::string side_text(std::string_view letter, const KernelTimes& side) {
  return fmt::format("{}: {}, {}\n", letter, side.name(), side.description());
}

/// The shape without what the row's first columns say: "m=16 n=4096 k=4096".
std::string shape_text(const KernelCall& call) {
  const std::string text = to_string(call);
  return text.substr(to_string(call.family).size() + call.variant.size() + 2);
}

/// Flush left, where the table would put it flush right.
void pad_last_column(std::vector<std::vector<std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) {
    width = std::max(width, row.back().size());
  }
  for (auto& row : rows) {
    row.back().resize(width, ' ');
  }
}

std::string rate_text(const ComparisonRow& row, double rate) {
  return row.unit == RateUnit::none ? "-" : fmt::format("{:.1f}", rate);
}

}  // namespace

std::string comparison_text(const KernelTimes& a, const KernelTimes& b, const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows{{"family", "format", "region", "calls", "rate", "A", "B",
                                              "B / A", "p10", "p90", "most", "A us", "B us", "at"}};
  for (const ComparisonRow& row : comparison.rows) {
    const auto unit = to_string(row.unit);
    rows.push_back({std::string(to_string(row.family)), row.variant, row.region, std::to_string(row.calls),
                    unit.empty() ? "-" : std::string(unit), rate_text(row, row.a_rate),
                    rate_text(row, row.b_rate), fmt::format("{:.3f}", row.ratio_median),
                    fmt::format("{:.3f}", row.ratio_p10), fmt::format("{:.3f}", row.ratio_p90),
                    fmt::format("{:.3f}", row.farthest_b_seconds / row.farthest_a_seconds),
                    fmt::format("{:.2f}", 1e6 * row.farthest_a_seconds),
                    fmt::format("{:.2f}", 1e6 * row.farthest_b_seconds), shape_text(row.farthest)});
  }
  pad_last_column(rows);
  std::string text = side_text("A", a) + side_text("B", b) + "\n" + align_columns(rows, 3);
  text +=
      "\nB / A is B's time over A's: above 1, B takes longer. Median, 10 and 90 % of the calls; most: where "
      "they "
      "differ most.\nRates are medians in the unit of the roof that binds most calls on A's GPU; collectives "
      "by "
      "what each GPU sends.\nall: without decode attention whose KV cache stays in the L2 cache.\n";
  for (const std::string& note : comparison.notes) {
    text += "note: " + note + "\n";
  }
  return text;
}

}  // namespace inferometer
