#pragma once

// The results of a run, computed once at its end from the integers the recorder kept. Names and definitions
// are those of `vllm bench serve`; where AIPerf or MLPerf define a metric otherwise, theirs can be chosen.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/metrics/cluster_summary.hpp"
#include "sim/metrics/duration_statistics.hpp"
#include "sim/metrics/kv_offload_summary.hpp"
#include "sim/metrics/kv_swap_summary.hpp"
#include "sim/metrics/metric_definitions.hpp"
#include "sim/metrics/prefix_summary.hpp"
#include "sim/metrics/recorder.hpp"
#include "sim/metrics/resource_summary.hpp"
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
  /// In the order of the recorder's pools, as many.
  std::vector<PoolSettings> pools = std::vector<PoolSettings>(1);
  std::optional<ClusterSummary> cluster;       ///< absent for one replica on its own
  std::optional<KvOffloadSummary> kv_offload;  ///< absent without host memory
  std::optional<KvSwapSummary> kv_swap;        ///< absent where no policy swaps
  bool overtakes = false;  ///< a policy takes requests in another order than that of arrival
  /// Requests per second the deployment is thought to sustain; absent = no load is shown.
  std::optional<double> estimated_capacity_per_second;
};

/// Of the requests of one priority.
struct PrioritySummary {
  std::int32_t priority = 0;
  std::int64_t completed = 0;
  std::optional<DurationStatistics> ttft, e2el;  ///< percentiles within 0.2 %
};

/// Whether requests are treated alike.
struct FairnessSummary {
  /// FairnessTotals::jain_index(); absent when no request finished.
  std::optional<double> share;
  std::vector<PrioritySummary> priorities;  ///< ascending; empty where all have the same
  /// Whether it says something about the scheduler: requests differ in priority, or overtake each other.
  bool matters = false;
};

/// Of all pools together. Latencies are absent when no request has one.
struct Summary : ResourceSummary {
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

  /// Prefilled beyond the prompts of completed requests, after preemptions; in a cluster also after failures
  /// and for requests that were lost. Absent when partial.
  std::optional<std::int64_t> recomputed_tokens;
  std::optional<PrefixSummary> prefixes;  ///< absent when no prompt could be told from others, and none found
  std::optional<KvOffloadSummary> kv_offload;  ///< absent without host memory
  std::optional<KvSwapSummary> kv_swap;        ///< absent where no policy swaps
  std::int64_t truncated = 0;
  std::vector<RejectionCount> rejections;

  FairnessSummary fairness;
  LevelSummary waiting;  ///< for a step or for a KV cache on its way
  StabilityReport stability;
  std::vector<PoolSummary> pools;         ///< in the recorder's order
  std::optional<ClusterSummary> cluster;  ///< as in the settings, with the handover times that were recorded

  /// nullptr when no request has the metric.
  [[nodiscard]] const DurationStatistics* find(LatencyMetric metric) const;
};

/// Precondition: settings for each of the recorder's pools. O(requests + runs of gaps) on average; O(1) where
/// percentiles are read off a sketch.
Summary summarize(const MetricsRecorder& recorder, const SummarySettings& settings);

}  // namespace inferometer
