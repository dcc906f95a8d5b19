#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text_input/line_source.hpp"
#include "workloads/trace_format.hpp"

namespace inferometer {

/// Lines that could not be used: throws at the first, or counts them and keeps the first messages.
class BadLines {
 public:
  static constexpr std::size_t kKeptMessages = 10;

  explicit BadLines(bool skip) : skip_(skip) {}

  /// Throws TraceError unless bad lines are skipped.
  void report(const Position& where, const std::string& message);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] const std::vector<std::string>& messages() const { return messages_; }

 private:
  bool skip_;
  std::int64_t count_ = 0;
  std::vector<std::string> messages_;
};

/// The rows of a trace of any known format, in file order.
class TraceRows {
 public:
  /// Finds the format. Throws TraceError when there is nothing to read, no format suits or the header is
  /// broken.
  explicit TraceRows(LineSource lines);

  /// The next row that can be read; bad lines go to `bad_lines`. False at the end.
  bool next(TraceRow& row, BadLines& bad_lines);

  /// Where the row that next() returned stands.
  [[nodiscard]] Position where() const { return lines_.place(); }
  /// The same with the column of its time. Only until the next call of next().
  [[nodiscard]] Position where_time() const { return lines_.place(reader_->time_column()); }
  [[nodiscard]] const TraceFormat& format() const { return *format_; }
  /// As RowReader's.
  [[nodiscard]] bool may_follow() const { return reader_->may_follow(); }

  /// Prompt tokens that a hash id stands for; 0 when the format has none.
  [[nodiscard]] std::int64_t hash_block_tokens() const { return hash_block_tokens_; }
  /// Throws TraceError when the format leaves no choice. Before the first next().
  void set_hash_block_tokens(std::int64_t tokens);

 private:
  void find_format(const TraceSample& sample, const Position& first_line);

  LineSource lines_;
  const TraceFormat* format_ = nullptr;
  std::unique_ptr<RowReader> reader_;
  std::int64_t hash_block_tokens_ = 0;
  LineError error_;
};

}  // namespace inferometer
