// Bins of 100 picoseconds and steps whose integrals can be worked out in the head.

#include "sim/metrics/timeline_recorder.hpp"

#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TimePoint at(std::int64_t time) {
  return TimePoint(Duration(time));
}

struct Levels {
  std::int64_t running, decodes, held;
};

void step(TimelineRecorder& recorder, std::int64_t start, std::int64_t end, const Levels& levels,
          std::int32_t replica = 0, std::int32_t lane = 0) {
  const Stretch stretch(at(start), StepCost{.compute = Duration(end - start)});
  const StepShape shape{.decodes = levels.decodes};
  StepRecord record{replica, lane, stretch, shape};
  record.running = levels.running;
  record.decodes = levels.decodes;
  record.held_blocks = BlockCount(levels.held);
  recorder.on_steps(record);
}

void arrive(TimelineRecorder& recorder, std::int64_t time, std::int64_t waiting) {
  recorder.on_arrival({0, at(time), TokenCount(1), TokenCount(1), TokenCount(1)}, waiting);
}

void finish(TimelineRecorder& recorder, std::int64_t time) {
  FinishedRequest request;
  request.finished = at(time);
  recorder.on_finished(request);
}

void reject(TimelineRecorder& recorder, std::int64_t time) {
  RejectedRequest request;
  request.rejected = at(time);
  recorder.on_rejected(request);
}

/// Requests 0 and 1 come at 0 and 50. The first prefills up to 80, decodes beside the prefill of the second
/// up to 220 and leaves; the second decodes up to 260. It waited from 50 to 80.
void run_two(TimelineRecorder& recorder) {
  arrive(recorder, 0, 0);
  arrive(recorder, 50, 0);
  step(recorder, 0, 80, {1, 0, 3});
  step(recorder, 80, 220, {2, 1, 5});
  finish(recorder, 220);
  step(recorder, 220, 260, {1, 1, 2});
  finish(recorder, 260);
}

TimelineRecorder recorder_of(std::size_t most_bins, const std::vector<RecordedPool>& pools = {{}}) {
  return TimelineRecorder(pools, {most_bins, Duration(100)});
}

constexpr std::int64_t kNobody = RequestsBin::kNobodyCame;

TEST_CASE("two requests in three bins") {
  TimelineRecorder recorder = recorder_of(4);
  run_two(recorder);
  const Timeline timeline = recorder.timeline();
  CHECK(timeline.width == Duration(100));
  CHECK(timeline.end == at(260));
  // 80 x 3 + 20 x 5, then 100 x 5, then 20 x 5 + 40 x 2 blocks; running and decoding likewise.
  const std::vector<PoolBin> expected = {
      {100, 340, 120, 20, 5, 2, 1}, {100, 500, 200, 100, 5, 2, 1}, {60, 180, 80, 60, 5, 2, 1}};
  CHECK((timeline.pools[0].bins == expected));
  // The first is there all the time up to 220, the second from 50 to 260.
  CHECK((timeline.requests == std::vector<RequestsBin>{{150, 0}, {200, kNobody}, {80, kNobody}}));
  CHECK((timeline.waiting(0) == 30));
  CHECK((timeline.waiting(1) == 0));
  CHECK((timeline.waiting(2) == 0));
  CHECK(timeline.length_of(1) == Duration(100));
  CHECK(timeline.length_of(2) == Duration(60));
}

TEST_CASE("bins widen when the run outgrows them") {
  TimelineRecorder recorder = recorder_of(2);
  run_two(recorder);
  Timeline timeline = recorder.timeline();
  CHECK(timeline.width == Duration(200));
  CHECK((timeline.pools[0].bins ==
         std::vector<PoolBin>{{200, 840, 320, 120, 5, 2, 1}, {60, 180, 80, 60, 5, 2, 1}}));
  CHECK((timeline.requests == std::vector<RequestsBin>{{350, 0}, {80, kNobody}}));

  // Twice twice as wide: one comes at 700, finds four waiting, and is there still when another goes at 900.
  arrive(recorder, 700, 4);
  arrive(recorder, 850, 1);
  reject(recorder, 900);
  timeline = recorder.timeline();
  CHECK(timeline.width == Duration(800));
  CHECK((timeline.pools[0].bins == std::vector<PoolBin>{{260, 1020, 400, 180, 5, 2, 1}, {}}));
  CHECK((timeline.requests == std::vector<RequestsBin>{{430 + 100, 4}, {100 + 50, 1}}));
}

// Steps of 60, 70 and 80 from 30 on, which end at 90, 160 and 240. Rounds of two hold 4 and 5 blocks, and 3
// more in each round: 4, 5, 7.
TEST_CASE("a stretch of steps is cut at the borders of bins") {
  const StepLine line{StepCost{.compute = Duration(60)}, StepCost{.compute = Duration(10)}};
  const Stretch stretch(at(30), line, 3);
  const StepShape shape{.decodes = 2};
  const std::vector<std::int64_t> held = {4, 5};
  StepRecord record{0, 0, stretch, shape};
  record.running = record.decodes = 2;
  record.held_rounds = held;
  record.held_per_round = 3;
  TimelineRecorder recorder = recorder_of(4);
  recorder.on_steps(record);
  CHECK((recorder.timeline().pools[0].bins == std::vector<PoolBin>{{70, 60 * 4 + 10 * 5, 140, 140, 5, 2, 2},
                                                                   {100, 60 * 5 + 40 * 7, 200, 200, 7, 2, 2},
                                                                   {40, 40 * 7, 80, 80, 7, 2, 2}}));
}

TEST_CASE("what ends with a bin is all in it, and what comes then is in the next") {
  TimelineRecorder recorder = recorder_of(4);
  arrive(recorder, 0, 0);
  step(recorder, 0, 100, {1, 1, 1});
  arrive(recorder, 100, 7);
  step(recorder, 100, 101, {1, 1, 9});
  const Timeline timeline = recorder.timeline();
  CHECK(
      (timeline.pools[0].bins == std::vector<PoolBin>{{100, 100, 100, 100, 1, 1, 1}, {1, 9, 1, 1, 9, 1, 1}}));
  CHECK((timeline.requests == std::vector<RequestsBin>{{100, 0}, {2, 7}}));
}

TEST_CASE("records may be told late") {
  TimelineRecorder recorder = recorder_of(4);
  arrive(recorder, 250, 0);
  step(recorder, 20, 30, {1, 1, 1});  // told at its end, long before which its stretch began
  step(recorder, 40, 140, {1, 0, 2});
  CHECK((recorder.timeline().pools[0].bins ==
         std::vector<PoolBin>{{70, 10 + 120, 70, 10, 2, 1, 1}, {40, 80, 40, 0, 2, 1, 0}, {}}));
}

TEST_CASE("each pool has bins of its own, filled by its replicas and lanes") {
  const std::vector<RecordedPool> pools = {{.name = "prefill", .replicas = 2},
                                           {.name = "decode", .lanes = 2}};
  TimelineRecorder recorder = recorder_of(2, pools);
  step(recorder, 0, 50, {1, 0, 1}, 1);
  step(recorder, 0, 40, {3, 3, 5}, 2, 0);
  step(recorder, 20, 60, {2, 2, 6}, 2, 1);
  const Timeline timeline = recorder.timeline();
  REQUIRE(timeline.pools.size() == 2);
  CHECK(timeline.pools[0].name == "prefill");
  CHECK(timeline.pools[0].replicas == 2);
  CHECK(timeline.pools[1].lanes == 2);
  CHECK((timeline.pools[0].bins == std::vector<PoolBin>{{50, 50, 50, 0, 1, 1, 0}}));
  CHECK((timeline.pools[1].bins == std::vector<PoolBin>{{80, 440, 200, 200, 6, 3, 3}}));
}

TEST_CASE("without any event there is no bin") {
  const Timeline timeline = recorder_of(2).timeline();
  CHECK(timeline.requests.empty());
  CHECK(timeline.pools[0].bins.empty());
}

// 600 bins of a millisecond hold 600 ms; of seven days' milliseconds 604,800,000 / 600 are at least 2^19.94.
TEST_CASE("a long run has no more bins than a short one") {
  TimelineRecorder recorder(std::vector<RecordedPool>(1));
  arrive(recorder, 0, 0);
  finish(recorder, seconds(7 * 24 * 3600).count());
  const Timeline timeline = recorder.timeline();
  CHECK(timeline.width == milliseconds(1 << 20));
  CHECK(timeline.requests.size() == 577);
  CHECK((timeline.requests[300].in_system == timeline.width.count()));
}

}  // namespace
}  // namespace inferometer
