#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/cluster/cluster_setup.hpp"
#include "sim/cluster/cluster_totals.hpp"
#include "sim/cluster/engine_control.hpp"
#include "sim/cluster/fleet.hpp"
#include "sim/cluster/timers.hpp"
#include "sim/cluster/transfers.hpp"

namespace inferometer {

/// A request begun again, or given up.
struct Attempt {
  Request request;
  std::int32_t retries = 0;
};

/// Requests whose prompt one replica computes and whose tokens another one emits: from the moment when the
/// prompt is queued until its KV is where it decodes (spec, part 1.7). O(1) a call, except where said.
class Handovers {
 public:
  /// All outlive it. `setup` has a disaggregation.
  Handovers(const ClusterSetup& setup, EngineControl& control, Fleet& fleet, Timers& timers,
            Transfers& transfers, ClusterTotals& totals);

  /// Longest prompt plus output that every replica takes which may decode.
  [[nodiscard]] std::int64_t longest() const { return longest_; }
  /// Queues a request's prompt at `prefill`. Precondition: both kinds of replica accept it.
  void begin(const Attempt& attempt, std::int32_t prefill);

  // --- what the engine tells ---
  void prompt_done(const HandOver& done);
  void blocks_taken(const LoadStart& start);
  /// The decode replica gave them to a prompt that is computed: what came there is lost, the prefill goes on.
  void blocks_taken_back(const LoadStart& taken);
  /// `step`: how long the step will take that computes it.
  void chunk_begun(const PushedChunk& chunk, Duration step);
  void transfer_ended(const TransferPurpose& purpose);
  void timer(const Timer& timer);

  /// Prompts that are nowhere but between replicas, or held for a replica to come.
  [[nodiscard]] std::int64_t between() const { return between_; }

  /// A prefill replica has failed: what it had computed or was to compute is lost. Returns the requests to be
  /// begun again or given up, by number. O(requests in handover).
  std::vector<Attempt> prefill_failed(std::int32_t replica);
  /// A replica has failed; true when the request was only expected there, and goes to another one.
  bool decode_failed(std::int64_t request_id, std::int32_t replica);
  /// Decode replicas have come up: prompts that found none go there. O(requests in handover).
  void decode_available();
  /// Requests that found no decode replica, in order. O(requests in handover).
  [[nodiscard]] std::vector<std::int64_t> unattached() const;
  /// Of them, those whose prompt is computed, or not begun, are lost, where that is so of their prefill
  /// replica. What is being computed goes on until it is done. O(requests in handover).
  void lose_unattached(std::string_view reason, const std::function<bool(std::int32_t)>& is_lost);

 private:
  struct Journey {
    Attempt attempt;
    std::int64_t order = 0;
    std::int32_t prefill = -1;
    std::int32_t decode = -1;
    SequenceId at_prefill = kNoSequence;  // once handed over
    SequenceId at_decode = kNoSequence;   // once expected there
    std::optional<PromptResult> result;   // once the prompt is done
    bool is_queued = false;               // at the prefill replica, or past it
    bool is_delivered = false;            // the decode replica may know that the prompt is done
    bool has_blocks = false;              // at the decode replica
    std::int64_t bytes_there = 0;         // of KV that can be sent
    std::int64_t bytes_sent = 0;          // or being sent
    std::optional<std::uint32_t> transfer;
  };

  [[nodiscard]] const DisaggregationSetup& split() const { return *setup_.disaggregation; }
  [[nodiscard]] bool pushes() const { return split().transfer == DisaggregationSetup::Transfer::push; }
  Journey* find(std::int64_t request_id, std::int64_t order);
  [[nodiscard]] std::int64_t bytes_of(const Journey& journey, std::int64_t tokens) const;
  void queue_prompt(Journey& journey);
  void attach_decode(Journey& journey);
  void deliver(Journey& journey);
  void send(Journey& journey);
  void arrive(Journey& journey);
  void finish_at_prefill(Journey& journey);
  void abort(Journey& journey);
  void lose(Journey& journey, std::string_view reason);
  void cancel_transfer(Journey& journey);
  void release_prefill(const Journey& journey);
  void forget_decode(Journey& journey);
  void end(const Journey& journey);

  const ClusterSetup& setup_;
  EngineControl& control_;
  Fleet& fleet_;
  Timers& timers_;
  Transfers& transfers_;
  ClusterTotals& totals_;
  std::unordered_map<std::int64_t, Journey> journeys_;  // by request; never walked in this order
  std::int64_t longest_ = 0;
  std::int64_t begun_ = 0;
  std::int64_t between_ = 0;
};

}  // namespace inferometer
