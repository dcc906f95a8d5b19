#include "sim/cli/measurement_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kMostSuspectsShown = 10;

/// Points of one family and variant.
struct Group {
  std::size_t points = 0;
  std::array<double, kMostAxes> least{}, most{};

  void add(const KernelCall& call) {
    for (std::size_t i = 0; i < kMostAxes; ++i) {
      least[i] = points == 0 ? call.axes[i] : std::min(least[i], call.axes[i]);
      most[i] = points == 0 ? call.axes[i] : std::max(most[i], call.axes[i]);
    }
    ++points;
  }
};

using GroupKey = std::pair<KernelFamily, std::string>;

/// "m 1..32768, n 32..65536, past 0"
std::string axis_ranges(KernelFamily family, const Group& group) {
  std::string text;
  const auto axes = info(family).axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", axes[i], group.least[i]);
    if (group.most[i] != group.least[i]) {
      text += fmt::format("..{}", group.most[i]);
    }
  }
  return text;
}

std::string library_text(const MeasurementHeader& header) {
  return header.library + (header.library_version.empty() ? "" : " " + header.library_version);
}

void add_rows(const Measurements& set, std::vector<std::vector<std::string>>& rows,
              std::vector<std::string>& ranges) {
  std::map<GroupKey, Group> groups;
  for (const MeasuredKernel& point : set.points) {
    groups[{point.call.family, point.call.variant}].add(point.call);
  }
  for (const auto& [key, group] : groups) {
    rows.push_back({set.header.gpu, library_text(set.header), std::string(to_string(key.first)), key.second,
                    std::to_string(group.points)});
    ranges.push_back(axis_ranges(key.first, group));
  }
}

/// The rows as columns, and behind each row its ranges.
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::vector<std::string>& ranges) {
  constexpr std::size_t kLeftColumns = 4;
  const std::string aligned = align_columns(rows, kLeftColumns);
  std::string text;
  std::size_t begin = 0;
  for (const std::string& range : ranges) {
    const std::size_t end = aligned.find('\n', begin);
    text += aligned.substr(begin, end - begin) + "  " + range + "\n";
    begin = end + 1;
  }
  return text;
}

std::string suspects_text(const Measurements& set) {
  if (set.suspects.empty()) {
    return "";
  }
  std::string text =
      fmt::format("\n{} suspect row{} of {} {} left out:\n", set.suspects.size(),
                  set.suspects.size() == 1 ? "" : "s", set.header.gpu, library_text(set.header));
  for (std::size_t i = 0; i < std::min(set.suspects.size(), kMostSuspectsShown); ++i) {
    text += fmt::format("  {}: {}\n", to_string(set.suspects[i].where), set.suspects[i].reason);
  }
  if (set.suspects.size() > kMostSuspectsShown) {
    text += fmt::format("  and {} more\n", set.suspects.size() - kMostSuspectsShown);
  }
  return text;
}

}  // namespace

std::string measurement_report(const std::vector<Measurements>& sets) {
  std::vector<std::vector<std::string>> rows = {{"gpu", "library", "family", "variant", "points"}};
  std::vector<std::string> ranges = {"axes"};
  std::string suspects;
  std::string notes;
  for (const Measurements& set : sets) {
    add_rows(set, rows, ranges);
    suspects += suspects_text(set);
    if (!set.skipped.empty()) {
      notes += fmt::format("  {} {}: {} points skipped when measuring\n", set.header.gpu,
                           library_text(set.header), set.skipped.size());
    }
    for (const std::string& note : set.notes) {
      notes += fmt::format("  {}\n", note);
    }
  }
  return table_text(rows, ranges) + suspects + (notes.empty() ? "" : "\nnotes:\n" + notes);
}

}  // namespace inferometer
