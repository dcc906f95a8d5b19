// What is kept of every step, and the statistics made of it at the end.

#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/random.hpp"
#include "sim/metrics/recorder.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kSteps = 1'000'000;

RecorderOptions without_records(Percentiles percentiles) {
  RecorderOptions options;
  options.percentiles = percentiles;
  options.keep_records = false;
  return options;
}

/// Decode steps of which every state.range(0)-th has another batch size than the one before; exact
/// percentiles (0) or a sketch (1), as below.
void record_steps(benchmark::State& state) {
  const WorkTotals work(load_model("llama-3-8b"), 1);
  StepCost cost{.bandwidth = milliseconds(7)};
  StepShape shape;
  for (auto _ : state) {
    MetricsRecorder recorder(1, work, without_records(static_cast<Percentiles>(state.range(1))));
    TimePoint now;
    std::int64_t batch = 200;
    for (std::int64_t i = 0; i < kSteps; ++i) {
      batch += i % state.range(0) == 0 ? (i / state.range(0) % 2 == 0 ? 1 : -1) : 0;
      cost.latency = Duration(batch * 1'000'000 + i * batch);
      const Stretch stretch(now, cost);
      now = stretch.end();
      StepRecord step{0, 0, stretch, shape};
      step.running = 256;
      step.held_blocks = BlockCount(20'000);
      shape = {.decodes = batch, .decode_context = 100'000 + i * batch, .sampled_rows = batch};
      step.decodes = step.emitted = batch;
      const TokenGap gap{cost.total(), batch};
      step.gaps = {&gap, 1};
      recorder.on_steps(step);
    }
    state.counters["runs_kept"] = static_cast<double>(recorder.gaps().runs_kept());
  }
  state.SetItemsProcessed(state.iterations() * kSteps);
}
BENCHMARK(record_steps)->ArgsProduct({{1, 10, 1000}, {0, 1}})->Unit(benchmark::kMillisecond);

/// Requests that finish one after the other, `random` in what they took.
void finish_requests(MetricsRecorder& recorder, std::int64_t count) {
  RandomStream random(1, "bench/requests");
  FinishedRequest request;
  request.prompt = 1000;
  for (request.id = 0; request.id < count; ++request.id) {
    const std::uint64_t bits = random.next();
    request.output = 2 + static_cast<std::int64_t>(bits % 256);
    request.arrival = request.arrival + Duration(50'000'000'000);
    request.admitted = request.arrival + Duration(static_cast<std::int64_t>(bits & 0x3ffffffff));
    request.first_token =
        request.admitted + Duration(static_cast<std::int64_t>(20'000'000'000 + (bits >> 29)));
    request.finished =
        request.first_token +
        Duration(12'000'000'000 + static_cast<std::int64_t>(bits >> 30)) * (request.output - 1);
    recorder.on_finished(request);
  }
}

void record_requests(benchmark::State& state) {
  for (auto _ : state) {
    MetricsRecorder recorder(1, std::nullopt, without_records(static_cast<Percentiles>(state.range(0))));
    finish_requests(recorder, kSteps);
    benchmark::DoNotOptimize(recorder.totals().finished.count);
  }
  state.SetItemsProcessed(state.iterations() * kSteps);
}
BENCHMARK(record_requests)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

/// What the end of a run of a million requests costs.
void statistics_of_requests(benchmark::State& state) {
  MetricsRecorder recorder(1, std::nullopt, without_records(static_cast<Percentiles>(state.range(0))));
  finish_requests(recorder, kSteps);
  for (auto _ : state) {
    const RequestLatencies& latencies = recorder.latencies();
    for (const auto* values : {&latencies.ttft, &latencies.tpot, &latencies.e2el, &latencies.queue_delay}) {
      benchmark::DoNotOptimize(values->statistics(PercentileRule::linear));
    }
  }
}
BENCHMARK(statistics_of_requests)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

/// All statistics of a million values of 8 ms each, more or less; in stretches of such a length.
void statistics_of_values(benchmark::State& state) {
  RandomStream random(1, "bench/values");
  DurationDistribution distribution;
  Duration value;
  for (std::int64_t i = 0; i < kSteps; ++i) {
    value += Duration(30'000);
    if (i % state.range(0) == 0) {
      value = milliseconds(7) + Duration(static_cast<std::int64_t>(random.below(2'000'000'000)));
    }
    distribution.add(value, 1 + i / state.range(0) % 64);
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(distribution.statistics(PercentileRule::linear));
  }
  state.counters["runs_kept"] = static_cast<double>(distribution.runs_kept());
  state.SetItemsProcessed(state.iterations() * kSteps);
}
BENCHMARK(statistics_of_values)->Arg(1)->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace inferometer
