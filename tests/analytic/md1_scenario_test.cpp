// The whole program as a server of one slot and fixed service: prompts of one length, one token out, Poisson
// arrivals from a scenario. The mean wait is that of M/D/1, with the service time of the real cost model.

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/scenario_run.hpp"

namespace inferometer::testing {
namespace {

constexpr std::int64_t kPrompt = 700;

std::string scenario_at(double rate, std::int64_t requests) {
  return fmt::format(
      "model: llama-3-8b\n"
      "hardware: {{gpu: h100-sxm}}\n"
      "engine: {{policy: chunked_prefill, max_num_seqs: 1}}\n"
      "workload:\n"
      "  generator: poisson\n"
      "  exact_duration: false\n"
      "  rate: {:.6f} req/s\n"
      "  requests: {}\n"
      "  prompt: {{distribution: fixed, tokens: {}}}\n"
      "  output: {{distribution: fixed, tokens: 1}}\n"
      "seed: 3\n",
      rate, requests, kPrompt);
}

// The mean of N waits has a relative variance of 8 / N and 16 / N at loads 0.3 and 0.6: 3 % are four standard
// deviations and more.
void check_mean_wait(double load, std::int64_t requests) {
  const Deployment deployment = make_deployment(load_scenario_text(scenario_at(1, 1), "test.yaml"));
  const std::array<ChunkShape, 1> chunk = {{{kPrompt, 0}}};
  const double service = to_seconds(deployment.front().pricers.front()->price({0, 0, 1, chunk}).total());
  const Summary summary = run_scenario(scenario_at(load / service, requests)).summary;
  const double theory_ms = load / (2 * (1 - load)) * service * 1e3;
  CAPTURE(load, service, summary.queue_delay->mean_ms, theory_ms);
  CHECK(std::abs(summary.queue_delay->mean_ms - theory_ms) < 0.03 * theory_ms);
  CHECK(summary.e2el->min_ms == Approx(service * 1e3));
  // Utilisation and Little's law of the same queue.
  CHECK(1 - summary.time_split.idle == Approx(load).epsilon(0.01));
  CHECK(summary.waiting.mean_total == Approx(load * load / (2 * (1 - load))).epsilon(0.04));
  // One slot, one step a request: the capacity is one over the service time.
  CHECK(*summary.stability.load == Approx(summary.stability.offered_per_second * service).epsilon(1e-6));
  CHECK(summary.stability.verdict == QueueStability::stable);
}

TEST_CASE("M/D/1 through a scenario at load 0.3") {
  check_mean_wait(0.3, 150'000);
}
TEST_CASE("M/D/1 through a scenario at load 0.6") {
  check_mean_wait(0.6, 300'000);
}

}  // namespace
}  // namespace inferometer::testing
