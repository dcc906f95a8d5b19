// What queueing theory says about routers, on eight replicas with room for 16 requests each and outputs of
// very different lengths: a few long answers hold seats for long, and a router that does not see them sends
// requests to wait behind them. Poisson arrivals at four fifths of what the replicas can take.

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/paired_runs.hpp"

namespace inferometer::testing {
namespace {

constexpr const char* kScenario =
    "model: llama-3-8b\n"
    "hardware: {gpu: h100-sxm}\n"
    "engine: {policy: chunked_prefill, max_num_seqs: 16}\n"
    "cluster: {pools: {mixed: {replicas: 8}}}\n"
    "workload:\n"
    "  generator: poisson\n"
    "  rate: 68 req/s\n"
    "  requests: 6000\n"
    "  prompt: {distribution: fixed, tokens: 256}\n"
    "  output: {distribution: log_normal, mean: 200, sigma: 1.2, max: 4096}\n";

std::vector<Summary> with_router(const std::string& router) {
  return run_seeds(kScenario, {"cluster.router=" + router});
}

/// Of a change as a ratio: waits differ by factors between one draw of lengths and the next.
double log_p99_ttft(const Summary& summary) {
  return std::log(summary.ttft->p99_ms);
}
double log_mean_ttft(const Summary& summary) {
  return std::log(summary.ttft->mean_ms);
}

void check_load(const std::vector<Summary>& runs) {
  double mean = 0;
  for (const Summary& run : runs) {
    mean += *run.stability.load / static_cast<double>(runs.size());
  }
  CHECK(mean == Approx(0.8).margin(0.03));
}

// Mitzenmacher, The power of two choices in randomized load balancing (1996): at load rho the share of queues
// of length i or more falls from rho^i to rho^(2^i - 1).
TEST_CASE("two choices beat one in the tail") {
  const std::vector<Summary> random = with_router("random");
  const std::vector<Summary> two = with_router("power_of_two");
  const std::vector<Summary> two_by_requests = with_router("{policy: power_of_two, load: requests}");
  check_load(random);
  CHECK(is_positive(differences(random, two, log_p99_ttft)));
  CHECK(is_positive(differences(random, two, [](const Summary& run) { return run.e2el->p99_ms; })));
  // Seats are what is scarce here, and a request takes one, however many tokens it has.
  CHECK(is_positive(differences(two, two_by_requests, log_p99_ttft)));
  // Not by a little.
  CHECK(interval(differences(random, two_by_requests, log_p99_ttft)).mean > std::log(10));
}

// Taking turns is fair to requests of one length. With the lengths of these, turns come to busy replicas too.
TEST_CASE("the fewest outstanding beat taking turns where lengths differ") {
  const std::vector<Summary> turns = with_router("round_robin");
  const std::vector<Summary> fewest = with_router("least_outstanding");
  CHECK(is_positive(differences(turns, fewest, log_p99_ttft)));
  CHECK(is_positive(differences(turns, fewest, log_mean_ttft)));
}

// Taking turns smooths arrivals, of which chance sends several to one replica.
TEST_CASE("taking turns beats chance") {
  CHECK(is_positive(differences(with_router("random"), with_router("round_robin"), log_mean_ttft)));
}

// Mitzenmacher, How useful is old information? (2000): all that come between two looks go to the replica
// that had the fewest at the first of them, 68 requests to one with room for 16. Of two drawn at random it is
// seldom that one.
TEST_CASE("old news send a herd to the replica with the fewest and do less harm to two choices") {
  const std::vector<Summary> fewest = with_router("least_outstanding");
  const std::vector<Summary> two = with_router("{policy: power_of_two, load: requests}");
  const std::vector<Summary> fewest_old = with_router("{policy: least_outstanding, state_interval: 1 s}");
  const std::vector<Summary> two_old =
      with_router("{policy: power_of_two, load: requests, state_interval: 1 s}");
  const std::vector<double> harm = differences(fewest_old, fewest, log_mean_ttft);
  const std::vector<double> harm_to_two = differences(two_old, two, log_mean_ttft);
  CHECK(is_positive(harm));
  CHECK(is_positive(harm_to_two));
  std::vector<double> more_harm;
  for (std::size_t i = 0; i < harm.size(); ++i) {
    more_harm.push_back(harm[i] - harm_to_two[i]);
  }
  CHECK(is_positive(more_harm));
  CHECK(is_positive(differences(fewest_old, two_old, log_p99_ttft)));
  // The herd is worse off than with no news at all; two choices still gain by theirs.
  const std::vector<Summary> random = with_router("random");
  CHECK(is_positive(differences(fewest_old, random, log_mean_ttft)));
  CHECK(is_positive(differences(random, two_old, log_mean_ttft)));
}

}  // namespace
}  // namespace inferometer::testing
