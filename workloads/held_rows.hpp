#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"
#include "workloads/trace_rows.hpp"

namespace inferometer {

/// The rows of a trace that is held in memory: those that begin something, in order, each with the rows that
/// wait for the answer to it, to the answer to that, and so on. Used by the trace reader, for traces with
/// sessions and for those to be sorted.
class HeldRows {
 public:
  static constexpr std::int64_t kNone = -1;

  /// Reads `rows` to the end. With `sort`, what begins something is put in order of time (stable); else a
  /// time that goes back is a bad line, as are a session's row that waits for nothing and one with a time
  /// after one that waited.
  HeldRows(TraceRows& rows, BadLines& bad_lines, bool sort);

  /// Numbers of the rows that begin something, in order.
  [[nodiscard]] const std::vector<std::int64_t>& beginnings() const { return beginnings_; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  /// Each row may be taken apart once.
  [[nodiscard]] TraceRow& row(std::int64_t number) { return rows_[static_cast<std::size_t>(number)].row; }
  /// The row that waits for the answer to that one, kNone when there is none.
  [[nodiscard]] std::int64_t follower(std::int64_t number) const {
    return rows_[static_cast<std::size_t>(number)].follower;
  }

 private:
  struct Held {
    TraceRow row;
    std::int64_t follower = kNone;
  };

  /// Whether the row may stay; else what is wrong with it went to `bad_lines`.
  bool admit(TraceRow& row, const TraceRows& rows, BadLines& bad_lines);
  void hold(TraceRow row);

  std::vector<Held> rows_;
  std::vector<std::int64_t> beginnings_;
  std::unordered_map<std::int64_t, std::int64_t> last_of_session_;
};

/// What is wrong with a time that lies so much before the one above.
std::string back_in_time(WidePicoseconds by);

}  // namespace inferometer
