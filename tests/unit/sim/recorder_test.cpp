#include "sim/metrics/recorder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "costmodel/model_spec.hpp"
#include "sim/metrics/summary.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/sim/four_requests.hpp"

namespace inferometer {
namespace {

using test::at_ms;

RecorderOptions options_of(Percentiles percentiles, bool keep_records) {
  RecorderOptions options;
  options.percentiles = percentiles;
  options.keep_records = keep_records;
  options.limits = {milliseconds(900), milliseconds(12), milliseconds(5000)};
  return options;
}

MetricsRecorder recorder_of(Percentiles percentiles, bool keep_records) {
  return MetricsRecorder(1, std::nullopt, options_of(percentiles, keep_records));
}

/// Requests of up to 64 tokens, some of one token only; some start at once.
void finish_random_requests(SimulationObserver& observer, std::int64_t count) {
  RandomStream random(11, "requests");
  const auto up_to = [&](std::int64_t most) {
    return Duration(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most))));
  };
  TimePoint arrival;
  for (std::int64_t id = 0; id < count; ++id) {
    arrival = arrival + up_to(2'000'000'000);
    FinishedRequest request;
    request.id = id;
    request.arrival = arrival;
    request.admitted = arrival + (random.below(3) == 0 ? Duration() : up_to(500'000'000'000));
    request.first_token = request.admitted + up_to(1'000'000'000'000);
    request.prompt = 1 + static_cast<std::int64_t>(random.below(4000));
    request.output = 1 + static_cast<std::int64_t>(random.below(64));
    request.finished = request.first_token + up_to(20'000'000'000) * (request.output - 1);
    request.max_new = request.output + 5;
    observer.on_finished(request);
  }
}

/// Of values written out, straight from the definitions.
DurationStatistics naive_statistics(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<std::int64_t>(values.size());
  const auto percentile = [&](std::int64_t percent) {
    const std::int64_t hundredths = percent * (n - 1);
    const std::int64_t low = values[static_cast<std::size_t>(hundredths / 100)];
    const std::int64_t high = values[static_cast<std::size_t>(std::min(hundredths / 100 + 1, n - 1))];
    const long double place = static_cast<long double>(hundredths % 100) / 100;
    return static_cast<double>(
        (static_cast<long double>(low) + static_cast<long double>(high - low) * place) / 1e9L);
  };
  long double sum = 0;
  for (const std::int64_t value : values) {
    sum += static_cast<long double>(value);
  }
  const long double mean = sum / static_cast<long double>(n);
  long double squares = 0;
  for (const std::int64_t value : values) {
    squares += (static_cast<long double>(value) - mean) * (static_cast<long double>(value) - mean);
  }
  DurationStatistics result;
  result.count = n;
  result.mean_ms = static_cast<double>(mean / 1e9L);
  result.std_ms = static_cast<double>(std::sqrt(squares / static_cast<long double>(n)) / 1e9L);
  result.min_ms = static_cast<double>(values.front()) / 1e9;
  result.max_ms = static_cast<double>(values.back()) / 1e9;
  result.median_ms = result.p50_ms = percentile(50);
  result.p90_ms = percentile(90);
  result.p95_ms = percentile(95);
  result.p99_ms = percentile(99);
  return result;
}

void check_near(const std::optional<DurationStatistics>& given, const DurationStatistics& expected) {
  REQUIRE(given);
  CHECK(given->count == expected.count);
  for (const auto value :
       {&DurationStatistics::mean_ms, &DurationStatistics::std_ms, &DurationStatistics::min_ms,
        &DurationStatistics::max_ms, &DurationStatistics::median_ms, &DurationStatistics::p50_ms,
        &DurationStatistics::p90_ms, &DurationStatistics::p95_ms, &DurationStatistics::p99_ms}) {
    CHECK((*given).*value == Approx(expected.*value).epsilon(1e-13));
  }
}

TEST_CASE("exact statistics are those of the records") {
  MetricsRecorder recorder = recorder_of(Percentiles::exact, true);
  finish_random_requests(recorder, 5000);
  const Summary summary = summarize(recorder, {});
  std::vector<std::int64_t> ttft, tpot, e2el, queue_delay;
  std::int64_t prompts = 0, outputs = 0, good = 0;
  TimePoint last;
  for (const RequestRecord& request : recorder.finished()) {
    ttft.push_back((request.first_token - request.arrival).count());
    e2el.push_back((request.finished - request.arrival).count());
    queue_delay.push_back((request.admitted - request.arrival).count());
    const std::int64_t generation = (request.finished - request.first_token).count();
    if (request.output > 1) {
      tpot.push_back(std::llround(static_cast<long double>(generation) / (request.output - 1)));
    }
    prompts += request.prompt;
    outputs += request.output;
    good += ttft.back() <= 900'000'000'000 && e2el.back() <= 5'000'000'000'000 &&
                    generation <= 12'000'000'000 * (request.output - 1)
                ? 1
                : 0;
    last = std::max(last, request.finished);
  }
  check_near(summary.ttft, naive_statistics(ttft));
  check_near(summary.tpot, naive_statistics(tpot));
  check_near(summary.e2el, naive_statistics(e2el));
  check_near(summary.queue_delay, naive_statistics(queue_delay));
  CHECK(summary.completed == 5000);
  CHECK(summary.total_input_tokens == prompts);
  CHECK(summary.total_output_tokens == outputs);
  CHECK(summary.goodput_share == static_cast<double>(good) / 5000);
  CHECK(good > 500);
  CHECK(good < 4500);
  CHECK(summary.duration_seconds == to_seconds(last.since_start()));
}

TEST_CASE("records change no result and cost nothing when nobody wants them") {
  const Summary with = [] {
    MetricsRecorder recorder = recorder_of(Percentiles::exact, true);
    finish_random_requests(recorder, 1000);
    return summarize(recorder, {});
  }();
  MetricsRecorder recorder = recorder_of(Percentiles::exact, false);
  finish_random_requests(recorder, 1000);
  recorder.on_rejected({1000, at_ms(1), at_ms(1), 5, "too long"});
  const Summary without = summarize(recorder, {});
  CHECK(without.ttft->p99_ms == with.ttft->p99_ms);
  CHECK(without.e2el->std_ms == with.e2el->std_ms);
  CHECK(without.request_goodput == with.request_goodput);
  CHECK(without.failed == 1);
  CHECK_THROWS_AS(recorder.finished(), std::logic_error);
  CHECK_THROWS_AS(recorder.rejected(), std::logic_error);
}

TEST_CASE("exact percentiles take 8 bytes a request and metric, a sketch takes none") {
  constexpr std::int64_t kRequests = 100'000;
  const auto kept = [](const MetricsRecorder& recorder) {
    const RequestLatencies& latencies = recorder.latencies();
    std::size_t bytes = 0;
    for (const DurationDistribution* values :
         {&latencies.ttft, &latencies.tpot, &latencies.e2el, &latencies.queue_delay, &recorder.gaps()}) {
      bytes += values->singles().chunks() * DurationDistribution::Singles::kChunkBytes;
      bytes += values->runs().chunks() * DurationDistribution::Runs::kChunkBytes;
      bytes += values->repetitions().chunks() * DurationDistribution::Repetitions::kChunkBytes;
    }
    return bytes;
  };
  MetricsRecorder exact = recorder_of(Percentiles::exact, false);
  finish_random_requests(exact, kRequests);
  CHECK(kept(exact) <= 4 * (8 * kRequests + DurationDistribution::Singles::kChunkBytes));
  MetricsRecorder sketch = recorder_of(Percentiles::sketch, false);
  finish_random_requests(sketch, kRequests);
  CHECK(kept(sketch) == 0);
  CHECK(sketch.totals().finished.lengths.kept().size() < FinishTotals::kMostLengths);
  CHECK(summarize(sketch, {}).ttft->p99_ms ==
        Approx(summarize(exact, {}).ttft->p99_ms).epsilon(DurationDistribution::kSketchError));
}

TEST_CASE("the lengths kept are every n-th, in order of finishing") {
  MetricsRecorder recorder = recorder_of(Percentiles::sketch, true);
  finish_random_requests(recorder, 100'000);
  const ThinnedSamples<RequestLengths>& lengths = recorder.totals().finished.lengths;
  CHECK(lengths.stride() == 2);
  REQUIRE(lengths.kept().size() == 50'000);
  bool is_same = true;
  for (std::size_t i = 0; i < lengths.kept().size(); ++i) {
    const RequestRecord& request = recorder.finished()[2 * i];
    const RequestLengths& kept = lengths.kept()[i];
    is_same = is_same && kept.prompt == request.prompt && kept.output == request.output &&
              kept.max_new == request.max_new;
  }
  CHECK(is_same);
}

// ---------------------------------------------------------------------------------------------------------

/// Records of stretches with everything in them that a record can have, end to end.
class RandomSteps {
 public:
  explicit RandomSteps(std::uint64_t seed = 13) : random_(seed, "steps") {}

  template <class Observe>
  void tell(int records, const Observe& observe) {
    TimePoint now;
    for (int i = 0; i < records; ++i) {
      now = tell_one(now, observe);
    }
  }

 private:
  std::int64_t up_to(std::int64_t most) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most)));
  }

  template <class Observe>
  TimePoint tell_one(TimePoint now, const Observe& observe) {
    const std::int64_t steps = random_.below(2) == 0 ? 1 : 1 + up_to(400);
    StepLine line;
    line.first = {Duration(up_to(9'000'000'000)), Duration(1 + up_to(9'000'000'000)),
                  Duration(up_to(1'000'000'000)), Duration(), Duration(up_to(1'000'000'000))};
    line.growth.bandwidth = Duration(up_to(30'000'000));
    line.growth.host = Duration(-line.first.host.count() / steps);
    const Stretch stretch(now, line, steps);
    const bool prefills = random_.below(4) == 0;
    const std::array<ChunkShape, 1> chunks = {{{1 + up_to(64), up_to(500)}}};
    StepShape shape;
    shape.decodes = prefills && random_.below(2) == 0 ? 0 : 1 + up_to(200);
    shape.decode_context = 1000 * shape.decodes;
    shape.sampled_rows = shape.decodes;
    if (prefills) {
      shape.chunks = chunks;
    }
    StepRecord record{0, 0, stretch, shape};
    record.context_growth = {shape.decodes, 0};
    record.decodes = record.emitted = shape.decodes;
    record.prefill_tokens = prefills ? chunks[0].tokens : 0;
    record.running = shape.decodes + up_to(3);
    record.kept_waiting = up_to(50);
    record.waiting = up_to(60);
    record.preempted = up_to(2);
    record.held_blocks = BlockCount(up_to(5000));
    std::vector<std::int64_t> held;
    if (steps > 1 && random_.below(2) == 0) {
      held.push_back(record.held_blocks.count());
      for (std::int64_t j = 1; j < 16; ++j) {
        held.push_back(held.back() + up_to(9));
      }
      record.held_per_round = shape.decodes;
    }
    record.held_rounds = held;
    std::vector<TokenGap> gaps;
    if (shape.decodes > 1) {
      gaps = {{stretch.time_at(0) + Duration(up_to(5)), 1}, {stretch.time_at(0), shape.decodes - 1}};
    }
    record.gaps = gaps;
    observe(record);
    return stretch.end() + (random_.below(5) == 0 ? Duration(up_to(3'000'000'000'000)) : Duration());
  }

  RandomStream random_;
};

/// Records of one of several replicas.
template <class Observe>
void tell_replica(std::int32_t replica, int records, const Observe& observe) {
  RandomSteps(20 + static_cast<std::uint64_t>(replica)).tell(records, [&](const StepRecord& record) {
    StepRecord own = record;
    own.replica = replica;
    observe(own);
  });
}

std::string digits(Int128 value) {
  return std::to_string(static_cast<std::int64_t>(value >> 62)) + ":" +
         std::to_string(static_cast<std::int64_t>(value & ((Int128{1} << 62) - 1)));
}

void check_equal(const LevelTotals& a, const LevelTotals& b) {
  CHECK(digits(a.integral) == digits(b.integral));
  CHECK(a.peak == b.peak);
}

void check_equal(const PhaseTotals& a, const PhaseTotals& b) {
  CHECK(a.steps == b.steps);
  CHECK((a.cost.sum() == b.cost.sum()));
  CHECK(a.prefill_tokens == b.prefill_tokens);
  CHECK(a.decode_tokens == b.decode_tokens);
  CHECK(a.work->flops() == b.work->flops());
  CHECK(a.work->hbm_bytes() == b.work->hbm_bytes());
}

TEST_CASE("steps told one by one and as stretches add up to the same") {
  const WorkTotals work(load_model("llama-3-8b"), 1);
  for (const Percentiles percentiles : {Percentiles::exact, Percentiles::sketch}) {
    MetricsRecorder in_stretches(1, work, options_of(percentiles, false));
    MetricsRecorder one_by_one(1, work, options_of(percentiles, false));
    RandomSteps().tell(600, [&](const StepRecord& record) {
      in_stretches.on_steps(record);
      visit_steps(record, [&](const StepRecord& step) { one_by_one.on_steps(step); });
    });
    const PoolTotals& a = in_stretches.totals().pools.front();
    const PoolTotals& b = one_by_one.totals().pools.front();
    for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
      CHECK(a.phases[phase].steps > 100);
      check_equal(a.phases[phase], b.phases[phase]);
    }
    check_equal(a.held_blocks, b.held_blocks);
    check_equal(a.decodes, b.decodes);
    check_equal(a.running, b.running);
    CHECK(a.max_waiting == b.max_waiting);
    CHECK(a.preemptions == b.preemptions);
    CHECK(in_stretches.max_emitted_per_second() == one_by_one.max_emitted_per_second());
    CHECK((in_stretches.totals().last_event == one_by_one.totals().last_event));
    CHECK(in_stretches.gaps().count() == one_by_one.gaps().count());
    CHECK(digits(in_stretches.gaps().sum()) == digits(one_by_one.gaps().sum()));
    const auto together = in_stretches.gaps().statistics(PercentileRule::linear);
    const auto apart = one_by_one.gaps().statistics(PercentileRule::linear);
    for (const auto value :
         {&DurationStatistics::mean_ms, &DurationStatistics::std_ms, &DurationStatistics::min_ms,
          &DurationStatistics::max_ms, &DurationStatistics::median_ms, &DurationStatistics::p50_ms,
          &DurationStatistics::p90_ms, &DurationStatistics::p95_ms, &DurationStatistics::p99_ms}) {
      CHECK((*together).*value == (*apart).*value);
    }
  }
}

// Replica 1 is a pool of its own, 0 and 2 are another; each is told to its end before the next begins.
TEST_CASE("a pool is the sum of its replicas and the highest of their peaks") {
  const WorkTotals work(load_model("llama-3-8b"), 1);
  MetricsRecorder all({{.name = "two", .replicas = 2, .work = work}, {.name = "one", .work = work}},
                      {0, 1, 0});
  std::vector<MetricsRecorder> alone;
  for (std::int32_t replica = 0; replica < 3; ++replica) {
    alone.emplace_back(1, work);
    tell_replica(replica, 200, [&](StepRecord record) {
      all.on_steps(record);
      record.replica = 0;
      alone.back().on_steps(record);
    });
  }
  const auto of = [&](std::size_t replica) -> const PoolTotals& {
    return alone[replica].totals().pools.front();
  };
  const std::vector<PoolTotals>& pools = all.totals().pools;
  for (std::size_t phase = 0; phase < kStepPhases; ++phase) {
    check_equal(pools[1].phases[phase], of(1).phases[phase]);
    CHECK(pools[0].phases[phase].steps == of(0).phases[phase].steps + of(2).phases[phase].steps);
    CostSum cost = of(0).phases[phase].cost.sum();
    cost += of(2).phases[phase].cost.sum();
    CHECK((pools[0].phases[phase].cost.sum() == cost));
    CHECK(pools[0].phases[phase].work->flops().count() ==
          of(0).phases[phase].work->flops().count() + of(2).phases[phase].work->flops().count());
  }
  for (const auto level : {&PoolTotals::held_blocks, &PoolTotals::decodes, &PoolTotals::running}) {
    check_equal(pools[1].*level, of(1).*level);
    const LevelTotals& first = of(0).*level;
    const LevelTotals& second = of(2).*level;
    CHECK(digits((pools[0].*level).integral) == digits(first.integral + second.integral));
    CHECK((pools[0].*level).peak == std::max(first.peak, second.peak));
  }
  CHECK(pools[0].preemptions == of(0).preemptions + of(2).preemptions);
  CHECK(pools[0].max_waiting == std::max(of(0).max_waiting, of(2).max_waiting));
  CHECK((all.totals().last_event == std::max({alone[0].totals().last_event, alone[1].totals().last_event,
                                              alone[2].totals().last_event})));
  std::int64_t count = 0;
  Int128 sum = 0;
  for (const MetricsRecorder& one : alone) {
    count += one.gaps().count();
    sum += one.gaps().sum();
  }
  CHECK(all.gaps().count() == count);
  CHECK(digits(all.gaps().sum()) == digits(sum));
}

}  // namespace
}  // namespace inferometer
