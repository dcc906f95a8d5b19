// What scenarios/burst_while_booting.yaml teaches: while a replica boots a queue builds, and who is in it
// waits for all of it.

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/study_file.hpp"

namespace inferometer::testing {
namespace {

// Six parts of the day, weighed 1, 1, 8, 8, 8 and 1, 24 req/s on average.
constexpr double kBurstRate = 24 * 8 / ((3 * 1 + 3 * 8) / 6.0);

Summary run(const std::string& variant, std::int64_t seed = 1) {
  return StudyFile("burst_while_booting.yaml").run(variant, {}, seed).summary;
}

/// Requests a second of one replica, as each run estimates it from its own requests.
double capacity(const Summary& summary) {
  return summary.stability.offered_per_second / *summary.stability.load /
         static_cast<double>(summary.replicas);
}

// One replica serves C of R that arrive a second, and each second adds R / C - 1 to the wait.
TEST_CASE("each second of boot adds rate over capacity less one to the longest wait") {
  for (const std::int64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Summary slow = run("boots for 120 s", seed), fast = run("boots for 60 s", seed);
    const double expected = kBurstRate / capacity(slow) - 1;
    CHECK((slow.ttft->max_ms - fast.ttft->max_ms) / 60e3 == Approx(expected).epsilon(0.08));
  }
}

// Until there are two, those who run at once do not wait: 256 of them. 5 s pass before the load is looked at
// and 0.4 s while 16 GB of weights are loaded at 40 GB/s.
TEST_CASE("the longest wait is what the burst brings until help comes over what one replica serves") {
  const Summary slow = run("boots for 120 s");
  const double waiting = (kBurstRate - capacity(slow)) * (120 + 5.4) - 256;
  CHECK(slow.ttft->max_ms / 1e3 == Approx(waiting / capacity(slow)).epsilon(0.1));
}

TEST_CASE("boot time costs latency and no money and a spare replica some money and no latency") {
  const Summary slow = run("boots for 120 s"), fast = run("boots for 20 s"), spare = run("one to spare");
  CHECK(slow.money->dollars == Approx(fast.money->dollars).epsilon(0.01));
  CHECK(slow.ttft->p99_ms > 4 * fast.ttft->p99_ms);
  CHECK(spare.ttft->p99_ms < 500);
  CHECK(spare.money->dollars > 1.1 * slow.money->dollars);
  CHECK(spare.money->dollars < 1.25 * slow.money->dollars);
}

TEST_CASE("two replicas all the time beat a pool that wants four too late") {
  const Summary slow = run("boots for 120 s"), two = run("two all the time");
  CHECK(two.money->dollars < 0.75 * slow.money->dollars);
  CHECK(two.ttft->p99_ms < 0.01 * slow.ttft->p99_ms);
  CHECK(*two.goodput_share > 0.98);
  CHECK(*slow.goodput_share < 0.7);
}

}  // namespace
}  // namespace inferometer::testing
