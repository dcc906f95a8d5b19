#pragma once

// What `workload inspect` found, as text or JSON.

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/trace_statistics.hpp"

namespace inferometer {

struct WorkloadReport {
  std::string file;
  std::string format;
  bool has_times = true;  ///< false: lengths only, arrivals mean nothing
  std::int64_t hash_block_tokens = 0;
  std::int64_t skipped_lines = 0;
  std::vector<std::string> skipped_messages;
  TraceStatistics statistics;
};

/// At most 80 columns (but for the file's name), plain characters.
std::string workload_text(const WorkloadReport& report);
/// One object; null where there is no value.
std::string workload_json(const WorkloadReport& report);

}  // namespace inferometer
