#pragma once

// Three requests on two pools, small enough to work every result out by hand. Pool "prefill" is replicas 0
// and 1; pool "decode" is replica 2, a pipeline with two micro-batches in flight. Times in milliseconds:
//
//   request  arrival  prompt  output  prefilled on  admitted  first  there  finished on
//   0        0        100     3       0             0         20     30     2 at 70
//   1        0        200     2       1             0         40     46     2 at 70
//   2        10       60      1       0             20        35     -      0 at 35, begun anew once
//
//   replica, step      runs       compute bandwidth communication latency host bubble  held
//   0        0-20      prefill 0  12      4         0             2       2    0       7
//   1        0-40      prefill 1  24      8         4             2       2    0       13
//   0        20-35     prefill 2  9       3         0             1       2    0       4
//   2 lane 0 30-50     decode 0   0       10        2             1       2    5       8
//   2 lane 0 50-70     decode 0   0       10        2             1       2    5       21
//   2 lane 1 50-70     decode 1   0       8         2             1       2    7       21
//
// Steps are told at their ends, so that the first one of replica 1 comes after the second one of replica 0.
// The two of micro-batch 0 are a stretch, told at 70.

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "sim/metrics/recorder.hpp"
#include "sim/metrics/summary.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/sim/four_requests.hpp"

namespace inferometer::test {

inline MetricsRecorder two_pool_recorder(const std::optional<WorkTotals>& work = std::nullopt,
                                         const RecorderOptions& options = {}) {
  return MetricsRecorder({{.name = "prefill", .replicas = 2, .lanes = 1, .work = work},
                          {.name = "decode", .replicas = 1, .lanes = 2, .work = work}},
                         {}, options);
}

inline StepCost cost_ms(int compute, int bandwidth, int communication, int latency, int host, int bubble) {
  return StepCost{.compute = milliseconds(compute),
                  .bandwidth = milliseconds(bandwidth),
                  .latency = milliseconds(latency),
                  .communication = milliseconds(communication),
                  .host = milliseconds(host),
                  .bubble = milliseconds(bubble)};
}

inline void prefill_step(SimulationObserver& observer, std::int32_t replica, int start, const StepCost& cost,
                         std::int64_t tokens, std::int64_t held, std::int64_t waiting) {
  const std::array<ChunkShape, 1> chunks = {{{tokens, 0}}};
  const StepShape shape{0, 0, 1, chunks};
  const Stretch stretch(at_ms(start), cost);
  StepRecord record{replica, 0, stretch, shape};
  record.prefill_tokens = tokens;
  record.emitted = 1;
  record.running = 1;
  record.waiting = waiting;
  record.held_blocks = BlockCount(held);
  observer.on_steps(record);
}

inline void decode_steps(SimulationObserver& observer, std::int32_t lane, int start, std::int64_t steps,
                         const StepCost& cost, std::int64_t context, const std::vector<std::int64_t>& held) {
  const StepShape shape{1, context, 1, {}};
  const Stretch stretch(at_ms(start), StepLine{cost, {}, steps}, steps);
  StepRecord record{2, lane, stretch, shape};
  record.context_growth = {1, 0};
  record.decodes = record.emitted = record.running = 1;
  record.held_blocks = BlockCount(held.front());
  record.held_rounds = held;
  observer.on_steps(record);
}

inline void replay_two_pools(SimulationObserver& observer) {
  arrive(observer, 0, at_ms(0), 100, 3);
  arrive(observer, 1, at_ms(0), 200, 2);
  arrive(observer, 2, at_ms(10), 60, 1);
  prefill_step(observer, 0, 0, cost_ms(12, 4, 0, 2, 2, 0), 100, 7, 1);
  prefill_step(observer, 0, 20, cost_ms(9, 3, 0, 1, 2, 0), 60, 4, 0);
  FinishedRequest request{2, -1, at_ms(10), at_ms(20), at_ms(35), at_ms(35), 60, 1, 0, 1};
  request.retries = 1;
  observer.on_finished(request);
  prefill_step(observer, 1, 0, cost_ms(24, 8, 4, 2, 2, 0), 200, 13, 0);
  decode_steps(observer, 0, 30, 2, cost_ms(0, 10, 2, 1, 2, 5), 101, {8, 21});
  request = {0, -1, at_ms(0), at_ms(0), at_ms(20), at_ms(70), 100, 3, 0, 3, 2, 0, 0, milliseconds(10)};
  observer.on_finished(request);
  decode_steps(observer, 1, 50, 1, cost_ms(0, 8, 2, 1, 2, 7), 201, {21});
  request = {1, -1, at_ms(0), at_ms(0), at_ms(40), at_ms(70), 200, 2, 0, 2, 2, 1, 0, milliseconds(6)};
  observer.on_finished(request);
}

/// GPUs of two kinds; 96 and 60 KV blocks.
inline SummarySettings two_pool_settings() {
  SummarySettings settings;
  settings.census = {.injected = 3, .completed = 3};
  settings.pools = {{.role = "prefill",
                     .gpu = "big",
                     .gpus = 2,
                     .kv_blocks = 96,
                     .peak_flops = FlopsPerSecond(1e15),
                     .peak_bandwidth = BytesPerSecond(3e12),
                     .tdp = Watts(100),
                     .price = DollarsPerHour(7.2),
                     .paid_seconds = std::nullopt},
                    {.role = "decode",
                     .gpu = "small",
                     .gpus = 4,
                     .kv_blocks = 60,
                     .peak_flops = FlopsPerSecond(4e14),
                     .peak_bandwidth = BytesPerSecond(2e12),
                     .tdp = Watts(50),
                     .price = DollarsPerHour(3.6),
                     .paid_seconds = std::nullopt}};
  ClusterSummary cluster;
  cluster.transfers = {.count = 2, .aborted = 0, .bytes = Bytes(38'400'000), .handover = std::nullopt};
  cluster.retries = 1;
  cluster.routed = {2, 1, 2};
  settings.cluster = cluster;
  return settings;
}

}  // namespace inferometer::test
