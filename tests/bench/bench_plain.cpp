// The same traffic through three simulators of one replica: the plain one, which walks all running sequences
// in every step, the reference stepper and the fast one. All with the same prices, without metrics.

#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tests/support/plain_scheduler.hpp"
#include "workloads/arrivals.hpp"
#include "workloads/lengths.hpp"
#include "workloads/presets.hpp"

namespace inferometer::testing {
namespace {

constexpr std::int64_t kRequests = 10'000;
constexpr std::uint64_t kSeed = 1;
// The test pricer counts in whole microseconds, of which one stands for 40 ns here: what a cached token adds
// to a step of Llama-3-8B on an H100. So all times are 25 times as long; nothing else depends on them.
constexpr StepCosts kCosts{
    .fixed = 162'500, .per_token = 480, .per_context = 1, .per_past = 0, .per_row = 125};

EngineSetup setup_of(Stepper stepper) {
  return {.policy = "chunked_prefill",
          .keys = "",
          .blocks = 27'936,
          .block_size = 16,
          .max_model_len = 8192,
          .max_num_seqs = 256,
          .costs = kCosts,
          .stepper = stepper};
}

struct FinishLog : SimulationObserver {
  void on_finished(const FinishedRequest& request) override {
    ++requests;
    last = request.finished;
    sum += request.finished.since_start().count() / kRequests;
  }
  std::int64_t requests = 0;
  std::int64_t sum = 0;
  TimePoint last;
};

FinishLog simulate(Stepper stepper, const std::vector<TestRequest>& requests) {
  FinishLog log;
  make_simulation(setup_of(stepper), make_list_workload(requests), log)->run();
  return log;
}

FinishLog simulate_plainly(const std::vector<TestRequest>& requests) {
  PlainEngine engine;
  engine.setup = setup_of(Stepper::reference);
  engine.budget = 2048;
  FinishLog log;
  const auto workload = make_list_workload(requests);
  for (const FinishedRequest& request : run_plainly(engine, *workload).finished) {
    log.on_finished(request);
  }
  return log;
}

using Requests = std::vector<TestRequest>;

/// Lengths of the Azure conversations, Poisson arrivals at such a share of what the replica can serve.
Requests chat(double load) {
  const Preset preset = load_preset("azure-conversation");
  LengthSampler lengths(preset.prompt, preset.output, preset.length_correlation, kSeed);
  Requests list;
  for (std::int64_t i = 0; i < kRequests; ++i) {
    const auto [prompt, output] = lengths.next();
    list.push_back({TimePoint(), prompt.count(), output.count()});
  }
  const double all_at_once_s = to_seconds(simulate(Stepper::fast, list).last.since_start());
  const auto arrivals = make_poisson_arrivals(PerSecond(load * kRequests / all_at_once_s), kSeed);
  for (TestRequest& request : list) {
    request.arrival = arrivals->next();
  }
  return list;
}

/// Counts requests; refuses to compare simulators that do not agree.
template <class Simulate>
void measure(benchmark::State& state, Simulate simulate_one) {
  constexpr double kPercent = 100;
  const Requests requests = chat(static_cast<double>(state.range(0)) / kPercent);
  FinishLog log;
  for (auto _ : state) {
    log = simulate_one(requests);
  }
  const FinishLog expected = simulate(Stepper::reference, requests);
  if (log.requests != expected.requests || log.sum != expected.sum) {
    state.SkipWithError("the simulators disagree");
  }
  state.SetItemsProcessed(state.iterations() * kRequests);
}

void chat_plain(benchmark::State& state) {
  measure(state, simulate_plainly);
}
BENCHMARK(chat_plain)->Arg(50)->Arg(80)->Unit(benchmark::kMillisecond);

void chat_by_stepper(benchmark::State& state, Stepper stepper) {
  measure(state, [stepper](const Requests& requests) { return simulate(stepper, requests); });
}
BENCHMARK_CAPTURE(chat_by_stepper, reference, Stepper::reference)
    ->Arg(50)
    ->Arg(80)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(chat_by_stepper, fast, Stepper::fast)->Arg(50)->Arg(80)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace inferometer::testing
