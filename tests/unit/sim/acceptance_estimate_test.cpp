// How often drafts were right, as an engine that adapts remembers it.

#include "sim/batch/acceptance_estimate.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// Of one step: how many sequences had the draft at each position accepted.
DraftCounts step_of(std::int64_t sequences, const std::vector<std::int64_t>& accepted) {
  DraftCounts counts;
  counts.drafts = sequences;
  for (std::size_t position = 0; position < accepted.size(); ++position) {
    counts.accepted_by_position[position] = accepted[position];
    counts.accepted_tokens += accepted[position];
  }
  return counts;
}

TEST_CASE("drafts behind the first wrong one say nothing") {
  AcceptanceEstimate estimate;
  CHECK(estimate.value() == 1);
  // Four sequences with 2, 1, 1 and 0 of two drafts right: 4 right, 3 wrong. And one before all.
  estimate.add(step_of(4, {3, 1}), 2);
  CHECK(estimate.value() == 5.0 / 8);
  // With one draft each, 2 of 6 right.
  estimate.add(step_of(6, {2}), 1);
  CHECK(estimate.value() == 7.0 / 14);
}

TEST_CASE("what is old counts half") {
  AcceptanceEstimate estimate;
  estimate.add(step_of(1000, {0}), 1);
  CHECK(estimate.value() == 1.0 / 1001);
  // 24 more are remembered, the 25th is one too many: 0 of 1000 and 25 of 25, of which half stay.
  estimate.add(step_of(24, {24}), 1);
  CHECK(estimate.value() == 25.0 / 1025);
  estimate.add(step_of(1, {1}), 1);
  CHECK(estimate.value() == 13.0 / 513);
  // A step of very many: halved until it is little enough. 6000 wrong ones, and 512 before: 6512 / 8.
  estimate.add(step_of(6000, {0}), 1);
  CHECK(estimate.value() == 2.0 / 815);
}

TEST_CASE("while nothing is drafted what is known fades") {
  constexpr std::int64_t kSteps = AcceptanceEstimate::kStepsToForget;
  AcceptanceEstimate estimate;
  estimate.add(step_of(16, {4}), 1);
  for (std::int64_t step = 1; step < kSteps; ++step) {
    estimate.add({}, 0);
  }
  CHECK(estimate.value() == 5.0 / 17);
  estimate.add({}, 0);
  CHECK(estimate.value() == 3.0 / 9);
  // A step with drafts between: the count of those without begins anew.
  estimate.add({}, 0);
  estimate.add(step_of(1, {0}), 1);
  for (std::int64_t step = 1; step < kSteps; ++step) {
    estimate.add({}, 0);
  }
  CHECK(estimate.value() == 3.0 / 10);
  // 9, 4, 2, 1, 0: in the end nothing is known, and drafts are tried.
  for (std::int64_t step = 0; step < 2 * kSteps + 1; ++step) {
    estimate.add({}, 0);
  }
  CHECK(estimate.value() == 1.0 / 2);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    estimate.add({}, 0);
  }
  CHECK(estimate.value() == 1);
}

}  // namespace
}  // namespace inferometer
