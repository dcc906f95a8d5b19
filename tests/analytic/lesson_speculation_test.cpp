// What scenarios/speculation_by_load.yaml teaches: a fixed number of drafts gains at low load and loses at
// high load; one that is chosen step by step does as well as the better of both, at every load.

#include <algorithm>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/study_file.hpp"

namespace inferometer::testing {
namespace {

Summary run(const std::string& variant, const std::string& rate, std::int64_t seed) {
  static const StudyFile study("speculation_by_load.yaml");
  return study.run(variant, {"workload.rate=" + rate + " req/s"}, seed).summary;
}

TEST_CASE("drafts of a fixed number gain at low load and lose at high load") {
  for (const std::int64_t seed : {1, 2}) {
    CAPTURE(seed);
    CHECK(run("eagle", "1", seed).tpot->median_ms < 0.7 * run("none", "1", seed).tpot->median_ms);
    CHECK(run("eagle", "20", seed).tpot->median_ms > 1.1 * run("none", "20", seed).tpot->median_ms);
  }
}

TEST_CASE("drafts chosen step by step are as good as the better of none and a fixed number at every load") {
  for (const std::int64_t seed : {1, 2}) {
    for (const char* rate : {"1", "4", "8", "12", "16", "20"}) {
      CAPTURE(seed, rate);
      const Summary none = run("none", rate, seed), fixed = run("eagle", rate, seed);
      const Summary adaptive = run("adaptive eagle", rate, seed);
      CAPTURE(none.tpot->median_ms, fixed.tpot->median_ms, none.ttft->p99_ms, fixed.ttft->p99_ms);
      // It finds out step by step how often drafts are right, and knows of prompts only how many tokens wait.
      CHECK(adaptive.tpot->median_ms < 1.03 * std::min(none.tpot->median_ms, fixed.tpot->median_ms));
    }
  }
}

}  // namespace
}  // namespace inferometer::testing
