// The highest rate of a queue whose limit is known: one server, fixed service, Poisson arrivals.

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/plan_here.hpp"

namespace inferometer::testing {
namespace {

constexpr std::int64_t kPrompt = 700;
constexpr double kTolerance = 0.01;

std::string scenario_text(double rate, std::int64_t requests) {
  return fmt::format(
      "  model: llama-3-8b\n"
      "  hardware: {{gpu: h100-sxm}}\n"
      "  engine: {{policy: chunked_prefill, max_num_seqs: 1}}\n"
      "  workload: {{generator: poisson, exact_duration: false, rate: {:.6f} req/s, requests: {},\n"
      "             prompt: {{distribution: fixed, tokens: {}}}, output: {{distribution: fixed, tokens: "
      "1}}}}\n",
      rate, requests, kPrompt);
}

double service_seconds() {
  const std::string text = scenario_text(1, 1);
  const Scenario scenario =
      load_scenario_tree(*read_yaml_text("base:\n" + text, "md1.yaml").find("base"), "md1.yaml");
  const Deployment deployment = make_deployment(scenario);
  const std::array<ChunkShape, 1> chunk = {{{kPrompt, 0}}};
  return to_seconds(deployment.front().pricers.front()->price({0, 0, 1, chunk}).total());
}

/// M/D/1: the mean wait is rho / (2 (1 - rho)) services, so that a mean of TTFT of 1 + w services is met up
/// to rho = 2 w / (1 + 2 w).
void check_rate(double wait_in_services, double first_load) {
  const double service = service_seconds();
  const double truth = 2 * wait_in_services / (1 + 2 * wait_in_services) / service;
  const std::string text = "base:\n" + scenario_text(first_load / service, 120'000) +
                           fmt::format(
                               "candidates: {{gpu: h100-sxm}}\n"
                               "slo: {{ttft_mean: {:.6f} ms}}\n"
                               "seeds: 3\nsensitivity: false\nsustained_rate: {{of: all, tolerance: {}}}\n",
                               1e3 * service * (1 + wait_in_services), kTolerance);
  const PlanHere plan = plan_here(text);
  REQUIRE(plan.result.shapes.front().sustained);
  const SustainedRate& rate = *plan.result.shapes.front().sustained;
  CAPTURE(wait_in_services, truth, rate.low_per_second, rate.high_per_second, rate.tried.size());
  // 360,000 waits at loads below 0.75: the mean has a relative standard deviation below 1 %, and moves 1 / (1
  // - rho) times as fast as the rate or faster: 0.4 % of the rate. The rate of what arrived scatters by 0.2
  // %.
  constexpr double kNoise = 0.01;
  CHECK(rate.low_per_second < truth * (1 + kNoise));
  CHECK(rate.high_per_second > truth * (1 - kNoise));
  CHECK(rate.high_per_second < rate.low_per_second * (1 + kTolerance + 0.005));
  CHECK(rate.tried.size() <= 11);
}

TEST_CASE("The highest rate of M/D/1 under a limit on the mean wait, from below") {
  check_rate(1.0, 0.3);
}

TEST_CASE("The highest rate of M/D/1 under a limit on the mean wait, from above saturation") {
  check_rate(0.5, 1.4);
}

}  // namespace
}  // namespace inferometer::testing
