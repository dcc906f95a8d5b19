#include "sim/validation/csv_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/config/decimal.hpp"
#include "base/text.hpp"
#include "base/text_input/byte_source.hpp"

namespace inferometer {

CsvRows::CsvRows(const std::string& path, Diagnostics& mistakes)
    : mistakes_(mistakes), lines_(open_bytes(path), path) {
  std::string_view line;
  if (!lines_.next(line)) {
    return;
  }
  LineError error;
  if (!fields_.split(line, error)) {
    mistakes_.add(lines_.place(error.column), error.message);
    return;
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::string name(trimmed(fields_[i]));
    if (!name.empty() && std::find(columns_.begin(), columns_.end(), name) != columns_.end()) {
      mistakes_.add(
          lines_.place(fields_.column_of(i)),
          fmt::format("expected the column {} once in the header, found it twice", quoted_excerpt(name)));
    }
    columns_.push_back(name);
  }
}

bool CsvRows::next() {
  std::string_view line;
  while (mistakes_.found().size() < kMostMistakes && lines_.next(line)) {
    LineError error;
    if (!fields_.split(line, error)) {
      mistakes_.add(lines_.place(error.column), error.message);
      continue;
    }
    if (fields_.size() != columns_.size()) {
      const bool is_short = fields_.size() < columns_.size();
      mistakes_.add(
          lines_.place(is_short ? static_cast<int>(line.size()) + 1 : fields_.column_of(columns_.size())),
          fmt::format("expected {} fields as in the header, found {}", columns_.size(), fields_.size()));
      continue;
    }
    mistakes_before_ = mistakes_.found().size();
    return true;
  }
  return false;
}

std::string CsvRows::text(std::string_view column) const {
  const std::optional<std::size_t> index = index_of(column);
  return index ? std::string(trimmed(fields_[*index])) : "";
}

std::optional<std::int64_t> CsvRows::count(std::string_view column, std::int64_t least, std::int64_t most) {
  const std::string field = text(column);
  if (field.empty()) {
    return std::nullopt;
  }
  if (decimal_length(field) == field.size()) {
    const IntegerResult result = to_integer(read_decimal(field), 0, 1);
    if (result.fault == IntegerFault::none && result.value >= least && result.value <= most) {
      return result.value;
    }
  }
  refuse(column, fmt::format("expected {} to be a whole number from {} to {}, found {}", column, least, most,
                             quoted_excerpt(field)));
  return std::nullopt;
}

std::optional<double> CsvRows::number(std::string_view column, bool may_be_zero) {
  const std::string field = text(column);
  if (field.empty()) {
    return std::nullopt;
  }
  if (decimal_length(field) == field.size()) {
    const std::optional<double> value = to_double(read_decimal(field), 0);
    if (value && (*value > 0 || (may_be_zero && *value == 0))) {
      return value;
    }
  }
  refuse(column, fmt::format("expected {} to be a number {}, found {}", column,
                             may_be_zero ? "from 0" : "above 0", quoted_excerpt(field)));
  return std::nullopt;
}

std::optional<double> CsvRows::positive(std::string_view column) {
  return number(column, false);
}

std::optional<double> CsvRows::from_zero(std::string_view column) {
  return number(column, true);
}

std::int64_t CsvRows::needed_count(std::string_view column, std::int64_t least, std::int64_t most) {
  needed_text(column);
  return count(column, least, most).value_or(least);
}

double CsvRows::needed_positive(std::string_view column) {
  needed_text(column);
  return positive(column).value_or(1);
}

std::string CsvRows::needed_text(std::string_view column) {
  std::string field = text(column);
  if (field.empty()) {
    refuse(column, fmt::format("expected {}, found nothing", column));
  }
  return field;
}

void CsvRows::refuse(std::string_view column, std::string message) {
  const std::optional<std::size_t> index = index_of(column);
  mistakes_.add(lines_.place(index ? fields_.column_of(*index) : 0), std::move(message));
}

std::optional<std::size_t> CsvRows::index_of(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  return found == columns_.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(found - columns_.begin()));
}

}  // namespace inferometer
