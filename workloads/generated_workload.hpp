#pragma once

// Requests made up from an arrival process and length distributions (open loop). Constant memory.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "workloads/arrivals.hpp"
#include "workloads/lengths.hpp"
#include "workloads/workload.hpp"

namespace inferometer {

/// What clients state as the most they want, which some schedulers reserve for. With neither: the output
/// length.
struct MaxNewRule {
  /// The same for every request; a longer output raises it, since that much was allowed.
  std::optional<TokenCount> tokens;
  /// ceil(output * factor); >= 1.
  double factor = 1.0;

  [[nodiscard]] TokenCount max_new(TokenCount output) const;
};

/// What a generated request consists of apart from its number and time.
class RequestBodies {
 public:
  explicit RequestBodies(LengthSampler lengths, const MaxNewRule& max_new = {})
      : lengths_(std::move(lengths)), max_new_(max_new) {}
  /// Fills `request`, reusing its storage, with the next lengths.
  void fill(Request& request, std::int64_t id, TimePoint arrival);

 private:
  LengthSampler lengths_;
  MaxNewRule max_new_;
};

/// `requests` (>= 0) requests. The first can be taken at once.
std::unique_ptr<Workload> make_generated_workload(std::unique_ptr<ArrivalProcess> arrivals,
                                                  RequestBodies bodies, std::int64_t requests);

/// Clients that each wait for their answer, think, and send the next request (closed loop): never more than
/// `clients` requests are in the system. A client's think times come from its own stream
/// "workload/think_time/CLIENT", so that they do not depend on the order in which requests finish.
struct ClosedLoopOptions {
  std::int64_t clients = 1;       ///< >= 1
  Duration think_time;            ///< >= 0; mean, or every one when fixed
  bool fixed_think_time = false;  ///< otherwise exponential
  Duration ramp_up;               ///< >= 0; client i of N sends its first request at ramp_up * i / N
  std::int64_t requests = 0;      ///< in all
  std::uint64_t seed = 1;
};
/// O(clients) memory, O(log clients) a request.
std::unique_ptr<Workload> make_closed_loop_workload(const ClosedLoopOptions& options, RequestBodies bodies);

}  // namespace inferometer
