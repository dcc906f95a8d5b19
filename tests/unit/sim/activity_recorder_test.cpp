// Periods of 100 picoseconds and steps whose parts can be worked out in the head.

#include "sim/metrics/activity_recorder.hpp"

#include <sstream>

#include "sim/report/activity_log.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

constexpr Duration kPeriod = Duration(100);

const WorkTotals& no_work() {
  static const WorkTotals none(samples::odd_model(), 1);
  return none;
}

std::int64_t bytes_of(const StepShape& shape) {
  WorkTotals work = no_work();
  work.add(shape);
  return work.hbm_bytes().count();
}

const StepShape kDecode{.decodes = 3, .decode_context = 50, .sampled_rows = 3};

/// One step of `kDecode` with so much host time in it.
void step(ActivityRecorder& recorder, std::int64_t start, std::int64_t length, std::int64_t host,
          std::int32_t replica = 0) {
  const StepCost cost{.compute = Duration(length - host), .host = Duration(host)};
  const Stretch stretch(TimePoint(Duration(start)), cost);
  recorder.on_steps(StepRecord{replica, 0, stretch, kDecode});
}

std::vector<std::int64_t> busy(const std::vector<ActivityPeriod>& periods) {
  std::vector<std::int64_t> list;
  for (const ActivityPeriod& period : periods) {
    list.push_back(period.busy.count());
  }
  return list;
}

std::vector<std::int64_t> bytes(const std::vector<ActivityPeriod>& periods) {
  std::vector<std::int64_t> list;
  for (const ActivityPeriod& period : periods) {
    list.push_back(period.hbm_bytes.count());
  }
  return list;
}

using Numbers = std::vector<std::int64_t>;

TEST_CASE("a step that ends with its period is all in it") {
  ActivityRecorder recorder(1, no_work(), kPeriod);
  step(recorder, 0, 100, 20);
  CHECK(busy(recorder.replicas()[0]) == Numbers{80});
  CHECK(bytes(recorder.replicas()[0]) == Numbers{bytes_of(kDecode)});
  step(recorder, 100, 1, 0);
  CHECK(busy(recorder.replicas()[0]) == Numbers{80, 1});
}

// From 50 to 151: 50 of 101 picoseconds lie before the border, of 81 busy ones floor(81 x 50 / 101) = 40.
TEST_CASE("a step over a border is split by time and nothing is lost") {
  ActivityRecorder recorder(1, no_work(), kPeriod);
  step(recorder, 50, 101, 20);
  CHECK(busy(recorder.replicas()[0]) == Numbers{40, 41});
  const std::int64_t before = bytes_of(kDecode) * 50 / 101;
  CHECK(bytes(recorder.replicas()[0]) == Numbers{before, bytes_of(kDecode) - before});
}

TEST_CASE("a long step fills whole periods") {
  ActivityRecorder recorder(1, no_work(), kPeriod);
  step(recorder, 150, 250, 0);  // to 400, the end of the fourth period
  CHECK(busy(recorder.replicas()[0]) == Numbers{0, 50, 100, 100});
}

TEST_CASE("each replica has periods of its own") {
  ActivityRecorder recorder(2, no_work(), kPeriod);
  step(recorder, 195, 15, 0, 1);
  step(recorder, 0, 30, 10, 0);
  CHECK(busy(recorder.replicas()[0]) == Numbers{20});
  CHECK(busy(recorder.replicas()[1]) == Numbers{0, 5, 10});
}

// Steps of 60, 70 and 80 picoseconds, 20 of each the host's, from 30 on: they end at 90, 160 and 240. Busy
// are 40, 50 and 60: of the second floor(50 x 10 / 70) = 7 before 100, of the third 60 x 40 / 80 = 30 before
// 200. Contexts of 50, 53, 56; a chunk of 5 tokens behind 10, 15, 20.
TEST_CASE("a stretch of steps is split step by step") {
  const StepLine line{StepCost{.compute = Duration(40), .host = Duration(20)},
                      StepCost{.compute = Duration(10)}};
  const Stretch stretch(TimePoint(Duration(30)), line, 3);
  const std::vector<ChunkShape> chunks = {{5, 10}};
  const StepShape shape{.decodes = 3, .decode_context = 50, .sampled_rows = 3, .chunks = chunks};
  StepRecord steps{0, 0, stretch, shape};
  steps.context_growth = {3, 0};
  ActivityRecorder recorder(1, no_work(), kPeriod);
  recorder.on_steps(steps);
  CHECK(busy(recorder.replicas()[0]) == Numbers{40 + 7, 43 + 30, 30});

  const auto of = [](std::int64_t context, std::int64_t past) {
    const std::vector<ChunkShape> chunk = {{5, past}};
    return bytes_of({.decodes = 3, .decode_context = context, .sampled_rows = 3, .chunks = chunk});
  };
  const std::int64_t first = of(50, 10), second = of(53, 15), third = of(56, 20);
  CHECK(bytes(recorder.replicas()[0]) == Numbers{first + second * 10 / 70,
                                                 second - second * 10 / 70 + third * 40 / 80,
                                                 third - third * 40 / 80});
}

// Ten steps of 20 + 2 j picoseconds from 0 on: sums 20, 42, 66, 92 | 120, 150, 182 | 216, 252, 290. The
// fifth has 8 of its 28 before 100, the eighth 18 of its 34 before 200.
TEST_CASE("whole steps within a period are summed at once") {
  const StepLine line{StepCost{.compute = Duration(20)}, StepCost{.compute = Duration(2)}};
  const Stretch stretch(TimePoint(), line, 10);
  StepRecord steps{0, 0, stretch, kDecode};
  steps.context_growth = {3, 0};
  ActivityRecorder recorder(1, no_work(), kPeriod);
  recorder.on_steps(steps);
  CHECK(busy(recorder.replicas()[0]) == Numbers{100, 100, 90});
  WorkTotals all = no_work();
  all.add(kDecode, 10, {3, 0});
  const Numbers split = bytes(recorder.replicas()[0]);
  CHECK(split[0] + split[1] + split[2] == all.hbm_bytes().count());
  WorkTotals within = no_work();
  within.add(kDecode, 4, {3, 0});
  StepShape fifth = kDecode;
  fifth.decode_context += 4 * 3;
  CHECK(split[0] == within.hbm_bytes().count() + bytes_of(fifth) * 8 / 28);
}

// Replica 1 runs on a model of which a tensor group's GPU holds half; half of what is waited for in a
// pipeline is another micro-batch.
TEST_CASE("replicas may have other GPUs and pipelines") {
  const WorkTotals half(samples::odd_model(), 2);
  ActivityRecorder recorder(std::vector<WorkTotals>{no_work(), half}, kPeriod);
  step(recorder, 0, 100, 0, 0);
  const StepCost cost{.compute = Duration(40), .host = Duration(10), .bubble = Duration(50)};
  for (std::int32_t lane = 0; lane < 2; ++lane) {
    const Stretch stretch(TimePoint(), cost);
    recorder.on_steps(StepRecord{1, lane, stretch, kDecode});
  }
  CHECK(busy(recorder.replicas()[1]) == Numbers{80});
  WorkTotals twice = half;
  twice.add(kDecode);
  twice.add(kDecode);
  CHECK(bytes(recorder.replicas()[1]) == Numbers{twice.hbm_bytes().count()});

  std::ostringstream out;
  const auto moved = [](double bytes) { return BytesPerSecond(bytes * kPicosecondsPerSecond / 100); };
  const ReplicaGpus one{1, 1, moved(4.0 * static_cast<double>(bytes_of(kDecode)))};
  // Two stages of two GPUs: of 200 picoseconds of stages 80 are busy, and of what they could move a half
  // moved.
  const ReplicaGpus four{4, 2, moved(static_cast<double>(twice.hbm_bytes().count()))};
  write_activity_log(recorder, {one, four}, out);
  CHECK(out.str() ==
        "#Entity   SMACT        DRAMA        \n"
        "ID                                  \n"
        "GPU 0     1.000        0.250        \n"
        "GPU 1     0.400        0.500        \n"
        "GPU 2     0.400        0.500        \n"
        "GPU 3     0.400        0.500        \n"
        "GPU 4     0.400        0.500        \n");
}

// 100 ms periods. Half a period busy, and as many bytes as a memory of 40 times that a second moves in a
// quarter of a period.
TEST_CASE("the log has the form of dcgmi dmon") {
  ActivityRecorder recorder(2, no_work());
  const std::int64_t half = milliseconds(50).count();
  step(recorder, 0, half, 0, 0);
  step(recorder, 2 * half, half, half / 5, 1);
  std::ostringstream out;
  const BytesPerSecond bandwidth(40.0 * static_cast<double>(bytes_of(kDecode)));
  write_activity_log(recorder, std::vector(2, ReplicaGpus{2, 1, bandwidth}), out);
  CHECK(out.str() ==
        "#Entity   SMACT        DRAMA        \n"
        "ID                                  \n"
        "GPU 0     0.500        0.250        \n"
        "GPU 1     0.500        0.250        \n"
        "GPU 2     0.000        0.000        \n"
        "GPU 3     0.000        0.000        \n"
        "GPU 0     0.000        0.000        \n"
        "GPU 1     0.000        0.000        \n"
        "GPU 2     0.400        0.250        \n"
        "GPU 3     0.400        0.250        \n");
}

TEST_CASE("no counter passes 1 and headers come again") {
  ActivityRecorder recorder(1, no_work());
  step(recorder, milliseconds(100).count() * 14, 1'000, 0);  // the fifteenth period
  std::ostringstream out;
  write_activity_log(recorder, {{1, 1, BytesPerSecond(1)}}, out);
  const std::string text = out.str();
  const std::string end =
      "#Entity   SMACT        DRAMA        \n"
      "ID                                  \n"
      "GPU 0     0.000        1.000        \n";
  REQUIRE(text.size() > end.size());
  CHECK(text.substr(text.size() - end.size()) == end);
  CHECK(text.find("#Entity", 1) == text.size() - end.size());
}

}  // namespace
}  // namespace inferometer
