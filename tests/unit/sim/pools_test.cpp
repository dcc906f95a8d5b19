// What is expected here is worked out by hand from the tables in two_pools.hpp.

#include <limits>

#include "costmodel/model_spec.hpp"
#include "sim/metrics/resource_summary.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/sim/two_pools.hpp"

namespace inferometer {
namespace {

using test::at_ms;
using test::replay_two_pools;
using test::two_pool_recorder;
using test::two_pool_settings;

Summary summary_of_two_pools(const SummarySettings& settings = two_pool_settings()) {
  MetricsRecorder recorder = two_pool_recorder(WorkTotals(load_model("llama-3-8b"), 1));
  replay_two_pools(recorder);
  return summarize(recorder, settings);
}

TEST_CASE("requests count for the whole run") {
  const Summary summary = summary_of_two_pools();
  CHECK(summary.duration_seconds == 0.07);
  CHECK(summary.completed == 3);
  CHECK(summary.total_input_tokens == 360);
  CHECK(summary.total_output_tokens == 6);
  CHECK(summary.max_output_tokens_per_second == 6);
  CHECK(summary.recomputed_tokens == 0);
  // In the system for 70, 70 and 25, of which in steps 20 + 40, 40 + 20 and 15.
  CHECK(summary.waiting.mean_total == Approx(30.0 / 70));
  CHECK(summary.waiting.peak == 1);
  CHECK(summary.ttft->mean_ms == Approx((20 + 40 + 25) / 3.0));
}

TEST_CASE("handover times are those of requests that were handed over") {
  const Summary summary = summary_of_two_pools();
  REQUIRE(summary.cluster);
  REQUIRE(summary.cluster->transfers.handover);
  CHECK(summary.cluster->transfers.handover->count == 2);
  CHECK(summary.cluster->transfers.handover->mean_ms == 8);
  CHECK(summary.cluster->transfers.handover->p90_ms == Approx(9.6));  // 6 + 0.9 * 4
  CHECK(summary.cluster->transfers.count == 2);
  CHECK(summary.cluster->routed == std::vector<std::int64_t>{2, 1, 2});

  SummarySettings mlperf = two_pool_settings();
  mlperf.definitions = MetricDefinitions::mlperf;
  CHECK(summary_of_two_pools(mlperf).cluster->transfers.handover->p50_ms == 10);  // index 1 of 6, 10
}

TEST_CASE("requests that were taken and given up have failed, for reasons of their own") {
  MetricsRecorder recorder = two_pool_recorder();
  replay_two_pools(recorder);
  for (std::int64_t id = 3; id < 6; ++id) {
    test::arrive(recorder, id, at_ms(40), 10, 1);
  }
  recorder.on_rejected({3, at_ms(40), at_ms(50), 10, "its replica failed", true});
  recorder.on_rejected({4, at_ms(40), at_ms(60), 10, "its replica failed", true});
  recorder.on_rejected({5, at_ms(40), at_ms(40), 10, "no room"});
  const Summary summary = summarize(recorder, two_pool_settings());
  CHECK(summary.failed == 3);
  REQUIRE(summary.rejections.size() == 1);
  CHECK(summary.rejections[0].reason == "no room");
  REQUIRE(summary.cluster->lost.size() == 1);
  CHECK(summary.cluster->lost[0].reason == "its replica failed");
  CHECK(summary.cluster->lost[0].requests == 2);
  CHECK(summary.waiting.mean_total == Approx((30.0 + 10 + 20) / 70));
}

TEST_CASE("each pool has its own time split") {
  const Summary summary = summary_of_two_pools();
  REQUIRE(summary.pools.size() == 2);
  const TimeSplit& prefill = summary.pools[0].time_split;  // of 2 replicas * 70
  CHECK(prefill.compute == Approx(45.0 / 140));
  CHECK(prefill.bandwidth == Approx(15.0 / 140));
  CHECK(prefill.communication == Approx(4.0 / 140));
  CHECK(prefill.latency == Approx(5.0 / 140));
  CHECK(prefill.host == Approx(6.0 / 140));
  CHECK(prefill.bubble == 0);
  CHECK(prefill.idle == Approx(65.0 / 140));
  const TimeSplit& decode = summary.pools[1].time_split;  // of 2 micro-batches * 70
  CHECK(decode.compute == 0);
  CHECK(decode.bandwidth == Approx(28.0 / 140));
  CHECK(decode.communication == Approx(6.0 / 140));
  CHECK(decode.latency == Approx(3.0 / 140));
  CHECK(decode.host == Approx(6.0 / 140));
  CHECK(decode.bubble == Approx(17.0 / 140));
  CHECK(decode.idle == Approx(80.0 / 140));
}

TEST_CASE("the whole is what its pools add up to") {
  const Summary summary = summary_of_two_pools();
  const PoolSummary& prefill = summary.pools[0];
  const PoolSummary& decode = summary.pools[1];
  // Both pools have as many micro-batches, so that the shares of the whole are means.
  for (const auto part : {&TimeSplit::compute, &TimeSplit::bandwidth, &TimeSplit::communication,
                          &TimeSplit::latency, &TimeSplit::host, &TimeSplit::bubble, &TimeSplit::idle}) {
    CHECK(summary.time_split.*part == Approx((prefill.time_split.*part + decode.time_split.*part) / 2));
  }
  for (std::size_t i = 0; i < kStepPhases; ++i) {
    CHECK(summary.phases[i].steps == prefill.phases[i].steps + decode.phases[i].steps);
    CHECK(summary.phases[i].seconds == Approx(prefill.phases[i].seconds + decode.phases[i].seconds));
  }
  CHECK(summary.all_phases.steps == 6);
  CHECK(summary.all_phases.seconds == Approx(0.135));
  CHECK(summary.all_phases.prefill_tokens == 360);
  CHECK(summary.all_phases.decode_tokens == 3);
  CHECK(summary.kv_blocks == 156);
  CHECK(summary.money->dollars == Approx(prefill.money->dollars + decode.money->dollars));
  CHECK(*summary.money->dollars_per_million_tokens ==
        Approx(*prefill.money->dollars_per_million_tokens + *decode.money->dollars_per_million_tokens));
  CHECK(summary.energy->joules == Approx(prefill.energy->joules + decode.energy->joules));
  CHECK(summary.energy->mean_watts == Approx(prefill.energy->mean_watts + decode.energy->mean_watts));
  CHECK(*summary.energy->joules_per_request ==
        Approx(*prefill.energy->joules_per_request + *decode.energy->joules_per_request));
}

TEST_CASE("a level is averaged over one replica while busy and added up over all in total") {
  const Summary summary = summary_of_two_pools();
  const PoolSummary& prefill = summary.pools[0];
  CHECK(prefill.kv_occupancy_blocks.mean_busy == Approx(720.0 / 75));  // 7 * 20 + 13 * 40 + 4 * 15
  CHECK(prefill.kv_occupancy_blocks.mean_total == Approx(720.0 / 70));
  CHECK(prefill.kv_occupancy_blocks.peak == 13);  // of replica 1, though 20 are held while both run
  CHECK(prefill.kv_share(12) == 0.25);            // 96 blocks on two replicas
  CHECK(prefill.running.mean_busy == 1);
  CHECK(prefill.running.mean_total == Approx(75.0 / 70));
  CHECK(prefill.batch_size.peak == 0);
  CHECK(prefill.max_waiting == 1);
  const PoolSummary& decode = summary.pools[1];
  // Either micro-batch sees what the replica holds: 8 * 20 + 21 * 20 and 21 * 20.
  CHECK(decode.kv_occupancy_blocks.mean_busy == Approx(1000.0 / 60));
  CHECK(decode.kv_occupancy_blocks.mean_total == Approx(1000.0 / 2 / 70));
  CHECK(decode.kv_occupancy_blocks.peak == 21);
  CHECK(decode.kv_share(15) == 0.25);  // 60 blocks, one replica
  CHECK(decode.batch_size.mean_busy == 1);
  CHECK(decode.batch_size.peak == 1);
  CHECK(decode.max_waiting == 0);
  CHECK(summary.running.mean_total == Approx(135.0 / 70));
  CHECK(decode.running.mean_total == Approx(60.0 / 70));
  CHECK(summary.kv_occupancy_blocks.peak == 21);
  CHECK(summary.kv_occupancy_blocks.mean_busy == Approx(1720.0 / 135));
  CHECK(summary.kv_occupancy_blocks.mean_total == Approx((720.0 + 500) / 70));
  CHECK(summary.replicas == 3);
}

TEST_CASE("replicas cost their price for as long as they are there") {
  SummarySettings settings = two_pool_settings();
  const Summary all_along = summary_of_two_pools(settings);
  CHECK(all_along.pools[0].money->dollars_per_hour == 14.4);
  CHECK(all_along.pools[0].money->dollars == Approx(7.2 * 0.14 / 3600));
  CHECK(all_along.pools[1].money->dollars == Approx(3.6 * 0.07 / 3600));
  CHECK(all_along.money->dollars_per_hour == 18);
  CHECK(*all_along.money->dollars_per_million_output_tokens == Approx(0.00035 / 6 * 1e6));
  CHECK(*all_along.money->dollars_per_thousand_requests == Approx(0.00035 / 3 * 1e3));

  settings.pools[0].paid_seconds = 0.105;  // the second replica came when half was over
  const Summary came = summary_of_two_pools(settings);
  CHECK(came.pools[0].money->dollars == Approx(7.2 * 0.105 / 3600));
  CHECK(came.pools[0].money->dollars_per_hour == Approx(10.8));  // one and a half replicas on average
  CHECK(came.money->dollars_per_hour == Approx(14.4));
  CHECK(came.pools[0].time_split.compute == Approx(45.0 / 105));
  CHECK(came.pools[0].time_split.idle == Approx(30.0 / 105));
  CHECK(came.time_split.idle == Approx((30.0 + 80) / 245));
  CHECK(came.time_split.bubble == Approx(17.0 / 245));

  settings.pools[1].price.reset();
  const Summary unknown = summary_of_two_pools(settings);
  CHECK(unknown.pools[0].money);
  CHECK_FALSE(unknown.pools[1].money);
  CHECK_FALSE(unknown.money);
}

// Shares of power stand in costmodel/energy.hpp: in a step 0.285, 0.96 of the peak FLOP/s and 0.73 of the
// peak bandwidth more, and 0.17 between steps. Prefills take 75 ms on two replicas, which are there for 70
// each.
TEST_CASE("energy of a pool is that of its GPUs for as long as they are there") {
  SummarySettings settings = two_pool_settings();
  const Summary summary = summary_of_two_pools(settings);
  const auto in_steps = [](const PhaseSummary& phase) {
    return 0.285 + 0.96 * *phase.mfu + 0.73 * *phase.mbu;
  };
  const double prefill_ms = in_steps(summary.pools[0].all_phases) * 37.5 + 0.17 * 32.5;  // of a GPU
  CHECK(summary.pools[0].energy->joules == Approx(100 * 4 * prefill_ms / 1e3));
  // Two micro-batches decode for 60 ms in all: half a GPU's work each, on four GPUs.
  const double decode_ms = in_steps(summary.pools[1].all_phases) * 30 + 0.17 * 40;
  CHECK(summary.pools[1].energy->joules == Approx(50 * 4 * decode_ms / 1e3));
  CHECK(*summary.energy->joules_per_output_token == Approx((400 * prefill_ms + 200 * decode_ms) / 6e3));
  CHECK(*summary.energy->joules_per_request == Approx((400 * prefill_ms + 200 * decode_ms) / 3e3));

  settings.pools[0].paid_seconds = 0.105;  // 35 ms less between steps, of two replicas together
  CHECK(summary_of_two_pools(settings).pools[0].energy->joules ==
        Approx(100 * 4 * (prefill_ms - 0.17 * 17.5) / 1e3));
  settings.pools[1].tdp = {};
  CHECK_FALSE(summary_of_two_pools(settings).energy);
  settings.pools[1].tdp = Watts(50);
  settings.pools[1].peak_bandwidth = {};
  CHECK_FALSE(summary_of_two_pools(settings).energy);
}

TEST_CASE("utilisation of all pools is told where their GPUs have the same peak") {
  const ModelSpec model = load_model("llama-3-8b");
  MetricsRecorder recorder = two_pool_recorder(WorkTotals(model, 1));
  replay_two_pools(recorder);
  SummarySettings settings = two_pool_settings();
  const Summary different = summarize(recorder, settings);
  CHECK_FALSE(different.all_phases.mfu);
  CHECK_FALSE(different.phases[1].mbu);

  WorkTotals prefills(model, 1), decodes(model, 1);
  for (const std::int64_t tokens : {100, 60, 200}) {
    const std::array<ChunkShape, 1> chunk = {{{tokens, 0}}};
    prefills.add({0, 0, 1, chunk});
  }
  for (const std::int64_t context : {101, 102, 201}) {
    decodes.add({1, context, 1, {}});
  }
  const auto flops = [](const WorkTotals& work) { return work.flops().count(); };
  CHECK(*different.pools[0].all_phases.mfu == Approx(flops(prefills) / (0.075 * 1e15)));
  CHECK(*different.pools[1].all_phases.mfu == Approx(flops(decodes) / (0.060 * 4e14)));
  CHECK(*different.pools[1].phases[1].mbu ==
        Approx(static_cast<double>(decodes.hbm_bytes().count()) / (0.060 * 2e12)));

  settings.pools[1].peak_flops = settings.pools[0].peak_flops;
  const Summary same = summarize(recorder, settings);
  CHECK_FALSE(same.all_phases.mbu);
  CHECK(*same.all_phases.mfu == Approx((flops(prefills) + flops(decodes)) / (0.135 * 1e15)));
}

TEST_CASE("replicas that are not numbered through find their pools") {
  MetricsRecorder recorder({{.name = "a", .replicas = 1}, {.name = "b", .replicas = 2}}, {1, 0, 1});
  for (std::int32_t replica = 0; replica < 3; ++replica) {
    test::prefill_step(recorder, replica, 0, test::cost_ms(1 << replica, 0, 0, 0, 0, 0), 5, 1, 0);
  }
  CHECK(recorder.replicas() == 3);
  CHECK((recorder.totals().pools[0].cost().total() == milliseconds(2).count()));
  CHECK((recorder.totals().pools[1].cost().total() == milliseconds(5).count()));
}

TEST_CASE("the last event is the latest whatever is told last") {
  MetricsRecorder recorder = two_pool_recorder();
  test::prefill_step(recorder, 0, 0, test::cost_ms(30, 0, 0, 0, 0, 0), 5, 1, 0);
  test::prefill_step(recorder, 1, 0, test::cost_ms(20, 0, 0, 0, 0, 0), 5, 1, 0);
  CHECK((recorder.totals().last_event == at_ms(30)));
}

// Three replicas for 100 days each: their sum is beyond 2^63 picoseconds, which are 106 days.
TEST_CASE("steps of many replicas may take longer than simulated time lasts") {
  constexpr std::int64_t kDay = 86'400;
  MetricsRecorder recorder(
      {{.name = "mixed", .replicas = 3, .work = WorkTotals(load_model("llama-3-8b"), 1)}});
  for (std::int32_t replica = 0; replica < 3; ++replica) {
    const StepCost day{.bandwidth = seconds(kDay) - picoseconds(7), .host = picoseconds(7)};
    const Stretch stretch(TimePoint(), StepLine{day, {}, 100}, 100);
    const StepShape shape{1, 1, 1, {}};
    StepRecord record{replica, 0, stretch, shape};
    record.running = 2;
    recorder.on_steps(record);
  }
  test::arrive(recorder, 0, at_ms(0), 1, 1);
  recorder.on_finished({0, -1, at_ms(0), at_ms(0), at_ms(1), TimePoint(seconds(100 * kDay)), 1, 1, 0});
  CostSum expected;
  expected.host = 300 * 7;
  expected.bandwidth = Int128{300} * seconds(kDay).count() - expected.host;
  CHECK((recorder.totals().cost() == expected));
  SummarySettings settings;
  settings.pools[0].tdp = Watts(10);
  settings.pools[0].peak_flops = FlopsPerSecond(1e15);
  settings.pools[0].peak_bandwidth = BytesPerSecond(3e12);
  settings.pools[0].price = DollarsPerHour(2);
  const Summary summary = summarize(recorder, settings);
  CHECK(summary.time_split.bandwidth == Approx(1));
  CHECK(summary.time_split.idle == 0);
  CHECK(summary.all_phases.seconds == Approx(300.0 * kDay));
  CHECK(summary.running.mean_busy == Approx(2));
  CHECK(summary.money->dollars == Approx(300 * 24 * 2));
  // A step a day keeps neither units nor memory busy: waiting takes 0.285 (costmodel/energy.hpp).
  CHECK(summary.energy->joules == Approx(0.285 * 10 * 300 * kDay));
}

TEST_CASE("bytes of many replicas do not stop where those of one do") {
  const StepShape shape{1, 1, 1, {}};
  WorkTotals step(load_model("llama-3-8b"), 1);
  step.add(shape);
  CHECK(step.hbm_bytes_unbounded() == static_cast<double>(step.hbm_bytes().count()));
  constexpr std::int64_t kSteps = 1'000'000'000;  // of some 15 GB each
  WorkTotals all(load_model("llama-3-8b"), 1);
  all.add(shape, kSteps, {});
  CHECK(all.hbm_bytes().count() == std::numeric_limits<std::int64_t>::max());
  CHECK(all.hbm_bytes_unbounded() == Approx(1e9 * step.hbm_bytes_unbounded()));
}

}  // namespace
}  // namespace inferometer
