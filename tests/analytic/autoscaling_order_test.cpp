// What a pool that follows its traffic saves, and what that costs: a day whose rate swings by a factor of
// five, compressed to five minutes, on replicas that need 10 s to start.

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/paired_runs.hpp"

namespace inferometer::testing {
namespace {

constexpr const char* kScenario =
    "model: llama-3-8b\n"
    "hardware: {gpu: h100-sxm}\n"
    "engine: {policy: chunked_prefill, max_num_seqs: 32}\n"
    "cluster:\n"
    "  router: least_outstanding\n"
    "  start_up: {boot: 10 s}\n"
    "workload:\n"
    "  generator: diurnal\n"
    "  rate: 36 req/s\n"
    "  peak_to_trough: 5\n"
    "  peak_at: 150 s\n"
    "  day: 300 s\n"
    "  requests: 10000\n"
    "  prompt: {distribution: log_normal, mean: 500, sigma: 1, max: 4096}\n"
    "  output: {distribution: log_normal, mean: 150, sigma: 1, max: 2048}\n";

constexpr const char* kFixed = "cluster.pools={mixed: {replicas: 6}}";
constexpr const char* kStart = "cluster.pools={mixed: {replicas: 2}}";
constexpr const char* kFollowing =
    "cluster.autoscaling=[{pool: mixed, target_outstanding: 16, min: 1, max: 6, interval: 5 s, "
    "scale_down_after: 20 s}]";

double dollars(const Summary& summary) {
  return summary.money->dollars;
}
double p99_ttft(const Summary& summary) {
  return summary.ttft->p99_ms;
}

TEST_CASE("a pool that follows the day costs less than one sized for its peak and answers later") {
  const std::vector<Summary> fixed = run_seeds(kScenario, {kFixed});
  const std::vector<Summary> following = run_seeds(kScenario, {kStart, kFollowing});
  CHECK(is_positive(differences(fixed, following, dollars)));
  // Six for the whole day, against what its mean needs and what a start takes.
  CHECK(interval(differences(fixed, following, dollars)).mean > 0.2 * dollars(fixed.front()));
  CHECK(is_positive(differences(following, fixed, p99_ttft)));
}

}  // namespace
}  // namespace inferometer::testing
