#pragma once

// Requests made up from an arrival process and length distributions (open loop). Constant memory.

#include <cstdint>
#include <memory>

#include "workloads/arrivals.hpp"
#include "workloads/clients.hpp"
#include "workloads/request_bodies.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

/// `requests` (>= 0) requests. The first can be taken at once.
std::unique_ptr<Workload> make_generated_workload(std::unique_ptr<ArrivalProcess> arrivals,
                                                  RequestBodies bodies, std::int64_t requests);

/// Never more than `clients` requests are in the system (closed loop).
struct ClosedLoopOptions {
  ClientOptions clients;
  std::int64_t requests = 0;  ///< in all
  std::uint64_t seed = 1;
};
/// O(clients) memory, O(log clients) a request.
std::unique_ptr<Workload> make_closed_loop_workload(const ClosedLoopOptions& options, RequestBodies bodies);

}  // namespace inferometer
