// One replica, Llama-3-8B on one H100, chunked_prefill: what it costs to start and end steps, with everything
// that belongs to it but the events and the metrics.

#include <cstdint>
#include <optional>

#include <benchmark/benchmark.h>

#include "sim/replica/replica.hpp"
#include "sim/scenario/deployment.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kBatch = 32;
constexpr std::int64_t kPrompt = 16;
constexpr Duration kStep = milliseconds(7);  // the first one; the last takes about 17 ms

struct StepCounter : SimulationObserver {
  void on_steps(const StepRecord& record) override { steps += record.stretch.steps(); }
  std::int64_t steps = 0;
};

class BenchReplica {
 public:
  explicit BenchReplica(Stepper stepper)
      : scenario_(load_scenario_text("model: llama-3-8b\nhardware: {gpu: h100-sxm}\n"
                                     "workload: {generator: all_at_once, lengths: sharegpt}\n",
                                     "bench")),
        deployment_(make_deployment(scenario_)) {
    deployment_.set_stepper(stepper);
  }
  Replica make(StepCounter& counter) const {
    std::vector<Replica> lanes;
    add_lanes(deployment_.front(), 0, counter, lanes);
    return std::move(lanes.front());
  }

 private:
  Scenario scenario_;
  Deployment deployment_;
};

Request request_of(std::int64_t id, TimePoint arrival, std::int64_t output) {
  Request request;
  request.id = id;
  request.arrival = arrival;
  request.prompt = TokenCount(kPrompt);
  request.output = request.max_new = TokenCount(output);
  return request;
}

/// A batch that decodes 8,000 tokens each, cut into pieces of about so many steps as arrivals would; 0: step
/// by step, by the reference stepper. Items are pieces.
void decode_in_pieces(benchmark::State& state) {
  const std::int64_t steps_a_piece = state.range(0);
  const BenchReplica bench(steps_a_piece > 0 ? Stepper::fast : Stepper::reference);
  StepCounter counter;
  std::int64_t pieces = 0;
  for (auto _ : state) {
    Replica replica = bench.make(counter);
    for (std::int64_t id = 0; id < kBatch; ++id) {
      replica.enqueue(request_of(id, TimePoint(), 8000));
    }
    TimePoint now;
    while (const std::optional<TimePoint> end = replica.start_steps(now).end) {
      const TimePoint arrival = now + kStep * steps_a_piece;
      now = arrival < *end && steps_a_piece > 0 ? replica.interrupt(arrival).value_or(*end) : *end;
      replica.end_steps();
      ++pieces;
    }
  }
  state.SetItemsProcessed(pieces);
  state.counters["steps_a_piece"] = static_cast<double>(counter.steps) / static_cast<double>(pieces);
}
BENCHMARK(decode_in_pieces)->Arg(0)->Arg(1)->Arg(8)->Arg(64)->Arg(512)->Unit(benchmark::kMicrosecond);

/// In every step one request comes and one leaves: no two steps are alike.
void change_batch_every_step(benchmark::State& state) {
  const BenchReplica bench(Stepper::fast);
  StepCounter counter;
  Replica replica = bench.make(counter);
  TimePoint now;
  std::int64_t id = 0;
  for (auto _ : state) {
    replica.enqueue(request_of(id++, now, kBatch));
    now = *replica.start_steps(now).end;
    replica.end_steps();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(change_batch_every_step);

}  // namespace
}  // namespace inferometer
