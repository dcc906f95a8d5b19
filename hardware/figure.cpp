#include "hardware/figure.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/data_path.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

namespace fs = std::filesystem;

bool is_date(std::string_view text) {
  if (text.size() != 7 && text.size() != 10) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool separator = i == 4 || i == 7;
    if (separator ? text[i] != '-' : (text[i] < '0' || text[i] > '9')) {
      return false;
    }
  }
  const int month = (text[5] - '0') * 10 + (text[6] - '0');
  return month >= 1 && month <= 12;
}

bool looks_like_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

}  // namespace

Table figure_table(ValueType type, const FigureRange& range) {
  Table table("figure", "One figure and where it comes from");
  Key& value = table.add("value", type, "The figure, with its unit").required();
  if (!range.from.empty() || !range.up_to.empty()) {
    value.range(range.from, range.up_to);
  }
  if (!range.above.empty()) {
    value.above(range.above);
  }
  table.add("source", ValueType::text, "Document or measurement it was read from").required();
  table.add("date", ValueType::text, "When it was read: YYYY-MM or YYYY-MM-DD").required();
  return table;
}

void read_provenance(const Values& values, const std::string& prefix,
                     std::vector<std::pair<std::string, Provenance>>& provenance, Diagnostics& diagnostics) {
  for (const Value& value : values.all()) {
    if (value.section == nullptr) {
      continue;
    }
    const Values& figure = *value.section;
    Provenance origin{figure.text("source"), figure.text("date")};
    if (origin.source.empty()) {
      diagnostics.add(figure.where("source"),
                      "the source of " + value.key + " is empty; say where it was read");
    }
    if (!is_date(origin.date)) {
      diagnostics.add(figure.where("date"),
                      "\"" + origin.date + "\" is not a date; write it as 2026-11 or 2026-11-30");
    }
    provenance.emplace_back(prefix + value.key, std::move(origin));
  }
}

std::vector<std::string> described_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_directory(folder))) {
    if (entry.path().extension() == ".yaml") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string description_path(const std::string& name_or_path, const std::string& folder,
                             const std::string& what) {
  if (looks_like_path(name_or_path)) {
    return name_or_path;
  }
  const std::vector<std::string> known = described_names(folder);
  if (std::find(known.begin(), known.end(), name_or_path) == known.end()) {
    throw ConfigError(Position{},
                      "unknown " + what + " \"" + name_or_path + "\"" + did_you_mean(name_or_path, known) +
                          " (built in: " + join_alternatives(known) + "; or a path to a YAML file)");
  }
  return (data_directory(folder) / (name_or_path + ".yaml")).string();
}

}  // namespace inferometer
