#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/units.hpp"
#include "costmodel/step_pricer.hpp"
#include "sim/batch/decode_set.hpp"
#include "sim/batch/sequence.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// One step of one replica, at its end. References live only as long as the call.
struct StepRecord {
  std::int32_t replica = 0;
  TimePoint start, end;
  const StepCost& cost;             ///< adds up to end - start
  const StepShape& shape;           ///< what was priced, padding included
  std::int64_t decodes = 0;         ///< sequences that decoded one token
  std::int64_t prefill_tokens = 0;  ///< prompt (or recomputed) tokens run
  std::int64_t emitted = 0;         ///< tokens emitted at the end: decodes plus finished prefills
  std::int64_t running = 0;         ///< sequences running during the step
  std::int64_t kept_waiting = 0;    ///< sequences that had waited for some time when it started
  std::int64_t waiting = 0;         ///< sequences waiting at its end, those that arrived meanwhile included
  std::int64_t preempted = 0;       ///< sequences preempted at its start
  BlockCount held_blocks{};         ///< during the step
  /// Gaps between a token emitted at the end and the same sequence's previous one; first tokens have none.
  std::span<const TokenGap> gaps{};
};

/// A request that left without running.
struct RejectedRequest {
  std::int64_t id = 0;
  TimePoint arrival, rejected;
  std::int64_t prompt = 0;
  std::string_view reason;  ///< one sentence, valid during the call
};

/// Sees what happens in a simulation, in order of time. For metrics, traces and tests; changes nothing.
/// Called synchronously from the event loop: O(1) a step, please.
class SimulationObserver {
 public:
  virtual ~SimulationObserver() = default;
  virtual void on_arrival(const Request& request) { (void)request; }
  virtual void on_rejected(const RejectedRequest& request) { (void)request; }
  virtual void on_step(const StepRecord& step) { (void)step; }
  virtual void on_finished(const FinishedRequest& request) { (void)request; }
};

}  // namespace inferometer
