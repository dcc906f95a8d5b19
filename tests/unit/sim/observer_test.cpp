#include "sim/replica/observer.hpp"

#include <array>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// What a step's record says, copied out of it.
struct Shown {
  std::int64_t start, end, compute, bandwidth, context, past, held, kept_waiting, waiting, preempted, gap,
      gaps;
  bool operator==(const Shown&) const = default;
};

Shown shown(const StepRecord& step) {
  REQUIRE(step.stretch.steps() == 1);
  REQUIRE(step.shape.chunks.size() == 1);
  REQUIRE(step.gaps.size() == 1);
  CHECK(step.replica == 2);
  CHECK(step.shape.chunks[0].tokens == 5);
  CHECK(step.shape.decodes == 3);
  CHECK(step.decodes == 3);
  CHECK(step.prefill_tokens == 5);
  CHECK(step.emitted == 3);
  CHECK(step.running == 4);
  return {step.stretch.start().since_start().count(),
          step.stretch.end().since_start().count(),
          step.stretch.cost().compute.count(),
          step.stretch.cost().bandwidth.count(),
          step.shape.decode_context,
          step.shape.chunks[0].past,
          step.held_blocks.count(),
          step.kept_waiting,
          step.waiting,
          step.preempted,
          step.gaps[0].gap.count(),
          step.gaps[0].count};
}

// Three steps of 100 + 30 j picoseconds from 1000 on: they end at 1100, 1230, 1390. Two blocks more in the
// second step, and four in each round of two: 7, 9, 11. A chunk of 5 tokens behind 10, 15, 20. Three decodes,
// whose context grows by 2 a step (one has its window full).
TEST_CASE("a record of three steps, shown one by one") {
  const StepLine line{StepCost{.compute = Duration(60), .bandwidth = Duration(40)},
                      StepCost{.compute = Duration(10), .bandwidth = Duration(20)}};
  const Stretch stretch(TimePoint(Duration(1000)), line, 3);
  const std::vector<ChunkShape> chunks = {{5, 10}};
  const StepShape shape{3, 50, 3, chunks};
  const std::vector<std::int64_t> rounds = {7, 9};
  const std::vector<TokenGap> gaps = {{Duration(250), 3}};
  StepRecord record{2, 0, stretch, shape};
  record.context_growth = {2, 0};
  record.decodes = 3;
  record.prefill_tokens = 5;
  record.emitted = 3;
  record.running = 4;
  record.kept_waiting = 6;
  record.waiting = 8;
  record.preempted = 1;
  record.held_blocks = BlockCount(7);
  record.held_rounds = rounds;
  record.held_per_round = 4;
  record.gaps = gaps;

  std::vector<Shown> steps;
  visit_steps(record, [&](const StepRecord& step) { steps.push_back(shown(step)); });
  REQUIRE(steps.size() == 3);
  CHECK(steps[0] == Shown{1000, 1100, 60, 40, 50, 10, 7, 6, 0, 1, 250, 3});
  CHECK(steps[1] == Shown{1100, 1230, 70, 60, 52, 15, 9, 0, 0, 0, 130, 3});
  CHECK(steps[2] == Shown{1230, 1390, 80, 80, 54, 20, 11, 0, 8, 0, 160, 3});
}

// Steps of 100 from 1000 on, two waiting. Those who join at 1100 come as a step begins: one before, one
// after.
TEST_CASE("who joins the queue while steps run waits from then on") {
  const Stretch stretch(TimePoint(Duration(1000)), StepLine{StepCost{.compute = Duration(100)}, {}, 3}, 3);
  const std::vector<QueueJoin> joined = {{TimePoint(Duration(1000)), true},
                                         {TimePoint(Duration(1099)), false},
                                         {TimePoint(Duration(1100)), false},
                                         {TimePoint(Duration(1100)), true},
                                         {TimePoint(Duration(1299)), false}};
  const StepShape shape;
  StepRecord record{0, 0, stretch, shape};
  record.queued = 2;
  record.joined = joined;
  record.waiting = 8;  // somebody else, too, who came otherwise
  std::vector<std::array<std::int64_t, 3>> queues;
  visit_steps(record, [&](const StepRecord& step) {
    queues.push_back({step.queued, static_cast<std::int64_t>(step.joined.size()), step.waiting});
  });
  REQUIRE(queues.size() == 3);
  CHECK(queues[0] == std::array<std::int64_t, 3>{2, 2, 4});
  CHECK(queues[1] == std::array<std::int64_t, 3>{5, 1, 6});
  CHECK(queues[2] == std::array<std::int64_t, 3>{6, 1, 8});
}

TEST_CASE("blocks held in rounds") {
  const Stretch stretch(TimePoint(), StepCost{.compute = Duration(1)});
  const StepShape shape;
  StepRecord record{0, 0, stretch, shape};
  record.held_blocks = BlockCount(5);
  CHECK(record.held_during(0) == 5);
  CHECK(record.held_during(99) == 5);
  const std::vector<std::int64_t> rounds = {5, 5, 6};
  record.held_rounds = rounds;
  record.held_per_round = 2;
  const std::vector<std::int64_t> held = {5, 5, 6, 7, 7, 8, 9, 9, 10};
  for (std::size_t i = 0; i < held.size(); ++i) {
    CAPTURE(i);
    CHECK(record.held_during(static_cast<std::int64_t>(i)) == held[i]);
  }
}

TEST_CASE("a step without decodes has no gaps to show") {
  const Stretch stretch(TimePoint(), StepLine{StepCost{.compute = Duration(3)}, {}, 2}, 2);
  const std::vector<ChunkShape> chunks = {{5, 0}};
  const StepShape shape{0, 0, 0, chunks};
  StepRecord record{0, 0, stretch, shape};
  record.prefill_tokens = 5;
  int steps = 0;
  visit_steps(record, [&](const StepRecord& step) {
    CHECK(step.gaps.empty());
    CHECK(step.emitted == 0);
    ++steps;
  });
  CHECK(steps == 2);
}

}  // namespace
}  // namespace inferometer
