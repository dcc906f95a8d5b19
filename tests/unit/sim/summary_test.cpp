#include "sim/metrics/summary.hpp"

#include <array>
#include <cmath>

#include "costmodel/model_spec.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/sim/four_requests.hpp"

namespace inferometer {
namespace {

using test::arrive;
using test::at_ms;
using test::replay_four_requests;

Summary summary_of_four(const SummarySettings& settings = {}, const RecorderOptions& options = {}) {
  MetricsRecorder recorder(1, std::nullopt, options);
  replay_four_requests(recorder);
  return summarize(recorder, settings);
}

TEST_CASE("throughput counts what completed over first arrival to last finish") {
  const Summary summary = summary_of_four();
  CHECK(summary.duration_seconds == 0.1);
  CHECK(summary.completed == 4);
  CHECK(summary.failed == 0);
  CHECK(summary.total_input_tokens == 360);
  CHECK(summary.total_output_tokens == 7);
  CHECK(summary.request_throughput == Approx(40));
  CHECK(summary.output_throughput == Approx(70));
  CHECK(summary.total_token_throughput == Approx(3670));
  CHECK(summary.max_output_tokens_per_second == 7);
  CHECK(summary.max_concurrent_requests == 3);
  CHECK(summary.preemptions == 0);
  CHECK(summary.recomputed_tokens == 0);
  CHECK_FALSE(summary.request_goodput);
  CHECK_FALSE(summary.money);
}

TEST_CASE("latencies by vLLM's definitions") {
  const Summary summary = summary_of_four();
  // TTFT 30, 40, 30, 20.
  REQUIRE(summary.ttft);
  CHECK(summary.ttft->mean_ms == 30);
  CHECK(summary.ttft->std_ms == Approx(std::sqrt(50.0)));
  CHECK(summary.ttft->median_ms == 30);
  CHECK(summary.ttft->p90_ms == 37);
  CHECK(summary.ttft->p95_ms == 38.5);
  CHECK(summary.ttft->p99_ms == 39.7);
  CHECK(summary.ttft->min_ms == 20);
  CHECK(summary.ttft->max_ms == 40);
  // TPOT (60 - 30) / 2 and (60 - 50) / 1; requests 1 and 3 have one token only.
  REQUIRE(summary.tpot);
  CHECK(summary.tpot->count == 2);
  CHECK(summary.tpot->mean_ms == 12.5);
  CHECK(summary.tpot->std_ms == 2.5);
  CHECK(summary.tpot->p99_ms == 14.95);
  // ITL 20, 10, 10.
  REQUIRE(summary.itl);
  CHECK(summary.itl->count == 3);
  CHECK(summary.itl->mean_ms == Approx(40.0 / 3));
  CHECK(summary.itl->median_ms == 10);
  CHECK(summary.itl->p90_ms == 18);
  CHECK(summary.itl->max_ms == 20);
  // E2E 60, 40, 40, 20; queue delay 0, 20, 10, 0.
  REQUIRE(summary.e2el);
  CHECK(summary.e2el->mean_ms == 40);
  CHECK(summary.e2el->p90_ms == 54);
  REQUIRE(summary.queue_delay);
  CHECK(summary.queue_delay->mean_ms == 7.5);
  CHECK(summary.queue_delay->p50_ms == 5);
  CHECK_FALSE(summary.icl);
}

TEST_CASE("AIPerf calls TPOT the inter-token latency") {
  SummarySettings settings;
  settings.definitions = MetricDefinitions::aiperf;
  const Summary summary = summary_of_four(settings);
  CHECK(summary.itl->count == 2);
  CHECK(summary.itl->mean_ms == 12.5);
  CHECK(summary.icl->count == 3);
  CHECK(summary.icl->mean_ms == Approx(40.0 / 3));
}

TEST_CASE("MLPerf does not interpolate") {
  SummarySettings settings;
  settings.definitions = MetricDefinitions::mlperf;
  const Summary summary = summary_of_four(settings);
  CHECK(summary.ttft->p90_ms == 40);  // index floor(3.6) = 3 of 20, 30, 30, 40
  CHECK(summary.tpot->p50_ms == 15);  // index 1 of 10, 15
  CHECK(summary.tpot->median_ms == 12.5);
  CHECK(summary.itl->p50_ms == 10);  // index 1 of 10, 10, 20
}

TEST_CASE("the time split covers the whole duration") {
  const TimeSplit split = summary_of_four().time_split;
  CHECK(split.compute == 0.42);
  CHECK(split.bandwidth == 0.21);
  CHECK(split.communication == 0.02);
  CHECK(split.latency == 0.06);
  CHECK(split.host == 0.09);
  CHECK(split.idle == 0.2);
}

TEST_CASE("phases are told apart by what their steps ran") {
  const Summary summary = summary_of_four();
  const auto& phases = summary.phases;
  CHECK(phases[0].steps == 2);
  CHECK(phases[0].seconds == 0.05);
  CHECK(phases[0].prefill_tokens == 110);
  CHECK(phases[0].decode_tokens == 0);
  CHECK(phases[1].steps == 1);
  CHECK(phases[1].seconds == 0.01);
  CHECK(phases[1].decode_tokens == 2);
  CHECK(phases[2].steps == 1);
  CHECK(phases[2].seconds == 0.02);
  CHECK(phases[2].prefill_tokens == 250);
  CHECK(phases[2].decode_tokens == 1);
  CHECK(summary.all_phases.steps == 4);
  CHECK(summary.all_phases.seconds == 0.08);
  CHECK(summary.all_phases.prefill_tokens == 360);
  CHECK_FALSE(summary.all_phases.mfu);
}

TEST_CASE("levels are weighted by time") {
  const Summary summary = summary_of_four();
  // 7 * 30 + 24 * 20 + 12 * 10 + 1 * 20 = 830 blocks times milliseconds, over 80 busy and 100 in all.
  CHECK(summary.kv_occupancy_blocks.mean_busy == 10.375);
  CHECK(summary.kv_occupancy_blocks.mean_total == 8.3);
  CHECK(summary.kv_occupancy_blocks.peak == 24);
  CHECK(summary.batch_size.mean_busy == 0.5);  // 1 * 20 + 2 * 10
  CHECK(summary.batch_size.peak == 2);
  CHECK(summary.running.mean_busy == 1.625);  // 1 * 30 + 3 * 20 + 2 * 10 + 1 * 20
  CHECK(summary.waiting.mean_total == 0.3);   // 20 + 10: requests 1 and 2, from arrival to admission
  CHECK(summary.waiting.peak == 2);
}

TEST_CASE("goodput counts requests that meet every limit, TPOT only where there is one") {
  const auto with = [](const RequestLimits& limits) {
    RecorderOptions options;
    options.limits = limits;
    return summary_of_four({}, options);
  };
  // Request 0 misses TPOT, 1 misses TTFT, 2 and 3 meet both.
  const RequestLimits limits = {milliseconds(30), milliseconds(12), std::nullopt};
  CHECK(with(limits).request_goodput == Approx(20));
  CHECK(with(limits).goodput_share == 0.5);

  CHECK(with({std::nullopt, milliseconds(15), std::nullopt}).goodput_share == 1);
  CHECK(with({std::nullopt, milliseconds(15) - picoseconds(1), std::nullopt}).goodput_share == 0.75);
  CHECK(with({std::nullopt, std::nullopt, milliseconds(40)}).goodput_share == 0.75);
}

TEST_CASE("money per token is the deployment's price over what it made") {
  SummarySettings settings;
  settings.pools[0].price = DollarsPerHour(3.6);
  const Summary summary = summary_of_four(settings);
  REQUIRE(summary.money);
  CHECK(summary.money->dollars == Approx(0.0001));  // 0.001 dollars a second for 0.1 s
  CHECK(*summary.money->dollars_per_million_output_tokens == Approx(100.0 / 7));
  CHECK(*summary.money->dollars_per_million_tokens == Approx(100.0 / 367));
  CHECK(*summary.money->dollars_per_thousand_requests == Approx(0.1 / 4));
}

// Two GPUs for 100 ms: 50 in prefills, 20 in a mixed step, 10 in a decode step. Shares of power stand in
// costmodel/energy.hpp. At 100 GB/s and more in a step than that, no GPU draws more than its limit.
TEST_CASE("energy follows what units and memory do in each kind of step") {
  MetricsRecorder recorder(1, WorkTotals(load_model("llama-3-8b"), 1));
  replay_four_requests(recorder);
  SummarySettings settings;
  settings.pools[0].tdp = Watts(100);
  settings.pools[0].gpus = 2;
  settings.pools[0].peak_flops = FlopsPerSecond(1e15);
  settings.pools[0].peak_bandwidth = BytesPerSecond(6e12);
  const Summary summary = summarize(recorder, settings);
  REQUIRE(summary.energy);
  double joules = 100 * 0.17 * 0.020;
  for (const PhaseSummary& phase : summary.phases) {
    joules += 100 * (0.285 + 0.96 * *phase.mfu + 0.73 * *phase.mbu) * phase.seconds;
  }
  CHECK(summary.energy->joules == Approx(2 * joules));
  CHECK(summary.energy->mean_watts == Approx(2 * joules / 0.1));
  CHECK(*summary.energy->joules_per_output_token == Approx(2 * joules / 7));
  CHECK(*summary.energy->joules_per_request == Approx(2 * joules / 4));

  settings.pools[0].peak_bandwidth = BytesPerSecond(1e11);
  CHECK(summarize(recorder, settings).energy->joules == Approx(2 * 100 * (0.080 + 0.17 * 0.020)));
  settings.pools[0].peak_flops = {};
  CHECK_FALSE(summarize(recorder, settings).energy);
}

TEST_CASE("utilisation is the phase's work over the peak of its time") {
  const ModelSpec model = load_model("llama-3-8b");
  MetricsRecorder recorder(1, WorkTotals(model, 1));
  replay_four_requests(recorder);
  SummarySettings settings;
  settings.pools[0].peak_flops = FlopsPerSecond(1e15);
  settings.pools[0].peak_bandwidth = BytesPerSecond(3e12);
  const Summary summary = summarize(recorder, settings);

  WorkTotals decode(model, 1);
  decode.add({2, 153, 2, {}});
  const double flops = decode.flops().count();
  const auto bytes = static_cast<double>(decode.hbm_bytes().count());
  const PhaseSummary& phase = summary.phases[static_cast<std::size_t>(StepPhase::decode)];
  CHECK(*phase.mfu == Approx(flops / (0.01 * 1e15)));
  CHECK(*phase.mbu == Approx(bytes / (0.01 * 3e12)));
  // All weights but the embedding table's other rows pass once: 7.5 billion parameters of 2 bytes at least.
  CHECK(bytes > 15e9);
  CHECK(*summary.all_phases.mfu > 0);
  settings.pools[0].peak_flops = {};
  CHECK_FALSE(summarize(recorder, settings).all_phases.mfu);
}

TEST_CASE("rejected requests fail, by reason, and leave the system") {
  RecorderOptions options;
  options.limits.ttft = milliseconds(1);
  MetricsRecorder recorder(1, std::nullopt, options);
  arrive(recorder, 0, at_ms(0), 5000, 10);
  recorder.on_rejected({0, at_ms(0), at_ms(0), 5000, "too long"});
  arrive(recorder, 1, at_ms(1), 6000, 10);
  recorder.on_rejected({1, at_ms(1), at_ms(1), 6000, "too long"});
  arrive(recorder, 2, at_ms(2), 10, 1);
  recorder.on_rejected({2, at_ms(2), at_ms(4), 10, "no room"});
  const Summary summary = summarize(recorder, {});
  CHECK(summary.failed == 3);
  CHECK(summary.completed == 0);
  CHECK(summary.max_concurrent_requests == 1);
  CHECK(summary.duration_seconds == 0);
  CHECK(summary.request_throughput == 0);
  CHECK(summary.goodput_share == 0);
  CHECK_FALSE(summary.ttft);
  REQUIRE(summary.rejections.size() == 2);
  CHECK(summary.rejections[0].reason == "too long");
  CHECK(summary.rejections[0].requests == 2);
  CHECK(summary.rejections[1].requests == 1);
}

TEST_CASE("tokens prefilled beyond the prompts were computed again") {
  MetricsRecorder recorder;
  const StepCost cost{milliseconds(10)};
  const std::array<ChunkShape, 1> chunk = {{{100, 0}}};
  const StepShape shape{0, 0, 1, chunk};
  arrive(recorder, 0, at_ms(0), 100, 1);
  for (int i = 0; i < 2; ++i) {
    const Stretch stretch(at_ms(10 * i), cost);
    StepRecord step{0, 0, stretch, shape};
    step.prefill_tokens = 100 + 3 * i;
    step.preempted = i;
    recorder.on_steps(step);
  }
  SummarySettings interrupted;
  interrupted.partial = true;
  const Summary so_far = summarize(recorder, interrupted);
  CHECK_FALSE(so_far.recomputed_tokens);
  CHECK(so_far.duration_seconds == 0.02);
  recorder.on_finished({0, -1, at_ms(0), at_ms(0), at_ms(20), at_ms(20), 100, 1, 1});
  const Summary summary = summarize(recorder, {});
  CHECK(summary.preemptions == 1);
  CHECK(summary.recomputed_tokens == 103);
}

TEST_CASE("the busiest second is counted from second to second of simulated time") {
  MetricsRecorder recorder;
  const StepCost cost{milliseconds(1)};
  const StepShape shape{1, 1, 1, {}};
  const auto emit = [&](std::int64_t end_ms, std::int64_t tokens) {
    const Stretch stretch(at_ms(end_ms - 1), cost);
    StepRecord step{0, 0, stretch, shape};
    step.decodes = 1;
    step.emitted = tokens;
    recorder.on_steps(step);
  };
  emit(1, 5);
  emit(999, 6);
  emit(1000, 9);  // a new second
  emit(1999, 1);
  emit(7500, 10);
  CHECK(recorder.max_emitted_per_second() == 11);
}

TEST_CASE("TPOT is rounded to the nearest picosecond") {
  RequestRecord request;
  request.output = 4;
  request.finished = TimePoint(picoseconds(10));
  CHECK(request.time_per_output_token() == picoseconds(3));
  request.finished = TimePoint(picoseconds(11));
  CHECK(request.time_per_output_token() == picoseconds(4));
}

}  // namespace
}  // namespace inferometer
