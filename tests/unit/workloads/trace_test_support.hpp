#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tests/support/temporary_directory.hpp"
#include "workloads/trace_reader.hpp"

namespace inferometer::test {

inline std::unique_ptr<TraceWorkload> open_text(std::string text, const TraceOptions& options = {}) {
  return open_trace(bytes_in_memory(std::move(text)), "t", options);
}

inline std::vector<Request> take_all(Workload& workload) {
  std::vector<Request> requests;
  while (workload.next_arrival()) {
    workload.take(requests.emplace_back());
  }
  return requests;
}

inline std::vector<Request> requests_of(std::string text, const TraceOptions& options = {}) {
  return take_all(*open_text(std::move(text), options));
}

inline std::vector<std::int64_t> arrivals_ps(const std::vector<Request>& requests) {
  std::vector<std::int64_t> arrivals;
  for (const Request& request : requests) {
    arrivals.push_back(request.arrival.since_start().count());
  }
  return arrivals;
}

/// Message of the TraceError that reading the whole text throws, "" when it throws none.
inline std::string error_of(std::string text, const TraceOptions& options = {}) {
  try {
    requests_of(std::move(text), options);
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

}  // namespace inferometer::test
