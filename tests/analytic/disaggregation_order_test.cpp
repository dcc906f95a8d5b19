// What is to be expected of prefill and decode on GPUs of their own, against the same four GPUs together:
// Llama-3-8B on H100, whose prompts are bound by compute and whose decodes by memory.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/paired_runs.hpp"

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
  return {"engine.policy=disaggregated", "engine.preset=distserve",
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

// Prefill replicas to decode replicas as the time that prompts take to the time that outputs take.
TEST_CASE("the best split moves with the ratio of prompt to output") {
  struct Case {
    Lengths lengths;
    int best_prefill = 0;
  };
  for (const Case& each : {Case{{256, 512}, 1}, Case{{2000, 200}, 2}, Case{{4000, 64}, 3}}) {
    const std::string text = scenario(each.lengths, "generator: all_at_once\n  requests: 400");
    const std::vector<Summary> best = run_seeds(text, split(each.best_prefill, 4 - each.best_prefill));
    for (const int other : {1, 2, 3}) {
      if (other != each.best_prefill) {
        CAPTURE(each.lengths.prompt, each.best_prefill, other);
        CHECK(is_positive(differences(best, run_seeds(text, split(other, 4 - other)), throughput)));
      }
    }
  }
}

}  // namespace
}  // namespace inferometer::testing
