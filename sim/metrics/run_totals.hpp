#pragma once

// What a run adds up to, in integers: of its steps, pool by pool; of its requests, all together.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "costmodel/work_totals.hpp"
#include "sim/metrics/cost_totals.hpp"
#include "sim/metrics/request_lengths.hpp"
#include "sim/metrics/thinned_samples.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

enum class StepPhase : std::uint8_t { prefill, decode, mixed };
inline constexpr std::size_t kStepPhases = 3;

inline StepPhase phase_of(const StepRecord& step) {
  if (step.prefill_tokens == 0) {
    return StepPhase::decode;
  }
  return step.decodes == 0 ? StepPhase::prefill : StepPhase::mixed;
}

/// Steps that only prefilled, only decoded, or did both.
struct PhaseTotals {
  std::int64_t steps = 0;
  CostTotals cost;
  std::int64_t prefill_tokens = 0;
  std::int64_t decode_tokens = 0;
  std::optional<WorkTotals> work;  ///< of one GPU, padding included; absent when nobody asked for it
};

/// A quantity that a step has all along: its integral over busy time, and its largest value. Of several
/// replicas (or micro-batches of a pipeline), the integral is of all together, the peak of one on its own.
/// Each micro-batch sees the blocks that its whole replica holds.
struct LevelTotals {
  Int128 integral = 0;  ///< value times picoseconds
  std::int64_t peak = 0;

  void add(std::int64_t value, Duration time) {
    integral += Int128{value} * time.count();
    peak = value > peak ? value : peak;
  }
  /// The blocks held in the steps of a record, which take `time`. O(steps of a round).
  void add_held(const StepRecord& steps, Duration time) {
    if (steps.held_rounds.empty()) {
      add(steps.held_blocks.count(), time);
    } else {
      add_held_rounds(steps);
    }
  }

 private:
  void add_held_rounds(const StepRecord& steps);
};

struct ArrivalTotals {
  std::int64_t count = 0;
  TimePoint first, last;
  Int128 squared_gaps = 0;                 ///< sum over neighbours of (picoseconds between them)^2
  ThinnedSamples<std::int64_t> in_system;  ///< requests in the system as each arrival found it
  std::int64_t waiting_at_last = 0;        ///< requests that waited as the last one came
  std::int64_t with_content = 0;           ///< requests whose prompts can be told apart
};

/// What requests that finished had found in prefix caches. A request with a hit found some of its prompt when
/// it was first admitted.
struct PrefixTotals {
  PrefixSources cached;                         ///< tokens found at first admissions
  PrefixSources recached;                       ///< and at later ones, after preemptions
  std::int64_t hits = 0;                        ///< requests with a hit
  Int128 ttft_of_hits = 0, ttft_of_misses = 0;  ///< sums in picoseconds
};

struct FinishTotals {
  /// Between half as many and as many lengths as these are kept once there are more requests.
  static constexpr std::size_t kMostLengths = 65'536;

  std::int64_t count = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t good = 0;  ///< requests that met all limits
  TimePoint last;
  PrefixTotals prefixes;
  ThinnedSamples<RequestLengths> lengths{kMostLengths};  ///< in order of finishing
};

/// Requests that left unfinished, for one reason.
struct RejectionCount {
  std::string reason;
  std::int64_t requests = 0;
};

/// Of the steps of one pool's replicas.
struct PoolTotals {
  std::array<PhaseTotals, kStepPhases> phases;
  LevelTotals held_blocks, decodes, running;
  std::int64_t max_waiting = 0;  ///< at a step's start or end, on one replica
  std::int64_t preemptions = 0;

  [[nodiscard]] CostSum cost() const;
};

struct RunTotals {
  std::vector<PoolTotals> pools;

  std::int64_t in_system = 0;
  Int128 stays = 0;  ///< sum over departures of the time, less sum over arrivals of the time, in picoseconds
  std::int64_t max_in_system = 0;
  ArrivalTotals arrivals;
  FinishTotals finished;
  std::vector<RejectionCount> rejections;  ///< in order of first appearance
  std::vector<RejectionCount> losses;      ///< likewise, of requests that had been taken
  TimePoint last_event;                    ///< the last arrival, step end or departure

  /// Request-picoseconds spent waiting up to the last event: those in the system, less those in steps. What
  /// runs in a step that was cut off counts as waiting, and so does a KV cache on its way between replicas.
  [[nodiscard]] Int128 waiting_integral() const;
  [[nodiscard]] std::int64_t max_waiting() const;
  [[nodiscard]] std::int64_t preemptions() const;
  [[nodiscard]] CostSum cost() const;
};

}  // namespace inferometer
