#pragma once

// Watches a simulation and keeps what every result is computed from: sums in integers and the distributions
// of latencies and of gaps between tokens. A step costs a few additions, whatever its batch. What grows with
// the run: 32 bytes a request and 8 or 16 for each change of the batch for exact percentiles, nothing for a
// sketch; and a record of each request where that is asked for.

#include <cstdint>
#include <optional>

#include "costmodel/work_totals.hpp"
#include "sim/metrics/chunked_column.hpp"
#include "sim/metrics/duration_distribution.hpp"
#include "sim/metrics/run_totals.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

struct RecorderOptions {
  Percentiles percentiles = Percentiles::exact;
  bool keep_records = true;  ///< of single requests: requests.csv is written from them
  RequestLimits limits;      ///< what a request must meet to be counted as good
};

/// What a finished request was.
struct RequestRecord {
  std::int64_t id = 0;
  std::int64_t session = -1;
  TimePoint arrival, admitted, first_token, finished;
  std::int32_t prompt = 0;
  std::int32_t output = 0;
  std::int32_t preemptions = 0;
  std::int32_t max_new = 0;  ///< tokens the client allowed, cut to max_model_len

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
static_assert(sizeof(RequestRecord) <= 64, "one cache line a request");

/// A request of one token meets any limit on time per output token.
bool meets(const RequestRecord& request, const RequestLimits& limits);

struct RejectedRecord {
  std::int64_t id = 0;
  TimePoint arrival;
  std::int64_t prompt = 0;  ///< may be beyond any limit
};

/// What each request that finished took. A request of one token has no time per output token.
struct RequestLatencies {
  explicit RequestLatencies(Percentiles percentiles)
      : ttft(percentiles), tpot(percentiles), e2el(percentiles), queue_delay(percentiles) {}

  DurationDistribution ttft, tpot, e2el, queue_delay;
};

class MetricsRecorder final : public SimulationObserver {
 public:
  /// `work`: an empty account of the model on one GPU, to be filled phase by phase; without it there is no
  /// MFU.
  explicit MetricsRecorder(std::int64_t replicas = 1, const std::optional<WorkTotals>& work = std::nullopt,
                           const RecorderOptions& options = {});

  void on_arrival(const Request& request, std::int64_t waiting) override;
  void on_rejected(const RejectedRequest& request) override;
  void on_steps(const StepRecord& steps) override;
  void on_finished(const FinishedRequest& request) override;

  [[nodiscard]] std::int64_t replicas() const { return replicas_; }
  [[nodiscard]] const RunTotals& totals() const { return totals_; }
  [[nodiscard]] const RecorderOptions& options() const { return options_; }
  /// In order of finishing. Precondition of both: options().keep_records.
  [[nodiscard]] const ChunkedColumn<RequestRecord>& finished() const;
  [[nodiscard]] const ChunkedColumn<RejectedRecord>& rejected() const;
  [[nodiscard]] const RequestLatencies& latencies() const { return latencies_; }
  /// Gaps between successive tokens of the same request, over all requests.
  [[nodiscard]] const DurationDistribution& gaps() const { return gaps_; }

 private:
  void leave(TimePoint time) {
    --totals_.in_system;
    totals_.stays += time.since_start().count();
  }
  void count_emitted_by_second(const StepRecord& steps);
  void add_gaps(const StepRecord& steps);

  std::int64_t replicas_;
  RecorderOptions options_;
  RunTotals totals_;
  ChunkedColumn<RequestRecord> finished_;
  ChunkedColumn<RejectedRecord> rejected_;
  RequestLatencies latencies_;
  DurationDistribution gaps_;
  TimePoint second_end_;  // end of the second of simulated time whose tokens are being counted
  std::int64_t second_emitted_ = 0;
};

}  // namespace inferometer
