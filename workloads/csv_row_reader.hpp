#pragma once

// What the CSV formats share: columns found by the names in the header, in any order, further columns
// ignored; fields may be quoted (RFC 4180, but no line breaks inside).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/trace_format.hpp"

namespace inferometer {

/// The fields of one line. Views into the line; a quoted field without its quotes.
class CsvFields {
 public:
  /// False, with `error` set, when a quote is not closed or is followed by something.
  bool split(std::string_view line, LineError& error);

  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return fields_[i]; }
  /// Where a field begins in the line, from 1.
  [[nodiscard]] int column_of(std::size_t i) const { return static_cast<int>(fields_[i].data() - line_) + 1; }

  /// Index of the field with that text, ignoring case and blanks around it.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  /// How many fields are called so.
  [[nodiscard]] std::size_t count(std::string_view name) const;

 private:
  bool split_quoted(std::string_view line, std::size_t& begin, LineError& error);

  const char* line_ = nullptr;
  std::vector<std::string_view> fields_;
};

/// Which columns a format has and how it writes its times. "" = the format has no such column.
struct CsvLayout {
  enum class Clock { none, seconds, timestamp };

  Clock clock = Clock::none;
  std::string_view time;
  std::string_view prompt;
  std::string_view output;
  std::string_view max_new{};        ///< may be missing in the header
  std::string_view session{};        ///< may be missing in the header
  std::string_view service_class{};  ///< may be missing in the header
};

/// A reader when `header` has the layout's time, prompt and output columns, else nullptr.
std::unique_ptr<RowReader> open_csv(const std::string& header, const CsvLayout& layout);

/// What the second line of a sample has under that header; empty when the column or the line is missing.
std::string second_line_field(const TraceSample& sample, std::string_view name);

}  // namespace inferometer
