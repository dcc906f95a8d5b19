#pragma once

// Four requests on one replica, small enough to work every result out by hand. Times in milliseconds:
//
//   request  arrival  prompt  output  admitted  first  finished
//   0        0        100     3       0         30     60
//   1        10       200     1       30        50     50
//   2        20       50      2       30        50     60
//   3        80       10      1       80        100    100
//
//   step     runs                          compute bandwidth communication latency host  held  waiting
//   0-30     prefill 0                     20      4         0             3       3     7     2
//   30-50    decode 0, prefill 1 and 2     10      5         2             1       2     24    0
//   50-60    decode 0 and 2                0       8         0             0       2     12    0
//   80-100   prefill 3                     12      4         0             2       2     1     0
//
// Gaps between tokens: 20 (request 0, second token), then 10 for each of requests 0 and 2.

#include <array>
#include <vector>

#include "sim/metrics/recorder.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::test {

inline TimePoint at_ms(std::int64_t ms) {
  return TimePoint(milliseconds(ms));
}

inline void arrive(SimulationObserver& observer, std::int64_t id, TimePoint arrival, std::int64_t prompt,
                   std::int64_t output) {
  observer.on_arrival({id, arrival, TokenCount(prompt), TokenCount(output), TokenCount(output)}, 0);
}

/// Shows the run to an observer, in the order a simulation would.
inline void replay_four_requests(SimulationObserver& observer) {
  const auto cost = [](int compute, int bandwidth, int communication, int latency, int host) {
    return StepCost{milliseconds(compute), milliseconds(bandwidth), milliseconds(latency),
                    milliseconds(communication), milliseconds(host)};
  };
  const auto step = [&](int start, int end, const StepCost& price, const StepShape& shape,
                        std::int64_t emitted, std::int64_t running, std::int64_t waiting, std::int64_t held,
                        const std::vector<TokenGap>& gaps) {
    const Stretch stretch(at_ms(start), price);
    CHECK((stretch.end() == at_ms(end)));
    StepRecord record{0, 0, stretch, shape};
    record.decodes = shape.decodes;
    record.prefill_tokens = shape.chunk_tokens();
    record.emitted = emitted;
    record.running = running;
    record.waiting = waiting;
    record.held_blocks = BlockCount(held);
    record.gaps = gaps;
    observer.on_steps(record);
  };
  const std::array<ChunkShape, 1> prefill_0 = {{{100, 0}}};
  const std::array<ChunkShape, 2> prefill_1_2 = {{{200, 0}, {50, 0}}};
  const std::array<ChunkShape, 1> prefill_3 = {{{10, 0}}};

  arrive(observer, 0, at_ms(0), 100, 3);
  arrive(observer, 1, at_ms(10), 200, 1);
  arrive(observer, 2, at_ms(20), 50, 2);
  step(0, 30, cost(20, 4, 0, 3, 3), {0, 0, 1, prefill_0}, 1, 1, 2, 7, {});
  step(30, 50, cost(10, 5, 2, 1, 2), {1, 101, 3, prefill_1_2}, 3, 3, 0, 24, {{milliseconds(20), 1}});
  observer.on_finished({1, -1, at_ms(10), at_ms(30), at_ms(50), at_ms(50), 200, 1, 0});
  step(50, 60, cost(0, 8, 0, 0, 2), {2, 153, 2, {}}, 2, 2, 0, 12,
       {{milliseconds(10), 1}, {milliseconds(10), 1}});
  observer.on_finished({0, 7, at_ms(0), at_ms(0), at_ms(30), at_ms(60), 100, 3, 0});
  observer.on_finished({2, 7, at_ms(20), at_ms(30), at_ms(50), at_ms(60), 50, 2, 0});
  arrive(observer, 3, at_ms(80), 10, 1);
  step(80, 100, cost(12, 4, 0, 2, 2), {0, 0, 1, prefill_3}, 1, 1, 0, 1, {});
  observer.on_finished({3, -1, at_ms(80), at_ms(80), at_ms(100), at_ms(100), 10, 1, 0});
}

}  // namespace inferometer::test
