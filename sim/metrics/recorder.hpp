#pragma once

// Watches a simulation and keeps what every result is computed from: sums in integers and the distributions
// of latencies and of gaps between tokens. Steps are summed by pool, requests over the whole run. A step
// costs a few additions, whatever its batch. What grows with the run: 32 bytes a request (40 when its KV was
// handed over) and 8 or 16 for each change of the batch for exact percentiles, nothing for a sketch; of
// several replicas, 8 bytes for each second of simulated time; and a record of each request where that is
// asked for.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/work_totals.hpp"
#include "sim/metrics/busiest_second.hpp"
#include "sim/metrics/chunked_column.hpp"
#include "sim/metrics/duration_distribution.hpp"
#include "sim/metrics/fairness.hpp"
#include "sim/metrics/run_totals.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

struct RecorderOptions {
  Percentiles percentiles = Percentiles::exact;
  bool keep_records = true;  ///< of single requests: requests.csv is written from them
  RequestLimits limits;      ///< what a request must meet to be counted as good
  Duration frontend{};       ///< that clients had sent requests before they arrived at the engine
};

/// Replicas of one kind: of the same hardware, whatever they are used for at a time.
struct RecordedPool {
  std::string name = "mixed";
  std::int64_t replicas = 1;  ///< that there are at most, >= 1
  std::int64_t lanes = 1;     ///< micro-batches in flight on each, one for each stage of its pipeline, >= 1
  /// An empty account of the model on one GPU of a tensor group, to be filled phase by phase; without it
  /// there is no MFU.
  std::optional<WorkTotals> work{};

  [[nodiscard]] std::int64_t all_lanes() const { return replicas * lanes; }
};

/// What a finished request was.
struct RequestRecord {
  std::int64_t id = 0;
  std::int64_t session = -1;
  TimePoint arrival, admitted, first_token, finished;
  std::int32_t prompt = 0;
  std::int32_t output = 0;
  std::int32_t preemptions = 0;
  std::int32_t max_new = 0;           ///< tokens the client allowed, cut to max_model_len
  std::int32_t replica = 0;           ///< that finished it
  std::int32_t prefill_replica = -1;  ///< that computed its prompt, when it was another one
  std::int32_t retries = 0;           ///< times it was begun anew
  std::int32_t cached_tokens = 0;     ///< of the prompt, found in the prefix cache when it was first admitted
  Duration handover{};                ///< of its KV to another replica; 0 when it stayed

  [[nodiscard]] bool was_handed_over() const { return prefill_replica >= 0; }
  [[nodiscard]] Duration time_to_first_token() const { return first_token - arrival; }
  [[nodiscard]] Duration latency() const { return finished - arrival; }
  [[nodiscard]] Duration queue_delay() const { return admitted - arrival; }
  /// From the first token to the last.
  [[nodiscard]] Duration generation() const { return finished - first_token; }
  /// generation / (output - 1), to the nearest picosecond (up at half). Precondition: output > 1.
  [[nodiscard]] Duration time_per_output_token() const {
    const std::int64_t gaps = output - 1;
    return Duration((generation().count() + gaps / 2) / gaps);
  }
};
static_assert(sizeof(RequestRecord) == 88, "run_summary.hpp says what a request takes");

/// A request of one token meets any limit on time per output token.
bool meets(const RequestRecord& request, const RequestLimits& limits);

struct RejectedRecord {
  std::int64_t id = 0;
  TimePoint arrival;
  std::int64_t prompt = 0;  ///< may be beyond any limit
};

/// What each request that finished took. A request of one token has no time per output token; one whose KV
/// stayed where it was has no handover.
struct RequestLatencies {
  explicit RequestLatencies(Percentiles percentiles)
      : ttft(percentiles),
        tpot(percentiles),
        e2el(percentiles),
        queue_delay(percentiles),
        handover(percentiles) {}

  DurationDistribution ttft, tpot, e2el, queue_delay, handover;
};

class MetricsRecorder final : public SimulationObserver {
 public:
  /// One pool of so many replicas.
  explicit MetricsRecorder(std::int64_t replicas = 1, const std::optional<WorkTotals>& work = std::nullopt,
                           const RecorderOptions& options = {});
  /// Precondition: a pool at least; `pool_of_replica` has a place in `pools` for each replica, or nothing
  /// when they are numbered through, pool by pool.
  explicit MetricsRecorder(std::vector<RecordedPool> pools, std::vector<std::int32_t> pool_of_replica = {},
                           const RecorderOptions& options = {});

  void on_arrival(const Request& request, std::int64_t waiting) override;
  void on_rejected(const RejectedRequest& request) override;
  void on_steps(const StepRecord& steps) override;
  void on_finished(const FinishedRequest& request) override;

  /// In the order of totals().pools.
  [[nodiscard]] const std::vector<RecordedPool>& pools() const { return pools_; }
  /// Of all pools together.
  [[nodiscard]] std::int64_t replicas() const { return static_cast<std::int64_t>(pool_of_replica_.size()); }
  [[nodiscard]] const RunTotals& totals() const { return totals_; }
  /// Tokens of all replicas together, in the busiest second of simulated time, counted from 0 on.
  [[nodiscard]] std::int64_t max_emitted_per_second() const { return busiest_second_.most(); }
  [[nodiscard]] const RecorderOptions& options() const { return options_; }
  /// In order of finishing. Precondition of both: options().keep_records.
  [[nodiscard]] const ChunkedColumn<RequestRecord>& finished() const;
  [[nodiscard]] const ChunkedColumn<RejectedRecord>& rejected() const;
  [[nodiscard]] const RequestLatencies& latencies() const { return latencies_; }
  /// Gaps between successive tokens of the same request, over all requests.
  [[nodiscard]] const DurationDistribution& gaps() const { return gaps_; }
  [[nodiscard]] const FairnessTotals& fairness() const { return fairness_; }

 private:
  void leave(TimePoint time) {
    --totals_.in_system;
    totals_.stays += time.since_start().count();
    totals_.last_event = std::max(totals_.last_event, time);
  }
  [[nodiscard]] std::size_t place_of_pool(std::int32_t replica) const {
    return static_cast<std::size_t>(pool_of_replica_[static_cast<std::size_t>(replica)]);
  }
  void add_steps(const StepRecord& steps, PoolTotals& pool);
  void add_gaps(const StepRecord& steps);
  void add_prefixes(const FinishedRequest& request, Duration ttft);

  std::vector<RecordedPool> pools_;
  std::vector<std::int32_t> pool_of_replica_;
  bool one_by_one_;  // one replica without a pipeline: no two steps overlap, and no lookup is needed
  RecorderOptions options_;
  RunTotals totals_;
  ChunkedColumn<RequestRecord> finished_;
  ChunkedColumn<RejectedRecord> rejected_;
  RequestLatencies latencies_;
  DurationDistribution gaps_;
  FairnessTotals fairness_;
  BusiestSecond busiest_second_;
};

}  // namespace inferometer
