#pragma once

// What replicas did with their time and memory, and what that cost: of one pool, or of all of them together.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "sim/metrics/recorder.hpp"

namespace inferometer {

/// What the recorder cannot know of a pool.
struct PoolSettings {
  std::string role;                       ///< for people: "prefill"
  std::string gpu;                        ///< its name
  std::int64_t gpus = 1;                  ///< of one replica
  std::int64_t kv_blocks = 0;             ///< of all its replicas together
  FlopsPerSecond peak_flops{};            ///< of one GPU; 0 = leave MFU out
  BytesPerSecond peak_bandwidth{};        ///< of one GPU; 0 = leave MBU out
  Watts tdp{};                            ///< of one GPU; 0 = leave energy out
  std::optional<DollarsPerHour> price{};  ///< of one replica, all its GPUs
  /// For which replicas were there, added up; absent: all of them for the whole duration.
  std::optional<double> paid_seconds{};
};

/// Where the time went, as shares of the time for which replicas were there, all together (each micro-batch
/// of a pipeline for itself, which holds one stage at a time). They add up to 1.
struct TimeSplit {
  double compute = 0, bandwidth = 0, communication = 0, latency = 0, host = 0, idle = 0;
  double bubble = 0;  ///< waiting for a stage that another micro-batch holds
};

struct PhaseSummary {
  std::int64_t steps = 0;
  double seconds = 0;
  std::int64_t prefill_tokens = 0;
  std::int64_t decode_tokens = 0;
  /// Model FLOPs (bytes to and from HBM) over what one GPU's peak would have done in the phase's time, host
  /// time included. Padding counts as work. Absent without work totals, peak or time, and of pools whose
  /// GPUs have different ones.
  std::optional<double> mfu, mbu;
};

/// A quantity that varies over time. KV blocks are those of a whole replica, the micro-batches of whose
/// pipeline share them; all else is counted for each micro-batch.
struct LevelSummary {
  double mean_busy =
      0;  ///< of one replica, over its time in steps; waiting while idle (for company) counts too
  double mean_total = 0;  ///< of all together, over the whole duration, nothing while idle
  std::int64_t peak = 0;  ///< the highest of one replica (of one micro-batch of a pipeline)
};

/// Per token and request: over the tokens and completed requests of the whole run, so that pools add up.
struct Money {
  double dollars_per_hour = 0;  ///< while all replicas are there; where they come and go, on average
  double dollars = 0;           ///< for the duration
  std::optional<double> dollars_per_million_output_tokens;
  std::optional<double> dollars_per_million_tokens;  ///< input and output
  std::optional<double> dollars_per_thousand_requests;
};

/// Estimated from the GPU's power limit and how busy it was: costmodel/energy.hpp says how well. Per token
/// and request as money is.
struct Energy {
  double joules = 0;      ///< of all GPUs, for the duration
  double mean_watts = 0;  ///< of all GPUs together
  std::optional<double> joules_per_output_token;
  std::optional<double> joules_per_request;
};

/// What came of drafting tokens; names and definitions of vLLM (v1/spec_decode/metrics.py).
struct SpeculationSummary {
  DraftCounts counts;
  double acceptance_rate = 0;  ///< accepted tokens of all that were drafted
  /// Tokens that a sequence emits in a step in which it verifies drafts: 1 + accepted tokens a draft.
  double acceptance_length = 0;
  /// Of the drafts, those whose token at this position was accepted, with all before it; up to the last
  /// position that tokens were drafted for.
  std::vector<double> acceptance_by_position;
};

struct ResourceSummary {
  std::int64_t preemptions = 0;
  std::optional<SpeculationSummary> speculation;  ///< absent when nothing was drafted
  TimeSplit time_split;
  double extrapolated_share = 0;  ///< of the time in steps, kernels outside of what was measured
  std::array<PhaseSummary, kStepPhases> phases;  ///< by StepPhase
  PhaseSummary all_phases;
  std::int64_t replicas = 0;   ///< that there are at most
  std::int64_t kv_blocks = 0;  ///< of all of them together
  LevelSummary kv_occupancy_blocks, batch_size, running;
  std::optional<Money> money;  ///< absent unless every pool has a price
  /// Absent unless every pool has a power limit and peaks, and its work was recorded.
  std::optional<Energy> energy;

  /// The share of its blocks that a replica holds when it holds so many.
  [[nodiscard]] double kv_share(double blocks) const {
    return blocks * static_cast<double>(replicas) / static_cast<double>(kv_blocks);
  }
};

struct PoolSummary : ResourceSummary {
  std::string name, role, gpu;
  std::int64_t gpus = 1;  ///< of one replica
  std::int64_t max_waiting = 0;
};

/// What a run came to, for averages.
struct RunFigures {
  Duration duration{};
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t requests = 0;  ///< completed
};

/// A pool with all that is known of it. References outlive it.
struct PoolAccount {
  const RecordedPool& pool;
  const PoolTotals& totals;
  const PoolSettings& settings;
};

/// Of all these pools together. O(pools).
ResourceSummary summarize_resources(std::span<const PoolAccount> pools, const RunFigures& run);

PoolSummary summarize_pool(const PoolAccount& pool, const RunFigures& run);

}  // namespace inferometer
