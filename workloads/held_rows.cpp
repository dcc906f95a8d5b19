#include "workloads/held_rows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

constexpr int kPicosecondDigits = 12;
constexpr WidePicoseconds kLongest = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::string back_in_time(WidePicoseconds by) {
  return fmt::format(
      "expected a time not before the line above, found one {} s earlier; put the trace in order with "
      "inferometer workload convert --sort",
      decimal_text(static_cast<std::int64_t>(std::min(by, kLongest)), kPicosecondDigits));
}

HeldRows::HeldRows(TraceRows& rows, BadLines& bad_lines, bool sort) {
  WidePicoseconds latest = 0;
  const bool must_be_in_order = !sort && rows.format().has_times;
  TraceRow row;
  while (rows.next(row, bad_lines)) {
    if (!admit(row, rows, bad_lines)) {
      continue;
    }
    if (!row.follows && must_be_in_order) {
      if (!beginnings_.empty() && row.time < latest) {
        bad_lines.report(rows.where_time(), back_in_time(latest - row.time));
        continue;
      }
      latest = row.time;
    }
    hold(std::move(row));
  }
  if (sort) {
    std::stable_sort(beginnings_.begin(), beginnings_.end(), [this](std::int64_t a, std::int64_t b) {
      return this->row(a).time < this->row(b).time;
    });
  }
}

bool HeldRows::admit(TraceRow& row, const TraceRows& rows, BadLines& bad_lines) {
  if (row.session < 0) {
    return true;
  }
  const auto last = last_of_session_.find(row.session);
  const bool is_first = last == last_of_session_.end();
  if (!row.follows && !is_first && this->row(last->second).follows) {
    bad_lines.report(
        rows.where_time(),
        "expected \"delay\", as in the session's row before, found \"timestamp\": a session that "
        "waits for answers goes on waiting");
    return false;
  }
  if (!row.follows || !is_first) {
    return true;
  }
  if (rows.format().has_times) {
    bad_lines.report(rows.where_time(), "expected \"timestamp\" in the first row of a session, found none");
    return false;
  }
  if (row.time != 0) {
    bad_lines.report(rows.where_time(),
                     "expected no \"delay\" in the first row of a session, which follows no answer");
    return false;
  }
  row.follows = false;
  return true;
}

void HeldRows::hold(TraceRow row) {
  const std::int64_t number = size();
  if (row.follows) {
    rows_[static_cast<std::size_t>(last_of_session_[row.session])].follower = number;
  } else {
    beginnings_.push_back(number);
  }
  if (row.session >= 0) {
    last_of_session_[row.session] = number;
  }
  rows_.push_back({std::move(row)});
}

}  // namespace inferometer
