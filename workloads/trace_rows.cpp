#include "workloads/trace_rows.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

LineError unknown_format(const std::string& first_line) {
  for (const TraceFormat& format : trace_formats().entries()) {
    if (!format.near_miss) {
      continue;
    }
    if (const std::optional<LineError> error = format.near_miss(first_line)) {
      return *error;
    }
  }
  std::string message = fmt::format("expected a request trace, found a file that begins with {}; known are",
                                    quoted_excerpt(first_line));
  for (const TraceFormat& format : trace_formats().entries()) {
    message += fmt::format("\n  {}: {}", format.name, format.looks_like);
  }
  return {0, std::move(message)};
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
  find_format(sample, first_place);
  lines_.rewind_to_mark();
  if (format_->has_header) {
    lines_.next(line);
  }
}

void TraceRows::find_format(const TraceSample& sample, const Position& first_line) {
  const auto refuse = [&first_line](const LineError& error) {
    throw TraceError(Position{first_line.file, first_line.line, error.column}, error.message);
  };
  for (const TraceFormat& format : trace_formats().entries()) {
    reader_ = format.open(sample);
    if (reader_ != nullptr) {
      format_ = &format;
      hash_block_tokens_ = format.hash_block_tokens;
      break;
    }
  }
  if (format_ == nullptr) {
    refuse(unknown_format(sample.first));
  }
  if (const LineError* error = reader_->header_error()) {
    refuse(*error);
  }
}

void TraceRows::set_hash_block_tokens(std::int64_t tokens) {
  if (!reader_->set_hash_block_tokens(tokens)) {
    throw TraceError(
        Position{lines_.name()},
        hash_block_tokens_ == 0
            ? fmt::format("a block size means nothing to the format {}, which has no hash ids", format_->name)
            : fmt::format("the format {} has hash ids of {} tokens each and leaves no choice", format_->name,
                          hash_block_tokens_));
  }
  hash_block_tokens_ = tokens;
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
