#pragma once

// Requests that are in memory already, as a workload. Who uses it: replays of measured runs, whose readers
// take more from a file than a trace has.

#include <memory>
#include <vector>

#include "workloads/workload.hpp"

namespace inferometer {

/// Every request at its time, in the list's order. Preconditions: as Request says, ids counted from 0 on,
/// arrivals ascending. Constant memory beyond the list, O(1) a request.
std::unique_ptr<Workload> make_listed_workload(std::shared_ptr<const std::vector<Request>> requests);

}  // namespace inferometer
