#pragma once

// Sessions as a workload: each turn comes when the one before was answered and thought about, so a service
// that is slow gets its requests later. O(turns) memory for each session that goes on, O(log) a request
// beside the prompt's content, which grows with the turns.

#include <cstdint>
#include <memory>

#include "workloads/arrivals.hpp"
#include "workloads/clients.hpp"
#include "workloads/session_scripts.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

class SessionWorkload : public Workload {
 public:
  /// Sessions that have begun, and how many of them end early because of max_context.
  struct Counts {
    std::int64_t begun = 0, cut = 0;
  };
  [[nodiscard]] virtual Counts counts() const = 0;
};

/// Sessions begin by `arrivals`, however many go on at the time. `requests` (>= 0) turns in all; the last
/// session to begin is cut short to fit.
std::unique_ptr<SessionWorkload> make_session_workload(std::unique_ptr<ArrivalProcess> arrivals,
                                                       SessionScripts scripts, std::int64_t requests);

/// Each client has one session at a time, and thinks between two.
std::unique_ptr<SessionWorkload> make_session_workload(Clients clients, SessionScripts scripts,
                                                       std::int64_t requests);

}  // namespace inferometer
