// What a plan finds among outcomes that follow a formula. A unit of a shape serves `capacity` requests a
// second, and its TTFT is base / (1 - load) with load = rate / (units * capacity), as of an M/M/1 queue: so
// the limit L is met from rate / (capacity * (1 - base / L)) units on, and up to units * capacity * (1 - base
// / L) requests a second.

#include "sim/study/plan/plan_search.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/unit/study_plan/made_up_plan.hpp"

namespace inferometer::testing {
namespace {

struct Queue {
  double capacity = 1;  ///< requests a second, of a unit
  double base_ms = 100;
};

Outcome served(const Queue& queue, const MadeUpRun& run) {
  const double load = run.rate / (run.units * queue.capacity);
  const double ttft = load < 1 ? queue.base_ms / (1 - load) : 1e6;
  Outcome outcome = outcome_of(ttft, load, 100 * run.units);
  outcome.offered_per_second = run.rate;
  return outcome;
}

MadeUpOutcome served_by(std::vector<Queue> queues) {
  return [queues](const MadeUpRun& run) { return served(queues[run.shape], run); };
}

/// The fewest units that meet, found by looking at every size; nothing when all are too few.
std::optional<std::int64_t> least_units(const Queue& queue, const std::vector<std::int64_t>& units) {
  const auto found = std::find_if(units.begin(), units.end(), [&](std::int64_t each) {
    return served(queue, {0, static_cast<double>(each), kOfferedRate}).slo.front().met;
  });
  return found == units.end() ? std::nullopt : std::optional(*found);
}

const char* const kNoMore = "sustained_rate: {of: none}\nsensitivity: false\nseeds: 1\n";

TEST_CASE("the answer is the least of all units over price") {
  // Units by the formula: 10 / (1.3 * 0.8) = 9.6 and so 10 of the H100, 10 / (0.52 * 0.8) = 24.04 and so 25
  // of the A100, 10 / (5 * 0.8) = 2.5 and so 3 of the H200.
  MadeUpPlan plan("{gpu: [h100-sxm, a100-80gb-sxm, h200-sxm], replicas: 1..64}",
                  std::string(kNoMore) + "prices: {h100-sxm: 2 $/h, a100-80gb-sxm: 1 $/h, h200-sxm: 7 $/h}\n",
                  served_by({{1.3}, {0.52}, {5}}));
  const PlanResult result = plan.found();
  REQUIRE(result.best == 0U);  // $20 an hour; the others are $25 and $21
  const ShapeResult& best = result.shapes[0];
  CHECK(best.assessments[*best.smallest].size.units == 10);
  CHECK(best.assessments[*best.smallest].size.cost == Approx(20));
  CHECK(result.candidates == 3 * 64);
  CHECK(result.evaluations == static_cast<std::int64_t>(plan.runs().size()));
}

TEST_CASE("random plans cost what the formula says, whatever the order of answers") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed, "plan");
    std::vector<Queue> queues;
    for (int shape = 0; shape < 15; ++shape) {
      queues.push_back(
          {static_cast<double>(dice.between(2, 300)) / 100, static_cast<double>(dice.between(10, 480))});
    }
    MadeUpPlan plan(
        "{gpu: [h100-sxm, a100-80gb-sxm, l40s], max_num_seqs: [16, 32, 64, 128, 256], replicas: 1..24}",
        kNoMore, served_by(queues));
    std::optional<double> cheapest;
    for (std::size_t shape = 0; shape < queues.size(); ++shape) {
      if (const auto units = least_units(queues[shape], plan.spec().units)) {
        const double cost = static_cast<double>(*units) * plan.facts()[shape].unit.cost;
        cheapest = std::min(cheapest.value_or(cost), cost);
      }
    }
    const PlanResult result = plan.found();
    const auto runs = plan.runs().size();
    CAPTURE(seed);
    REQUIRE(result.best.has_value() == cheapest.has_value());
    if (cheapest) {
      const ShapeResult& best = result.shapes[*result.best];
      CHECK(best.assessments[*best.smallest].size.cost == Approx(*cheapest));
    }
    for (std::size_t shape = 0; shape < queues.size(); ++shape) {
      const ShapeResult& each = result.shapes[shape];
      const auto units = least_units(queues[shape], plan.spec().units);
      if (each.fate == ShapeFate::meets) {
        CHECK(each.assessments[*each.smallest].size.units == units);
      } else if (each.fate == ShapeFate::none_meets) {
        CHECK(!units);
      } else if (units) {
        CHECK(static_cast<double>(*units) * each.unit.cost >= *cheapest * (1 - 1e-12));
      }
    }
    const PlanResult one_by_one = plan.found([&](std::size_t of) {
      return static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(of) - 1));
    });
    CHECK(one_by_one.best == result.best);
    CHECK(one_by_one.evaluations == result.evaluations);
    CHECK(plan.runs().size() == runs);
  }
}

TEST_CASE("a bound beyond the largest size excludes a shape with its reason and runs nothing of it") {
  MadeUpPlan plan("{gpu: [h100-sxm, a100-80gb-sxm], replicas: 1..8}", kNoMore, served_by({{5}, {5}}));
  plan.facts()[1].bound = {.least_units = 9, .is_impossible = false, .reason = "work for 9 units"};
  const PlanResult result = plan.found();
  CHECK(result.shapes[1].fate == ShapeFate::bound_impossible);
  CHECK(result.shapes[1].reason == "work for 9 units");
  CHECK(std::none_of(plan.runs().begin(), plan.runs().end(),
                     [](const MadeUpRun& run) { return run.shape == 1; }));
}

TEST_CASE("a bound of the largest size leaves that one to run") {
  MadeUpPlan plan("{gpu: [h100-sxm], replicas: 1..8}", kNoMore, served_by({{2}}));
  plan.facts()[0].bound = {.least_units = 8, .is_impossible = false, .reason = "work for 8 units"};
  const PlanResult result = plan.found();
  REQUIRE(result.best);
  REQUIRE(plan.runs().size() == 1);
  CHECK(plan.runs().front().units == 8);
}

TEST_CASE("of shapes at one cost the one with the lowest latency is the answer") {
  // They need 10 / (2.5 * 0.82) = 4.9 and 10 / (2.5 * 0.84) = 4.8, both 5 units: load 0.8, TTFT 450 and 400
  // ms.
  MadeUpPlan plan("{max_num_seqs: [16, 32], replicas: 1..8}", kNoMore, served_by({{2.5, 90}, {2.5, 80}}));
  const PlanResult result = plan.found();
  CHECK(result.best == 1U);
  CHECK(result.shapes[0].fate == ShapeFate::meets);
}

TEST_CASE("the front keeps what nothing beats in cost and latency and power at once") {
  // One unit of each, dearest last: A100, H100, H200. The H100 is slower than the cheaper A100 and draws as
  // much; the H200 is the fastest.
  MadeUpPlan plan("{gpu: [h200-sxm, h100-sxm, a100-80gb-sxm]}", std::string(kNoMore) + "search: front\n",
                  [](const MadeUpRun& run) {
                    const double ttft[] = {100, 300, 200};
                    return outcome_of(ttft[run.shape], 0.5, 400);
                  });
  const PlanResult result = plan.found();
  REQUIRE(result.is_front_whole);
  REQUIRE(result.front.size() == 2);
  CHECK(result.front[0].first == 2);
  CHECK(result.front[1].first == 0);
}

TEST_CASE("what is alike in cost and latency and power is on the front together") {
  MadeUpPlan plan("{max_num_seqs: [16, 32]}", std::string(kNoMore) + "search: front\n",
                  [](const MadeUpRun&) { return outcome_of(100, 0.5, 400); });
  CHECK(plan.found().front.size() == 2);
}

TEST_CASE("the sustained rate lies between the two rates that are reported") {
  // Four units, of which 10 / (4 * 0.8) = 3.1 would do: they sustain 4 * 4 * 0.8 = 12.8 req/s.
  MadeUpPlan plan("{gpu: [h100-sxm], replicas: 4}",
                  "sensitivity: false\nseeds: 1\nsustained_rate: {tolerance: 0.01}\n", served_by({{4}}));
  const PlanResult result = plan.found();
  REQUIRE(result.shapes[0].sustained);
  const SustainedRate& sustained = *result.shapes[0].sustained;
  CHECK(sustained.low_per_second <= 12.8);
  CHECK(sustained.high_per_second > 12.8);
  CHECK(sustained.high_per_second <= 1.01 * sustained.low_per_second * (1 + 1e-9));
  CHECK(sustained.limited_by.find("p99 TTFT") != std::string::npos);
  const std::vector<Assessment>& tried = sustained.tried;
  CHECK(std::is_sorted(tried.begin(), tried.end(), [](const Assessment& a, const Assessment& b) {
    return a.rate_factor < b.rate_factor;
  }));
}

TEST_CASE("what cannot run sustains nothing and is not asked at other rates") {
  MadeUpPlan plan("{gpu: [h100-sxm, a100-80gb-sxm], replicas: 4}",
                  "sensitivity: false\nseeds: 1\nsustained_rate: {of: all}\n", [](const MadeUpRun& run) {
                    return run.shape == 1 ? failed_outcome("no node has a place for it") : served({4}, run);
                  });
  const PlanResult result = plan.found();
  CHECK(result.shapes[1].fate == ShapeFate::does_not_fit);
  CHECK(result.shapes[1].reason == "no node has a place for it");
  CHECK(!result.shapes[1].sustained);
  CHECK(result.shapes[0].sustained);
  CHECK(std::count_if(plan.runs().begin(), plan.runs().end(),
                      [](const MadeUpRun& run) { return run.shape == 1; }) == 1);
}

TEST_CASE("the share of failed requests may be at its limit and not above") {
  const auto fate = [](double failed) {
    MadeUpPlan plan("{gpu: [h100-sxm]}", std::string(kNoMore) + "failed_max: 0.02\n",
                    [failed](const MadeUpRun&) { return outcome_of(100, 0.5, 400, failed); });
    return plan.found().shapes[0].fate;
  };
  CHECK(fate(20) == ShapeFate::meets);
  CHECK(fate(21) == ShapeFate::none_meets);
}

TEST_CASE("the mean over seeds decides and is close where its interval has the limit in it") {
  // Means 500 and 501 ms around seeds 100 ms apart: Student's t for two degrees of freedom is 4.3.
  const auto result = [](double middle) {
    MadeUpPlan plan("{gpu: [h100-sxm]}", "sustained_rate: {of: none}\nsensitivity: false\nseeds: 3\n",
                    [middle](const MadeUpRun& run) {
                      return outcome_of(middle + 100 * static_cast<double>(run.seed - 2), 0.5, 400);
                    });
    return plan.found();
  };
  CHECK(result(500).shapes[0].fate == ShapeFate::meets);
  CHECK(result(501).shapes[0].fate == ShapeFate::none_meets);
  CHECK(result(499).shapes[0].assessments[0].targets[0].is_close);
  // Half of the interval is 4.303 * 100 / sqrt(3) = 248.4 ms.
  CHECK(!result(251).shapes[0].assessments[0].targets[0].is_close);
  CHECK(result(252).shapes[0].assessments[0].targets[0].is_close);
  CHECK(result(500).evaluations == 3);
}

TEST_CASE("a queue that grows with half of the seeds saturates a deployment") {
  const auto verdict = [](std::int64_t growing) {
    MadeUpPlan plan(
        "{gpu: [h100-sxm]}", "sustained_rate: {of: none}\nsensitivity: false\nseeds: 4\n",
        [growing](const MadeUpRun& run) { return outcome_of(100, run.seed <= growing ? 1.2 : 0.9, 400); });
    return plan.found().shapes[0].assessments[0].verdict;
  };
  CHECK(verdict(1) == Verdict::meets);
  CHECK(verdict(2) == Verdict::saturated);
}

TEST_CASE("growth is on top of the traffic and part of every run") {
  MadeUpPlan plan("{gpu: [h100-sxm], replicas: 1..64}", std::string(kNoMore) + "traffic: {growth: 2}\n",
                  served_by({{1.3}}));
  const PlanResult result = plan.found();
  REQUIRE(result.best);
  CHECK(result.shapes[0].assessments[*result.shapes[0].smallest].size.units ==
        20);  // 20 / (1.3 * 0.8) = 19.2
  CHECK(std::all_of(plan.runs().begin(), plan.runs().end(),
                    [](const MadeUpRun& run) { return run.rate == 2 * kOfferedRate; }));
}

TEST_CASE("a price of a GPU that is none is refused and one that no candidate has is not") {
  const auto priced = [](const std::string& prices) {
    try {
      MadeUpPlan plan("{gpu: [h100-sxm]}", std::string(kNoMore) + "prices: {" + prices + "}\n",
                      served_by({{4}}));
      return std::string();
    } catch (const ConfigError& error) {
      return error.diagnostics().front().message;
    }
  };
  CHECK(priced("h100-sxm: 2 $/h, l4: 1 $/h").empty());
  CHECK(priced("h100-smx: 2 $/h")
            .starts_with("prices: there is no GPU \"h100-smx\"; did you mean \"h100-sxm\"?"));
}

TEST_CASE("one unit fewer is among the answer's neighbours and misses") {
  MadeUpPlan plan("{gpu: [h100-sxm], replicas: 1..64}", "sustained_rate: {of: none}\nseeds: 1\n",
                  served_by({{1.3}}));
  const PlanResult result = plan.found();
  REQUIRE(!result.sensitivity.empty());
  const SensitivityRow& fewer = result.sensitivity.front();
  CHECK(fewer.what == "units");
  CHECK(fewer.to == "9");
  REQUIRE(fewer.assessment);
  CHECK(fewer.assessment->verdict != Verdict::meets);
  // The limit on TTFT could be as low as what ten units reach: 100 / (1 - 10 / 13) ms.
  const auto limit = std::find_if(result.sensitivity.begin(), result.sensitivity.end(),
                                  [](const SensitivityRow& row) { return row.what == "limit of p99 TTFT"; });
  REQUIRE(limit != result.sensitivity.end());
  CHECK(limit->to == "433 ms");
}

}  // namespace
}  // namespace inferometer::testing
