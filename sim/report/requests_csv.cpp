#include "sim/report/requests_csv.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <ostream>
#include <vector>

#include <fmt/format.h>

namespace inferometer {
namespace {

constexpr std::size_t kFlushBytes = 1 << 16;
constexpr int kDecimalsOfSeconds = 12;
constexpr int kDecimalsOfMilliseconds = 9;

/// Picoseconds as a decimal of a unit of 10^decimals picoseconds, without trailing zeros. Precondition: not
/// negative.
void append_decimal(fmt::memory_buffer& row, Duration duration, int decimals) {
  std::int64_t unit = 1;
  for (int i = 0; i < decimals; ++i) {
    unit *= 10;
  }
  const std::int64_t whole = duration.count() / unit;
  std::int64_t rest = duration.count() % unit;
  fmt::format_to(std::back_inserter(row), "{}", whole);
  if (rest == 0) {
    return;
  }
  for (; rest % 10 == 0; rest /= 10) {
    --decimals;
  }
  fmt::format_to(std::back_inserter(row), ".{:0{}}", rest, decimals);
}

/// Where the request ran: replicas by number.
void append_route(fmt::memory_buffer& row, const RequestRecord& request) {
  fmt::format_to(std::back_inserter(row), ",{},", request.replica);
  if (request.was_handed_over()) {
    fmt::format_to(std::back_inserter(row), "{}", request.prefill_replica);
  }
  fmt::format_to(std::back_inserter(row), ",{},", request.retries);
  if (request.was_handed_over()) {
    append_decimal(row, request.handover, kDecimalsOfMilliseconds);
  }
}

void append_row(fmt::memory_buffer& row, const RequestRecord& request, bool with_route) {
  fmt::format_to(std::back_inserter(row), "{},", request.id);
  if (request.session >= 0) {
    fmt::format_to(std::back_inserter(row), "{}", request.session);
  }
  fmt::format_to(std::back_inserter(row), ",finished,");
  append_decimal(row, request.arrival.since_start(), kDecimalsOfSeconds);
  fmt::format_to(std::back_inserter(row), ",{},{},", request.prompt, request.output);
  append_decimal(row, request.queue_delay(), kDecimalsOfMilliseconds);
  row.push_back(',');
  append_decimal(row, request.time_to_first_token(), kDecimalsOfMilliseconds);
  row.push_back(',');
  if (request.output > 1) {
    append_decimal(row, request.time_per_output_token(), kDecimalsOfMilliseconds);
  }
  row.push_back(',');
  append_decimal(row, request.latency(), kDecimalsOfMilliseconds);
  fmt::format_to(std::back_inserter(row), ",{},{}", request.preemptions, request.cached_tokens);
  if (with_route) {
    append_route(row, request);
  }
  row.push_back('\n');
}

void append_row(fmt::memory_buffer& row, const RejectedRecord& request, bool with_route) {
  fmt::format_to(std::back_inserter(row), "{},,rejected,", request.id);
  append_decimal(row, request.arrival.since_start(), kDecimalsOfSeconds);
  fmt::format_to(std::back_inserter(row), ",{},,,,,,,{}\n", request.prompt, with_route ? ",,,," : "");
}

template <class Record>
std::vector<const Record*> by_id(const ChunkedColumn<Record>& records) {
  std::vector<const Record*> sorted;
  sorted.reserve(records.size());
  for (const Record& record : records) {
    sorted.push_back(&record);
  }
  std::sort(sorted.begin(), sorted.end(), [](const Record* a, const Record* b) { return a->id < b->id; });
  return sorted;
}

void flush(fmt::memory_buffer& rows, std::ostream& out) {
  out.write(rows.data(), static_cast<std::streamsize>(rows.size()));
  rows.clear();
}

}  // namespace

void write_requests_csv(const MetricsRecorder& recorder, std::ostream& out) {
  const auto finished = by_id(recorder.finished());
  const auto rejected = by_id(recorder.rejected());
  const bool with_route = recorder.replicas() > 1;
  fmt::memory_buffer rows;
  fmt::format_to(std::back_inserter(rows),
                 "id,session,status,arrival_s,prompt_tokens,output_tokens,queue_ms,ttft_ms,tpot_ms,e2el_ms,"
                 "preemptions,cached_tokens{}\n",
                 with_route ? ",replica,prefill_replica,retries,handover_ms" : "");
  auto next_rejected = rejected.begin();
  const auto append_rejected_before = [&](std::int64_t id) {
    for (; next_rejected != rejected.end() && (*next_rejected)->id < id; ++next_rejected) {
      append_row(rows, **next_rejected, with_route);
    }
  };
  for (const RequestRecord* request : finished) {
    append_rejected_before(request->id);
    append_row(rows, *request, with_route);
    if (rows.size() >= kFlushBytes) {
      flush(rows, out);
    }
  }
  append_rejected_before(std::numeric_limits<std::int64_t>::max());
  flush(rows, out);
}

}  // namespace inferometer
