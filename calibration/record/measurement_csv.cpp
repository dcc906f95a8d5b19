#include "calibration/record/measurement_csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/text.hpp"

namespace inferometer {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

}  // namespace

MeasurementCsv::MeasurementCsv(LineSource& lines, Constants constants, RowErrors& errors)
    : lines_(lines), constants_(std::move(constants)), errors_(errors) {
  std::string_view line;
  LineError error;
  if (!lines_.next(line)) {
    errors_.add(Position{lines_.name(), 0, 0}, "expected a header of columns, found the end of the file");
    return;
  }
  header_line_ = lines_.line_number();
  if (!fields_.split(line, error)) {
    errors_.add(lines_.place(error.column), error.message);
    return;
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::string name = lower(trimmed(fields_[i]));
    const bool is_known = std::find(header_.begin(), header_.end(), name) != header_.end() ||
                          std::any_of(constants_.begin(), constants_.end(),
                                      [&](const auto& constant) { return constant.first == name; });
    if (!name.empty() && is_known) {
      errors_.add(lines_.place(fields_.column_of(i)), fmt::format("column \"{}\" is there twice", name));
    }
    header_.push_back(name);
  }
  is_used_.resize(header_.size());
}

std::optional<MeasurementCsv::Column> MeasurementCsv::find(std::string_view name) {
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i] == name) {
      is_used_[i] = true;
      return Column{header_[i], i, ""};
    }
  }
  for (const auto& [key, value] : constants_) {
    if (key == name) {
      return Column{key, Column::kConstant, value};
    }
  }
  return std::nullopt;
}

MeasurementCsv::Column MeasurementCsv::require(std::string_view name) {
  std::optional<Column> found = find(name);
  if (!found) {
    errors_.add(Position{lines_.name(), header_line_, 0},
                fmt::format("no column \"{}\"{}", name, did_you_mean(name, column_names())));
    return Column{std::string(name), Column::kConstant, ""};
  }
  return *std::move(found);
}

std::vector<std::string> MeasurementCsv::column_names() const {
  std::vector<std::string> names;
  for (const std::string& name : header_) {
    if (!name.empty()) {
      names.push_back(name);
    }
  }
  for (const auto& constant : constants_) {
    names.push_back(constant.first);
  }
  return names;
}

std::vector<std::string> MeasurementCsv::unused_columns() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (!is_used_[i] && !header_[i].empty()) {
      names.push_back(header_[i]);
    }
  }
  return names;
}

bool MeasurementCsv::next() {
  std::string_view line;
  while (lines_.next(line)) {
    LineError error;
    if (!fields_.split_plain(line) && !fields_.split(line, error)) {
      errors_.add(lines_.place(error.column), error.message);
      continue;
    }
    if (fields_.size() != header_.size()) {
      errors_.add(lines_.place(), fmt::format("expected {} cells, as many as the header has, found {}",
                                              header_.size(), fields_.size()));
      continue;
    }
    is_good_ = true;
    return true;
  }
  return false;
}

std::string_view MeasurementCsv::text(const Column& column) const {
  return column.index == Column::kConstant ? std::string_view(column.constant)
                                           : trimmed(fields_[column.index]);
}

std::optional<double> MeasurementCsv::number(const Column& column) const {
  const std::string_view cell = text(column);
  double value = 0;
  const auto [stop, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (code != std::errc() || stop != cell.data() + cell.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

double MeasurementCsv::count(const Column& column, double least) {
  const std::optional<double> value = number(column);
  if (!value || *value != std::floor(*value) || *value < least || *value > kLargestAxis) {
    refuse(column, fmt::format("expected {} to be a whole number from {} to 1e12, found {}", column.name,
                               least, quoted_excerpt(text(column))));
    return least;
  }
  return *value;
}

double MeasurementCsv::seconds_from_ms(const Column& column) {
  constexpr double kLeastMs = 1e-8;
  constexpr double kMostMs = 1e9;
  constexpr double kMsPerSecond = 1e3;
  const std::optional<double> value = number(column);
  if (!value || *value < kLeastMs || *value > kMostMs) {
    refuse(column, fmt::format("expected {} to be a time in ms, above 0 and at most 1e9, found {}",
                               column.name, quoted_excerpt(text(column))));
    return 1;
  }
  return *value / kMsPerSecond;
}

std::optional<double> MeasurementCsv::rounded_seconds_from_ms(const Column& column) {
  const std::optional<double> value = number(column);
  return value && *value == 0 ? std::nullopt : std::optional(seconds_from_ms(column));
}

void MeasurementCsv::refuse(const Column& column, std::string message) {
  is_good_ = false;
  const bool in_row = column.index != Column::kConstant;
  errors_.add(lines_.place(in_row ? fields_.column_of(column.index) : 0), std::move(message));
}

}  // namespace inferometer
