#pragma once

// What a trace says of replicas beside their steps: names, and prices by operator. Who uses it: the tracks.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "costmodel/step_pricer.hpp"
#include "sim/report/trace/trace_event.hpp"
#include "sim/scenario/deployment.hpp"

namespace inferometer {

struct TraceReplica {
  std::string name;    ///< "prefill 0": its number is that of requests.csv, through all pools
  std::string detail;  ///< "4 x h100-sxm"
  std::int64_t lanes = 1;
  std::vector<std::shared_ptr<const StepPricer>> stages;  ///< of its pipeline; one without
};

/// All that there are at most, by number.
std::vector<TraceReplica> trace_replicas(const Deployment& deployment);

// Processes of the trace, in the viewer's order.
inline constexpr TraceThread kRequestsThread{1, 1};
inline constexpr TraceThread kTransfersThread{2, 1};
inline TraceThread replica_thread(std::int64_t replica, std::int64_t lane) {
  return {3 + replica, 1 + lane};
}

}  // namespace inferometer
