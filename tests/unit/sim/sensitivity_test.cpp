// How far latencies move with the length of steps. One slot, prompts of one length, one output token: a
// request is one step, whose length S the pricer says, and queues are worked out by hand.

#include "sim/scenario/sensitivity.hpp"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/scenario_run.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kPrompt = 700;

std::string one_slot(const std::string& workload) {
  return fmt::format(
      "model: llama-3-8b\nhardware: {{gpu: h100-sxm}}\nengine: {{max_num_seqs: 1}}\n"
      "workload: {{{}, prompt: {{distribution: fixed, tokens: {}}}, output: {{distribution: fixed, tokens: "
      "1}}}}\n"
      "seed: 3\n",
      workload, kPrompt);
}

double service_seconds() {
  const Deployment deployment = make_deployment(
      load_scenario_text(one_slot("generator: constant, rate: 1 req/s, requests: 1"), "a.yaml"));
  const std::array<ChunkShape, 1> chunk = {{{kPrompt, 0}}};
  return to_seconds(deployment.front().pricers.front()->price({0, 0, 1, chunk}).total());
}

Sensitivity sensitivity_of(const std::string& workload, double step_time,
                           const std::vector<std::string>& changes = {}) {
  const testing::ScenarioRun run = testing::run_scenario(one_slot(workload), changes);
  return *estimate_sensitivity(run.scenario, run.deployment, run.summary, step_time);
}

}  // namespace

TEST_CASE("requests alone take longer by as much as their steps") {
  const Sensitivity found = sensitivity_of("generator: constant, rate: 0.1 req/s, requests: 20", 0.05,
                                           {"workload.output.tokens=50", "cost_model.frontend_latency=2 ms"});
  CHECK(found.step_time == 0.05);
  for (const char* metric :
       {"mean_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "mean_itl_ms", "mean_e2el_ms", "p99_e2el_ms"}) {
    CAPTURE(metric);
    const Sensitivity::Change* const change = found.find(metric);
    REQUIRE(change != nullptr);
    // Picoseconds are whole: seven digits are left of a millisecond.
    CHECK(change->longer == Approx(0.05).margin(1e-7));
    CHECK(change->shorter == Approx(-0.05).margin(1e-7));
  }
  CHECK(found.find("request_throughput") == nullptr);
}

TEST_CASE("a queue that grows moves with the difference of service and arrivals") {
  // Request k of n arrives at k g and leaves at (k + 1) S, g = S / 2: on average S + (n - 1) / 2 (S - g).
  const double service = service_seconds(), gap = service / 2;
  constexpr std::int64_t kRequests = 400;
  const auto mean = [&](double s) { return s + (kRequests - 1) / 2.0 * (s - gap); };
  const Sensitivity found = sensitivity_of(
      fmt::format("generator: constant, rate: {:.12f} req/s, requests: {}", 1 / gap, kRequests), 0.1);
  const Sensitivity::Change& change = *found.find("mean_ttft_ms");
  CHECK(change.longer == Approx(mean(1.1 * service) / mean(service) - 1).epsilon(1e-4));
  CHECK(change.shorter == Approx(mean(0.9 * service) / mean(service) - 1).epsilon(1e-4));
  CHECK(change.longer > 0.19);  // nearly twice the share
}

TEST_CASE("near saturation a small change of steps is a large one of waits: M/D/1") {
  // At load r a request takes S (1 + r / (2 (1 - r))) on average. At 0.8 that is 3 S; steps 5 % longer make
  // it 1.05 S (1 + 0.84 / 0.32) = 3.806 S, 5 % shorter 0.95 S (1 + 0.76 / 0.48) = 2.454 S. The runs have
  // the same arrivals, so that most of the noise of 200,000 waits is the same in all three.
  const Sensitivity found = sensitivity_of(
      fmt::format("generator: poisson, exact_duration: false, rate: {:.9f} req/s, requests: 200000",
                  0.8 / service_seconds()),
      0.05);
  CHECK(found.find("mean_ttft_ms")->longer == Approx(3.80625 / 3 - 1).epsilon(0.08));
  CHECK(found.find("mean_ttft_ms")->shorter == Approx(2.4541667 / 3 - 1).epsilon(0.08));
}

TEST_CASE("clients of a closed loop think as long as before") {
  // Two clients that think for S / 2 share the slot, which never idles: a cycle takes each 2 S, of which it
  // waits for 2 S - S / 2. With steps 10 % longer that is 2.2 S - S / 2, 1.7 of 1.5.
  const double service = service_seconds();
  const std::string loop = fmt::format(
      "generator: closed_loop, clients: 2, think_times: fixed, think_time: {:.9f} ms, requests: 4000",
      1e3 * service / 2);
  const Sensitivity::Change change = *sensitivity_of(loop, 0.1).find("mean_e2el_ms");
  CHECK(change.longer == Approx(1.7 / 1.5 - 1).epsilon(2e-3));
  CHECK(change.shorter == Approx(1.3 / 1.5 - 1).epsilon(2e-3));
}

TEST_CASE("large runs are repeated only where it is asked for") {
  const auto wanted = [](const std::string& more, std::int64_t requests) {
    return sensitivity_wanted(
        load_scenario_text(one_slot("generator: constant, rate: 1 req/s, requests: 1") + more, "a.yaml"),
        requests);
  };
  CHECK(wanted("", kMostRequestsUnasked) == 0.05);
  CHECK(wanted("", kMostRequestsUnasked + 1) == 0);
  CHECK(wanted("sensitivity: {step_time: 0.2}\n", kMostRequestsUnasked + 1) == 0.2);
  CHECK(wanted("sensitivity: {step_time: 0}\n", 1) == 0);
}

TEST_CASE("a run that is ended says nothing") {
  const testing::ScenarioRun run =
      testing::run_scenario(one_slot("generator: constant, rate: 1 req/s, requests: 100000"));
  CHECK_FALSE(estimate_sensitivity(run.scenario, run.deployment, run.summary, 0.05, [] { return false; }));
}

}  // namespace inferometer
