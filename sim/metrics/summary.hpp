#pragma once

// The results of a run, computed once at its end from the integers the recorder kept. Names and definitions
// are those of `vllm bench serve`; where AIPerf or MLPerf define a metric otherwise, theirs can be chosen.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/metrics/duration_statistics.hpp"
#include "sim/metrics/metric_definitions.hpp"
#include "sim/metrics/recorder.hpp"
#include "sim/metrics/slo.hpp"
#include "sim/metrics/stability.hpp"

namespace inferometer {

/// What the recorder cannot know.
struct SummarySettings {
  MetricDefinitions definitions = MetricDefinitions::vllm;
  Census census;               ///< at the end
  std::int64_t truncated = 0;  ///< requests whose output max_model_len cut short
  bool partial = false;        ///< interrupted before all requests were done
  bool closed_loop = false;
  std::int64_t kv_blocks = 0;           ///< of all replicas together
  FlopsPerSecond peak_flops;            ///< of one GPU; 0 = leave MFU out
  BytesPerSecond peak_bandwidth;        ///< of one GPU; 0 = leave MBU out
  std::optional<DollarsPerHour> price;  ///< of all GPUs together
  Watts tdp;                            ///< of one GPU; 0 = leave energy out
  std::int64_t gpus = 1;                ///< of one replica
  /// Requests per second the deployment is thought to sustain; absent = no load is shown.
  std::optional<double> estimated_capacity_per_second;
};

/// Where the time went, as shares of the duration of all replicas together. They add up to 1.
struct TimeSplit {
  double compute = 0, bandwidth = 0, communication = 0, latency = 0, host = 0, idle = 0;
};

struct PhaseSummary {
  std::int64_t steps = 0;
  double seconds = 0;
  std::int64_t prefill_tokens = 0;
  std::int64_t decode_tokens = 0;
  /// Model FLOPs (bytes to and from HBM) over what one GPU's peak would have done in the phase's time, host
  /// time included. Padding counts as work. Absent without work totals, peak or time.
  std::optional<double> mfu, mbu;
};

/// A quantity that varies over time.
struct LevelSummary {
  double mean_busy = 0;   ///< over the time in steps; waiting while idle (for company) counts too
  double mean_total = 0;  ///< over the whole duration, nothing while idle
  std::int64_t peak = 0;
};

struct Money {
  double dollars_per_hour = 0;
  double dollars = 0;  ///< for the duration
  std::optional<double> dollars_per_million_output_tokens;
  std::optional<double> dollars_per_million_tokens;  ///< input and output
};

/// Estimated from the GPU's power limit and the time split: costmodel/energy.hpp says how well.
struct Energy {
  double joules = 0;      ///< of all GPUs, for the duration
  double mean_watts = 0;  ///< of all GPUs together
  std::optional<double> joules_per_output_token;
};

/// Latencies are absent when no request has one.
struct Summary {
  MetricDefinitions definitions = MetricDefinitions::vllm;
  bool partial = false;
  Census census;

  double duration_seconds = 0;  ///< first arrival to last finish; when partial, to the last event
  std::int64_t completed = 0;
  std::int64_t failed = 0;              ///< rejected
  std::int64_t total_input_tokens = 0;  ///< of completed requests, as all token counts but those by phase
  std::int64_t total_output_tokens = 0;
  double request_throughput = 0;          ///< per second, like all that follow
  std::optional<double> request_goodput;  ///< absent without limits
  std::optional<double> goodput_share;    ///< of completed and failed requests; absent without limits
  double output_throughput = 0;
  double total_token_throughput = 0;
  std::int64_t max_output_tokens_per_second = 0;
  std::int64_t max_concurrent_requests = 0;
  std::optional<DurationStatistics> ttft, tpot, itl, e2el, queue_delay;
  std::optional<DurationStatistics> icl;  ///< gaps between tokens, only where `itl` is not that (AIPerf)

  std::int64_t preemptions = 0;
  std::optional<std::int64_t> recomputed_tokens;  ///< prefilled again after a preemption; absent when partial
  std::int64_t truncated = 0;
  std::vector<RejectionCount> rejections;

  TimeSplit time_split;
  double extrapolated_share = 0;  ///< of the time in steps, kernels outside of what was measured
  std::array<PhaseSummary, kStepPhases> phases;  ///< by StepPhase
  PhaseSummary all_phases;
  std::int64_t kv_blocks = 0;
  LevelSummary kv_occupancy_blocks, batch_size, running, waiting;
  std::optional<Money> money;
  std::optional<Energy> energy;
  StabilityReport stability;

  /// nullptr when no request has the metric.
  [[nodiscard]] const DurationStatistics* find(LatencyMetric metric) const;
};

/// O(requests + runs of gaps) on average; O(1) where percentiles are read off a sketch.
Summary summarize(const MetricsRecorder& recorder, const SummarySettings& settings);

}  // namespace inferometer
