// What scenarios/speculation_by_load.yaml teaches: a fixed number of drafts gains at low load and loses at
// high load; one that is chosen step by step does as well as the best fixed number or none, at every load.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/study_file.hpp"

namespace inferometer::testing {
namespace {

Summary run(const std::string& variant, const std::string& rate, std::int64_t seed,
            const std::string& drafts = "") {
  static const StudyFile study("speculation_by_load.yaml");
  std::vector<std::string> changes = {"workload.rate=" + rate + " req/s"};
  if (!drafts.empty()) {
    changes.push_back("engine.speculation.num_speculative_tokens=" + drafts);
  }
  return study.run(variant, changes, seed).summary;
}

TEST_CASE("drafts of a fixed number gain at low load and lose at high load") {
  for (const std::int64_t seed : {1, 2}) {
    CAPTURE(seed);
    CHECK(run("eagle", "1", seed).tpot->median_ms < 0.7 * run("none", "1", seed).tpot->median_ms);
    CHECK(run("eagle", "20", seed).tpot->median_ms > 1.1 * run("none", "20", seed).tpot->median_ms);
  }
}

TEST_CASE("drafts chosen step by step are as good as the best fixed number at every load") {
  for (const std::int64_t seed : {1, 2}) {
    for (const char* rate : {"1", "4", "8", "12", "16", "20"}) {
      CAPTURE(seed, rate);
      double best = run("none", rate, seed).tpot->median_ms;
      for (const char* drafts : {"1", "2", "3", "4"}) {
        best = std::min(best, run("eagle", rate, seed, drafts).tpot->median_ms);
      }
      // It finds out step by step how often drafts are right, and knows of prompts only how many tokens wait.
      CHECK(run("adaptive eagle", rate, seed).tpot->median_ms < 1.03 * best);
    }
  }
}

}  // namespace
}  // namespace inferometer::testing
