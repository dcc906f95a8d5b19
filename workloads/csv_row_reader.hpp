#pragma once

// The lines of the CSV formats: columns found by the names in the header, in any order, further columns
// ignored.

#include <string>
#include <string_view>

#include "workloads/trace_format.hpp"

namespace inferometer {

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
  std::string_view priority{};       ///< may be missing in the header
};

/// A reader when `header` has the layout's time, prompt and output columns, else nullptr. One of the layout's
/// columns twice is the reader's header_error().
std::unique_ptr<RowReader> open_csv(const std::string& header, const CsvLayout& layout);

/// What the second line of a sample has under that header; empty when the column or the line is missing.
std::string second_line_field(const TraceSample& sample, std::string_view name);

}  // namespace inferometer
