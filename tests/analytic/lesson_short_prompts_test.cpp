// What scenarios/short_prompts.yaml teaches: where a step takes the same time whatever it runs, steps are
// what is to be saved.

#include <cmath>
#include <string>

#include "costmodel/step_pricer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/study_file.hpp"

namespace inferometer::testing {
namespace {

const std::string kSlow = "workload.rate=300 req/s";
const std::string kFast = "workload.rate=600 req/s";

Summary run(const std::string& variant, const std::string& rate, std::int64_t seed = 1) {
  return StudyFile("short_prompts.yaml").run(variant, {rate}, seed).summary;
}

TEST_CASE("start-up of kernels and the host take more than half of the time") {
  for (const std::string& rate : {kSlow, kFast}) {
    const TimeSplit split = run("chunked_prefill", rate).time_split;
    CAPTURE(rate);
    CHECK(split.latency + split.host > 0.5);
    CHECK(split.compute < 0.01);
  }
}

TEST_CASE("64 sequences cost a quarter more than one") {
  const Deployment deployment = make_deployment(
      StudyFile("short_prompts.yaml")
          .scenario("chunked_prefill", {"cost_model.host_fixed=0 s", "cost_model.host_per_sequence=0 s"}));
  const auto seconds = [&](std::int64_t batch) {
    const StepShape shape{.decodes = batch, .decode_context = 64 * batch, .sampled_rows = batch};
    return to_seconds(deployment.front().pricers.front()->price(shape).total());
  };
  CHECK(seconds(64) < 1.25 * seconds(1));
}

// With prompts first a sequence decodes only in steps before which nobody arrived: a Poisson stream leaves a
// step of length t alone with probability exp(-rate t), so that 1 / that many steps pass between two tokens.
TEST_CASE("with prompts first a gap is t exp(rate t) where steps take t") {
  for (const auto& [rate, per_second] : {std::pair{kSlow, 300.0}, std::pair{kFast, 600.0}}) {
    for (const std::int64_t seed : {1, 2, 3}) {
      CAPTURE(rate, seed);
      const double step_ms = run("chunked_prefill", rate, seed).tpot->mean_ms;
      const double expected_ms = step_ms * std::exp(per_second * step_ms / 1e3);
      CHECK(run("continuous", rate, seed).tpot->mean_ms == Approx(expected_ms).epsilon(0.07));
      CHECK(expected_ms > 1.8 * step_ms);
    }
  }
}

// Ten tokens are ten steps, the first of which is the prompt's.
TEST_CASE("eight sequences sustain eight over ten steps") {
  const Summary crowded = run("8 sequences", kFast);
  const double step_seconds = crowded.tpot->mean_ms / 1e3;
  CHECK(crowded.request_throughput == Approx(8 / (10 * step_seconds)).epsilon(0.03));
  CHECK(crowded.stability.verdict == QueueStability::unstable);
  CHECK(run("chunked_prefill", kFast).ttft->p99_ms < 10);
}

// A static batch runs for as long as its longest output, 15 tokens, and whoever comes meanwhile waits for
// half of that on average, then for the prompt's own step.
TEST_CASE("a static batch lets prompts wait for half a batch") {
  const Summary batches = run("static", kSlow);
  const double step_ms = batches.tpot->mean_ms;
  CHECK(batches.ttft->mean_ms == Approx((15.0 / 2 + 1) * step_ms).epsilon(0.15));
  CHECK(batches.ttft->mean_ms > 5 * run("chunked_prefill", kSlow).ttft->mean_ms);
}

TEST_CASE("hiding the host behind the GPU saves all of it and a faster GPU less than its bandwidth says") {
  const Summary plain = run("chunked_prefill", kSlow);
  const Summary overlapped = run("host overlapped", kSlow);
  const double host_ms = 0.5 + 0.005 * overlapped.running.mean_busy;
  CHECK(plain.tpot->mean_ms - overlapped.tpot->mean_ms == Approx(host_ms).epsilon(0.1));
  // The A100 costs 39 % less and keeps up.
  const Summary a100 = run("a100", kSlow);
  CHECK(a100.stability.verdict == QueueStability::stable);
  CHECK(a100.money->dollars < 0.62 * plain.money->dollars);
  CHECK(a100.tpot->mean_ms < 2 * plain.tpot->mean_ms);
}

}  // namespace
}  // namespace inferometer::testing
