// The fast stepper against the reference stepper over random deployments: the same integers, request by
// request, step by step, in all totals; and every stretch ends where something limits it and no earlier.

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>

#include "tests/property/stepper_equality_run.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::testing {
namespace {

/// What a set of deployments led the fast stepper into.
struct Coverage {
  std::array<std::int64_t, kLimits> only{};  ///< stretches of several steps that this alone ended
  std::array<std::int64_t, kLimits> any{};
  std::int64_t beside_chunks = 0;  ///< stretches of several steps with chunks and decodes
  std::int64_t of_chunks = 0;      ///< ... with chunks alone
  std::int64_t past_arrivals = 0;  ///< ... that arrivals did not end
  std::int64_t hundreds = 0;       ///< ... of a hundred steps and more
  std::int64_t steps = 0, in_stretches = 0, unpromised = 0, without_line = 0;
  std::int64_t preemptions = 0, rejections = 0;
  std::int64_t draft_tokens = 0, loads = 0;
  std::map<std::string, StepCounts> by_policy;  ///< of deployments that promise and have a line

  void add(const RandomDeployment& deployment, const SeenRun& run) {
    for (const SeenStretch& stretch : run.stretches) {
      if (stretch.steps > 1) {
        add(stretch, run.arrivals);
      }
    }
    steps += run.counts.in_stretches + run.counts.single();
    in_stretches += run.counts.in_stretches;
    unpromised += run.counts.unpromised;
    without_line += run.counts.without_line;
    preemptions += run.recorder.totals().preemptions();
    rejections += run.census.rejected;
    draft_tokens += run.recorder.totals().pools.front().drafted.draft_tokens;
    loads += run.offload.host.loads;
    if (deployment.promise == RandomDeployment::Promise::own && deployment.has_line) {
      const std::string drafts = deployment.setup.speculation ? " that drafts" : "";
      StepCounts& counts = by_policy[deployment.setup.policy + drafts];
      counts = counts + run.counts;
    }
  }

  /// How many steps the fast stepper ran one by one, and why.
  void print() const {
    std::printf("%-29s %9s  %s\n", "policy", "steps",
                "run one by one: all = the batch changes + no promise + no line + drafts");
    for (const auto& [policy, counts] : by_policy) {
      const std::int64_t all = counts.in_stretches + counts.single();
      const auto percent = [all](std::int64_t part) {
        return 100 * static_cast<double>(part) / static_cast<double>(all);
      };
      std::printf("%-29s %9lld  %5.1f %% = %.1f + %.1f + %.1f + %.1f\n", policy.c_str(),
                  static_cast<long long>(all), percent(counts.single()), percent(counts.changing_batch),
                  percent(counts.unpromised), percent(counts.without_line), percent(counts.speculating));
    }
  }

  [[nodiscard]] std::int64_t only_by(Limit limit) const { return only[static_cast<std::size_t>(limit)]; }

 private:
  void add(const SeenStretch& stretch, const std::vector<TimePoint>& arrivals) {
    const auto reached = std::count(stretch.limits.begin(), stretch.limits.end(), true);
    for (std::size_t i = 0; i < kLimits; ++i) {
      any[i] += stretch.limits[i] ? 1 : 0;
      only[i] += stretch.limits[i] && reached == 1 ? 1 : 0;
    }
    beside_chunks += stretch.has_chunks && stretch.has_decodes ? 1 : 0;
    of_chunks += stretch.has_chunks && !stretch.has_decodes ? 1 : 0;
    hundreds += stretch.steps >= 100 ? 1 : 0;
    const auto first = std::upper_bound(arrivals.begin(), arrivals.end(), stretch.start);
    past_arrivals += first != arrivals.end() && *first <= stretch.too_early ? 1 : 0;
  }
};

Coverage compare_steppers(std::uint64_t first_seed, std::uint64_t deployments) {
  Coverage coverage;
  for (std::uint64_t seed = first_seed; seed < first_seed + deployments; ++seed) {
    const RandomDeployment deployment = random_deployment(seed, true);
    CAPTURE(seed);
    INFO(deployment.describe());
    const SeenRun fast = run_seen(deployment, Stepper::fast);
    const SeenRun reference = run_seen(deployment, Stepper::reference);
    REQUIRE(first_difference(fast, reference) == "");
    REQUIRE(fast.broken == "");
    REQUIRE(reference.broken == "");
    coverage.add(deployment, fast);
  }
  coverage.print();
  return coverage;
}

/// `share`: of the numbers of 200 deployments, as the 20,000 have them, too.
void check_coverage(const Coverage& coverage, std::int64_t share) {
  for (std::size_t i = 0; i < kLimits; ++i) {
    CAPTURE(i, coverage.any[i]);
    // KV that comes back ends too few stretches alone to be counted on.
    if (i != static_cast<std::size_t>(Limit::host_load)) {
      CHECK(coverage.only[i] >= 10 * share);
    }
  }
  CHECK(coverage.beside_chunks >= 50 * share);
  CHECK(coverage.of_chunks >= 20 * share);
  CHECK(coverage.past_arrivals >= 50 * share);
  CHECK(coverage.hundreds >= 50 * share);
  CHECK(coverage.in_stretches >= coverage.steps / 2);
  CHECK(coverage.unpromised >= 500 * share);
  CHECK(coverage.without_line >= 500 * share);
  CHECK(coverage.preemptions >= 100 * share);
  CHECK(coverage.rejections >= 20 * share);
  CHECK(coverage.draft_tokens >= 10'000 * share);
  CHECK(coverage.loads >= 20 * share);
  CHECK(coverage.by_policy.size() == 10);  // each policy and the one that drafts
}

TEST_CASE("both steppers give the same integers: 400 deployments") {
  check_coverage(compare_steppers(0, 400), 1);
}

TEST_CASE("both steppers give the same integers: twenty thousand deployments", "[.][nightly]") {
  check_coverage(compare_steppers(1000, 20'000), 100);
}

}  // namespace
}  // namespace inferometer::testing
