// What is to be expected of prefill and decode on GPUs of their own, against the same four GPUs together:
// Llama-3-8B on H100, whose prompts are bound by compute and whose decodes by memory.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/paired_runs.hpp"
#include "tests/support/scenario_run.hpp"

namespace inferometer::testing {
namespace {

struct Lengths {
  int prompt = 0, output = 0;  // means
};

std::string scenario(const Lengths& lengths, const std::string& arrivals) {
  return fmt::format(
      "model: llama-3-8b\n"
      "hardware: {{gpu: h100-sxm}}\n"
      "engine: {{policy: chunked_prefill, max_num_seqs: 256, max_num_batched_tokens: 2048}}\n"
      "workload:\n"
      "  {}\n"
      "  prompt: {{distribution: log_normal, mean: {}, sigma: 0.5, max: 7000}}\n"
      "  output: {{distribution: log_normal, mean: {}, sigma: 0.5, max: 1024}}\n",
      arrivals, lengths.prompt, lengths.output);
}

std::string poisson(double rate, int requests) {
  return fmt::format("generator: poisson\n  rate: {} req/s\n  requests: {}", rate, requests);
}

std::vector<std::string> together() {
  return {"cluster={pools: {mixed: {replicas: 4}}, hardware: dgx-h100, router: least_tokens}"};
}

/// The context replica emits the first token, the decode replica fetches the KV: DistServe's way.
std::vector<std::string> split(int prefill, int decode) {
  return {"engine.policy=disaggregated", "engine.system=distserve",
          fmt::format("cluster={{pools: {{prefill: {{replicas: {}}}, decode: {{replicas: {}}}}}, "
                      "hardware: dgx-h100, prefill_router: least_tokens, decode_router: least_outstanding}}",
                      prefill, decode)};
}

double p99_itl(const Summary& summary) {
  return summary.itl->p99_ms;
}
double mean_e2el(const Summary& summary) {
  return summary.e2el->mean_ms;
}
double throughput(const Summary& summary) {
  return summary.request_throughput;
}

constexpr Lengths kLongPrompts = {4000, 200};

// Together, a chunk of 2048 tokens of somebody's prompt lengthens one gap in ten or so to that chunk's time,
// some 50 ms. Apart, a gap is a decode step, whatever is prefilled.
TEST_CASE("disaggregation keeps long prompts out of the gaps between tokens") {
  const std::string text = scenario(kLongPrompts, poisson(12, 1000));
  const std::vector<Summary> mixed = run_seeds(text, together());
  const std::vector<Summary> apart = run_seeds(text, split(2, 2));
  CHECK(is_positive(differences(mixed, apart, p99_itl)));
  CHECK(interval(differences(mixed, apart, p99_itl)).mean > 20);
  CHECK(is_positive(differences(mixed, apart, mean_e2el)));
}

// With a request in the system now and then nobody is in anybody's way: what is left of the split is that its
// decodes share half the GPUs, and that each prompt's KV has to cross.
TEST_CASE("disaggregation at light load only costs") {
  const std::string text = scenario(kLongPrompts, poisson(1, 300));
  const std::vector<Summary> mixed = run_seeds(text, together());
  const std::vector<Summary> apart = run_seeds(text, split(2, 2));
  CHECK(is_positive(differences(apart, mixed, mean_e2el)));
  CHECK(is_positive(differences(apart, mixed, p99_itl)));
}

// A step together uses compute for its prompts while it reads weights and KV for its decodes, and no GPU
// waits for the other kind of work. So with a backlog the same GPUs serve more requests than in any split of
// them, even the best: disaggregation buys latency with throughput.
TEST_CASE("with a backlog no split serves as many as the same GPUs together") {
  const std::string text = scenario({2000, 200}, "generator: all_at_once\n  requests: 400");
  const std::vector<Summary> mixed = run_seeds(text, together());
  for (const int prefill : {1, 2, 3}) {
    CAPTURE(prefill);
    CHECK(is_positive(differences(mixed, run_seeds(text, split(prefill, 4 - prefill)), throughput)));
  }
}

// One replica for long outputs, three for short prompts: prompts are done at once and wait, their KV held
// where they were computed, for room at the decode replica. They are a queue as any other.
TEST_CASE("prompts that wait for a decode replica without room are an unstable queue") {
  const std::string text = scenario({256, 512}, poisson(100, 6000));
  const Summary starved = run_scenario(text, split(3, 1)).summary;
  CHECK(*starved.stability.load > 2);
  CHECK(starved.stability.verdict == QueueStability::unstable);
  const Summary fed = run_scenario(scenario({256, 512}, poisson(50, 6000)), split(1, 3)).summary;
  CHECK(*fed.stability.load < 0.8);
  CHECK(fed.stability.verdict == QueueStability::stable);
}

/// Of four replicas, so many for prefill serve more of a backlog than any other number.
void check_best_split(const Lengths& lengths, int prefill) {
  const std::string text = scenario(lengths, "generator: all_at_once\n  requests: 400");
  const std::vector<Summary> best = run_seeds(text, split(prefill, 4 - prefill));
  for (const int other : {1, 2, 3}) {
    if (other != prefill) {
      CAPTURE(other);
      CHECK(is_positive(differences(best, run_seeds(text, split(other, 4 - other)), throughput)));
    }
  }
}

// The best split moves with the traffic: prefill replicas are to decode replicas as the time that prompts
// take is to the time that outputs take.
TEST_CASE("short prompts and long outputs want one replica in four for prefill") {
  check_best_split({256, 512}, 1);
}
TEST_CASE("prompts ten times as long as outputs want half of the replicas for prefill") {
  check_best_split({2000, 200}, 2);
}
TEST_CASE("long prompts and short outputs want three replicas in four for prefill") {
  check_best_split({4000, 64}, 3);
}

// One prefill replica cannot keep up with these prompts, three can. Replicas that go over while the backlog
// grows get there, later than who had known.
TEST_CASE("a split that follows its load ends up between the wrong split and the right one") {
  const std::string text = scenario({4000, 64}, poisson(25, 1500));
  std::vector<std::string> following = split(1, 3);
  following.push_back("cluster.dynamic_split={interval: 2 s}");
  const std::vector<Summary> wrong = run_seeds(text, split(1, 3));
  const std::vector<Summary> moving = run_seeds(text, following);
  const std::vector<Summary> right = run_seeds(text, split(3, 1));
  CHECK(is_positive(differences(wrong, moving, mean_e2el)));
  CHECK(is_positive(differences(moving, right, mean_e2el)));
  // No load is claimed of pools that change.
  CHECK(wrong.front().stability.load.has_value());
  CHECK_FALSE(moving.front().stability.load.has_value());
  CHECK(moving.front().cluster->replica_moves > 0);
}

}  // namespace
}  // namespace inferometer::testing
