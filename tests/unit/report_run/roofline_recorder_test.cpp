// Cells of the roofline: what lies together, what apart, and what each sums.

#include "sim/metrics/roofline_recorder.hpp"

#include <algorithm>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

using Cells = std::vector<RooflineCell>;

const WorkTotals& model() {
  static const WorkTotals none(samples::llama_3_8b(), 1);
  return none;
}

const StepShape kDecode{.decodes = 8, .decode_context = 800, .sampled_rows = 8};

void step(RooflineRecorder& recorder, const StepShape& shape, Duration time, std::int32_t replica = 0) {
  const Stretch stretch(TimePoint(), StepCost{.compute = time});
  StepRecord record{replica, 0, stretch, shape};
  record.decodes = shape.decodes;
  record.prefill_tokens = shape.chunk_tokens();
  recorder.on_steps(record);
}

RooflineCell sum_of(const Cells& cells) {
  RooflineCell sum;
  for (const RooflineCell& cell : cells) {
    sum.steps += cell.steps;
    sum.time += cell.time;
    sum.flops += cell.flops;
    sum.hbm_bytes += cell.hbm_bytes;
  }
  return sum;
}

TEST_CASE("a step lies at its FLOPs over its bytes and its time") {
  RooflineRecorder recorder({{.work = model()}});
  step(recorder, kDecode, milliseconds(10));
  const Cells cells = recorder.cells(0, StepPhase::decode);
  REQUIRE(cells.size() == 1);
  WorkTotals work = model();
  work.add(kDecode);
  CHECK(cells[0].steps == 1);
  CHECK((cells[0].time == milliseconds(10).count()));
  CHECK(cells[0].intensity() == Approx(work.flops().count() / work.hbm_bytes_unbounded()));
  CHECK(cells[0].flops_per_second() == Approx(work.flops().count() / 0.010));
  CHECK(recorder.cells(0, StepPhase::prefill).empty());
  CHECK(recorder.cells(0, StepPhase::mixed).empty());
}

// Four cells to each doubling: times from 1 to just below 2 ms spread over four, or five where the doubling
// does not begin with a cell.
TEST_CASE("steps within a quarter share a cell") {
  RooflineRecorder recorder({{.work = model()}});
  for (std::int64_t i = 0; i < 1000; ++i) {
    step(recorder, kDecode, microseconds(1000 + i));
  }
  const Cells cells = recorder.cells(0, StepPhase::decode);
  CHECK(cells.size() >= 4);
  CHECK(cells.size() <= 5);
  CHECK(sum_of(cells).steps == 1000);
  // By performance: the slowest first.
  CHECK(std::is_sorted(cells.begin(), cells.end(), [](const RooflineCell& a, const RooflineCell& b) {
    return a.flops_per_second() < b.flops_per_second();
  }));
}

TEST_CASE("twice the time is another cell, of the same intensity") {
  RooflineRecorder recorder({{.work = model()}});
  step(recorder, kDecode, milliseconds(10));
  step(recorder, kDecode, milliseconds(20));
  const Cells cells = recorder.cells(0, StepPhase::decode);
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].intensity() == cells[1].intensity());
  CHECK(cells[1].flops_per_second() == Approx(2 * cells[0].flops_per_second()));
}

TEST_CASE("phases and pools have cells of their own") {
  const WorkTotals half(samples::llama_3_8b(), 2);
  RooflineRecorder recorder({{.replicas = 2, .work = model()}, {.work = half}});
  const std::vector<ChunkShape> chunks = {{100, 0}};
  const StepShape prefill{.sampled_rows = 1, .chunks = chunks};
  StepShape mixed = kDecode;
  mixed.chunks = chunks;
  step(recorder, prefill, milliseconds(5), 0);
  step(recorder, mixed, milliseconds(9), 1);
  step(recorder, mixed, milliseconds(9), 2);
  CHECK(sum_of(recorder.cells(0, StepPhase::prefill)).steps == 1);
  CHECK(sum_of(recorder.cells(0, StepPhase::mixed)).steps == 1);
  CHECK(recorder.cells(1, StepPhase::prefill).empty());
  const Cells cells = recorder.cells(1, StepPhase::mixed);
  REQUIRE(cells.size() == 1);
  WorkTotals work = half;
  work.add(mixed);
  CHECK(static_cast<double>(cells[0].flops) == work.flops().count());
  CHECK(static_cast<double>(cells[0].hbm_bytes) == work.hbm_bytes_unbounded());
}

// Times of 1 ms, then 1 us more each: by the thousandth step twice as long, the work about the same.
TEST_CASE("a stretch leaves each step in its own cell") {
  constexpr std::int64_t kSteps = 3000;
  const StepLine line{StepCost{.compute = milliseconds(1)}, StepCost{.compute = microseconds(1)}};
  const Stretch stretch(TimePoint(), line, kSteps);
  StepRecord record{0, 0, stretch, kDecode};
  record.decodes = kDecode.decodes;
  record.context_growth = {kDecode.decodes, 0};
  RooflineRecorder at_once({{.work = model()}});
  at_once.on_steps(record);

  RooflineRecorder one_by_one({{.work = model()}});
  StepShape shape = kDecode;
  for (std::int64_t i = 0; i < kSteps; ++i) {
    step(one_by_one, shape, milliseconds(1) + microseconds(i));
    shape.decode_context += kDecode.decodes;
  }
  const Cells cells = at_once.cells(0, StepPhase::decode);
  CHECK(cells.size() >= 8);  // performance falls to a quarter
  CHECK(cells == one_by_one.cells(0, StepPhase::decode));
}

TEST_CASE("what lies beyond the grid counts at its border") {
  RooflineRecorder recorder({{.work = model()}});
  step(recorder, kDecode, picoseconds(1));
  step(recorder, kDecode, seconds(1'000'000));
  const Cells cells = recorder.cells(0, StepPhase::decode);
  CHECK(cells.size() == 2);
  CHECK(sum_of(cells).steps == 2);
}

}  // namespace
}  // namespace inferometer
