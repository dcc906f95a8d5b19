#pragma once

// Watches a simulation and keeps what every result is computed from: sums in integers, a record for each
// request, and the distribution of gaps between tokens. A step costs a few additions, whatever its batch.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/work_totals.hpp"
#include "sim/metrics/duration_distribution.hpp"
#include "sim/metrics/run_totals.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

/// What is kept of a finished request.
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

struct RejectedRecord {
  std::int64_t id = 0;
  TimePoint arrival;
  std::int64_t prompt = 0;  ///< may be beyond any limit
  std::int32_t reason = 0;  ///< index into MetricsRecorder::rejection_reasons()
};

class MetricsRecorder final : public SimulationObserver {
 public:
  /// `work`: an empty account of the model on one GPU, to be filled phase by phase; without it there is no
  /// MFU.
  explicit MetricsRecorder(std::int64_t replicas = 1, const std::optional<WorkTotals>& work = std::nullopt);

  void on_arrival(const Request& request, std::int64_t waiting) override;
  void on_rejected(const RejectedRequest& request) override;
  void on_steps(const StepRecord& steps) override;
  void on_finished(const FinishedRequest& request) override;

  [[nodiscard]] std::int64_t replicas() const { return replicas_; }
  [[nodiscard]] const RunTotals& totals() const { return totals_; }
  /// In order of finishing.
  [[nodiscard]] const std::vector<RequestRecord>& finished() const { return finished_; }
  [[nodiscard]] const std::vector<RejectedRecord>& rejected() const { return rejected_; }
  [[nodiscard]] const std::vector<std::string>& rejection_reasons() const { return reasons_; }
  /// Gaps between successive tokens of the same request, over all requests.
  [[nodiscard]] const DurationDistribution& gaps() const { return gaps_; }

 private:
  void leave(TimePoint time);
  void count_emitted(const StepRecord& steps);
  void add_gaps(const StepRecord& steps);

  std::int64_t replicas_;
  RunTotals totals_;
  std::vector<RequestRecord> finished_;
  std::vector<RejectedRecord> rejected_;
  std::vector<std::string> reasons_;
  DurationDistribution gaps_;
  TimePoint second_end_;  // end of the second of simulated time whose tokens are being counted
  std::int64_t second_emitted_ = 0;
};

}  // namespace inferometer
