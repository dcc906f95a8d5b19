// The pending events: what replicas do all the time, and a queue that is kept at a size.

#include <cstdint>

#include <benchmark/benchmark.h>

#include "base/random.hpp"
#include "sim/engine/event_queue.hpp"

namespace inferometer {
namespace {

/// Each replica ends a step, decides at that moment and starts the next one.
void replicas_step(benchmark::State& state) {
  const auto replicas = static_cast<std::uint32_t>(state.range(0));
  RandomStream random(1, "bench/steps");
  EventQueue queue;
  for (std::uint32_t replica = 0; replica < replicas; ++replica) {
    queue.push(Event::at(TimePoint(Duration(replica)), EventKind::step_end, replica));
  }
  for (auto _ : state) {
    const Event ended = queue.pop();
    queue.push(Event::at(ended.time(), EventKind::schedule, ended.target()));
    const Event decision = queue.pop();
    const Duration step = milliseconds(8) + Duration(static_cast<std::int64_t>(random.next() >> 32));
    queue.push(Event::at(decision.time() + step, EventKind::step_end, decision.target()));
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(replicas_step)->Arg(1)->Arg(8)->Arg(256);

/// Pop the first, push one at a random later time.
void hold(benchmark::State& state) {
  RandomStream random(1, "bench/hold");
  EventQueue queue;
  const auto later = [&](TimePoint now) {
    return now + Duration(static_cast<std::int64_t>(random.next() >> 32));
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    queue.push(Event::at(later(TimePoint()), EventKind::step_end, static_cast<std::uint32_t>(i)));
  }
  for (auto _ : state) {
    const Event event = queue.pop();
    queue.push(Event::at(later(event.time()), EventKind::step_end, event.target()));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(hold)->Arg(2)->Arg(64)->Arg(4096)->Arg(1 << 18);

}  // namespace
}  // namespace inferometer
