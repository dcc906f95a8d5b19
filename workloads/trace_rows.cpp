#include "workloads/trace_rows.hpp"

#include <utility>

#include <fmt/format.h>

#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

std::string unknown_format_message(const std::string& first_line) {
  std::string message = fmt::format("expected a request trace, found a file that begins with {}; known are",
                                    quoted_excerpt(first_line));
  for (const TraceFormat& format : trace_formats().entries()) {
    message += fmt::format("\n  {}: {}", format.name, format.looks_like);
  }
  return message;
}

}  // namespace

void BadLines::report(const Position& where, const std::string& message) {
  TraceError error(where, message);
  if (!skip_) {
    throw error;
  }
  ++count_;
  if (messages_.size() < kKeptMessages) {
    messages_.emplace_back(error.what());
  }
}

TraceRows::TraceRows(LineSource lines) : lines_(std::move(lines)) {
  lines_.mark();
  TraceSample sample;
  std::string_view line;
  if (!lines_.next(line)) {
    throw TraceError(Position{lines_.name()}, "expected a request trace, found nothing in the file");
  }
  sample.first = line;
  const Position first_place = lines_.place();
  if (lines_.next(line)) {
    sample.second = line;
  }
  for (const TraceFormat& format : trace_formats().entries()) {
    reader_ = format.open(sample);
    if (reader_ != nullptr) {
      format_ = &format;
      break;
    }
  }
  if (format_ == nullptr) {
    throw TraceError(first_place, unknown_format_message(sample.first));
  }
  lines_.rewind_to_mark();
  if (format_->has_header) {
    lines_.next(line);
  }
}

bool TraceRows::next(TraceRow& row, BadLines& bad_lines) {
  std::string_view line;
  while (lines_.next(line)) {
    if (reader_->read(line, row, error_)) {
      return true;
    }
    bad_lines.report(lines_.place(error_.column), error_.message);
  }
  return false;
}

}  // namespace inferometer
