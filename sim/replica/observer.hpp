#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/units.hpp"
#include "costmodel/step_shape.hpp"
#include "sim/batch/decode_set.hpp"
#include "sim/batch/sequence.hpp"
#include "sim/batch/speculation.hpp"
#include "sim/replica/stretch.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// Somebody joined the queue of a replica while it ran, which changed nothing of what ran.
struct QueueJoin {
  TimePoint time;
  bool found_begun = false;  ///< a step that begins at that very moment had begun already
};

/// One step of one replica, or several in a row, told at the end of the last. Those in a row differ only in
/// that each has the tokens of the one before in its context: they run the same sequences, and nobody is
/// admitted, preempted or finished between them. References live only as long as the call.
struct StepRecord {
  std::int32_t replica = 0;
  std::int32_t lane = 0;   ///< which of the micro-batches in flight; 0 without a pipeline
  const Stretch& stretch;  ///< how many steps, when, and what they cost
  const StepShape& shape;  ///< what was priced in the first step, padding included
  /// What each step adds to the contexts of the shape. Chunks find those before them in their past.
  ContextTokens context_growth{};
  std::int64_t decodes = 0;  ///< sequences that decoded in each step: a token each, and accepted drafts
  std::int64_t prefill_tokens = 0;  ///< prompt (or recomputed) tokens run in each step
  std::int64_t emitted = 0;         ///< tokens at the end of each step: of decodes and of finished prefills
  DraftCounts drafted{};            ///< of the one step, where decodes draft
  std::int64_t running = 0;         ///< sequences running during the steps
  std::int64_t kept_waiting = 0;    ///< sequences that had waited for some time when the first step started
  std::int64_t queued = 0;  ///< sequences waiting once the first step had begun, without those it admits
  std::span<const QueueJoin> joined{};  ///< those that joined them while the steps ran, in order
  /// Sequences waiting at the end of the last step, those that arrived meanwhile included.
  std::int64_t waiting = 0;
  std::int64_t preempted = 0;    ///< sequences preempted at the start of the first step
  std::int64_t swapped_out = 0;  ///< of those, ones whose KV went to host memory
  std::int64_t swapped_in = 0;   ///< sequences whose KV came back from there for the one step
  BlockCount held_blocks{};      ///< during the first step
  /// Blocks held during each of the first steps, as far as they go; those after repeat them with
  /// `held_per_round` more in each round. Empty: one step, or no change.
  std::span<const std::int64_t> held_rounds{};
  std::int64_t held_per_round = 0;
  /// Gaps between a token emitted at the end of the first step and the same sequence's previous one; first
  /// tokens have none. The gaps of later steps are as long as those steps, `decodes` each.
  std::span<const TokenGap> gaps{};

  [[nodiscard]] std::int64_t held_during(std::int64_t step) const {
    if (held_rounds.empty()) {
      return held_blocks.count();
    }
    const auto round = static_cast<std::int64_t>(held_rounds.size());
    return held_rounds[static_cast<std::size_t>(step % round)] + step / round * held_per_round;
  }
};

/// A request that left unfinished.
struct RejectedRequest {
  std::int64_t id = 0;
  TimePoint arrival, rejected;
  std::int64_t prompt = 0;
  std::string_view reason;  ///< one sentence, valid during the call
  bool is_lost = false;     ///< it had been taken, and was given up later
};

/// A replica (of a pipeline: a micro-batch) that has looked for something to run and found nothing.
struct IdleRecord {
  std::int32_t replica = 0;
  std::int32_t lane = 0;
  TimePoint time;
  std::int64_t running = 0;  ///< sequences that will go on when they may: of a pipeline, or none
  std::int64_t waiting = 0;
  BlockCount held_blocks{};  ///< of all micro-batches, KV on its way included
};

/// What a transfer between replicas, or from storage, carried.
struct TransferRecord {
  enum class Kind : std::uint8_t {
    handover,  ///< KV of a request
    weights,   ///< of a replica that starts
  };
  Kind kind = Kind::handover;
  std::int64_t request = -1;  ///< of a handover
  std::int32_t from = -1;     ///< replica; -1: storage
  std::int32_t to = 0;        ///< replica
  Bytes bytes{};
  TimePoint start, end;
  bool is_cancelled = false;  ///< ended before everything was there
};

/// Sees what happens in a simulation. For metrics, traces and tests; changes nothing. Called synchronously
/// from the event loop: O(1) a record, please. In order of time, but for arrivals that a stretch of steps did
/// not wait for: those are told when they come, the steps at their end.
class SimulationObserver {
 public:
  virtual ~SimulationObserver() = default;
  /// `waiting`: requests that wait, on all replicas and for their KV to get from one to another, as this one
  /// comes and without it.
  virtual void on_arrival(const Request& request, std::int64_t waiting) { (void)request, (void)waiting; }
  virtual void on_rejected(const RejectedRequest& request) { (void)request; }
  virtual void on_steps(const StepRecord& steps) { (void)steps; }
  virtual void on_finished(const FinishedRequest& request) { (void)request; }
  /// Told whenever nothing runs and something may have changed, perhaps several times at one moment: what was
  /// told last holds until the next step of the replica begins.
  virtual void on_idle(const IdleRecord& idle) { (void)idle; }
  /// A transfer that took time has ended, or was cancelled. Told in order of ends.
  virtual void on_transfer(const TransferRecord& transfer) { (void)transfer; }
};

/// Shows a record's steps one by one, each as a record of its own, for those who look at single steps: tests,
/// traces, the comparison of steppers. `kept_waiting`, `preempted` and what was swapped go with the first;
/// the others have 0. O(chunks) a step.
void visit_steps(const StepRecord& record, const std::function<void(const StepRecord&)>& visit);

}  // namespace inferometer
