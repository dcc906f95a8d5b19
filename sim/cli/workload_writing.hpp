#pragma once

#include <cstdint>

#include "workloads/trace_writer.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

/// Writes all requests of `workload`, each answered at once so that those come that wait for answers,
/// finishes the file, and says on standard error what it could not hold. Returns how many there were. Throws
/// TraceError when the file cannot be written, or cannot hold that requests wait.
std::int64_t write_requests(Workload& workload, TraceWriter& writer, TraceFileKind kind);

}  // namespace inferometer
