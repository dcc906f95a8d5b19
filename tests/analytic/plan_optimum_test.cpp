// A plan against everything that it could have run: the same least cost, for a fifth of the runs at most.

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/plan_here.hpp"

namespace inferometer::testing {
namespace {

/// 12 shapes in 24 sizes: 288 candidates.
std::string plan_of(const std::string& workload, const std::string& rest) {
  return "base:\n"
         "  model: llama-3-8b\n"
         "  hardware: {gpu: h100-sxm}\n"
         "  engine: {policy: chunked_prefill, max_num_batched_tokens: 2048}\n"
         "  workload: " +
         workload +
         "\n"
         "candidates:\n"
         "  gpu: [a100-80gb-sxm, h100-sxm, h200-sxm]\n"
         "  tensor_parallel: [1, 2]\n"
         "  max_num_batched_tokens: [512, 2048]\n"
         "  replicas: 1..24\n"
         "seeds: 1\n"
         "sustained_rate: {of: none}\n"
         "sensitivity: false\n" +
         rest;
}

void check_against_all(const std::string& text) {
  constexpr std::int64_t kCandidates = 288;
  const PlanHere plan = plan_here(text);
  const std::optional<double> least = least_cost_of_all(text);
  CAPTURE(plan.runs, plan.result.best.has_value(), least.value_or(-1));
  CHECK(plan.result.candidates == kCandidates);
  CHECK(plan.runs == plan.result.evaluations);
  CHECK(plan.runs <= kCandidates / 5);
  REQUIRE(plan.result.best.has_value() == least.has_value());
  if (least) {
    const ShapeResult& best = plan.result.shapes[*plan.result.best];
    CHECK(best.assessments[*best.smallest].size.cost == Approx(*least).epsilon(1e-12));
  }
}

TEST_CASE("A plan of 288 candidates finds what running them all finds: chat with both limits") {
  check_against_all(plan_of("{preset: azure-conversation, rate: 60 req/s, requests: 1200}",
                            "slo: {ttft_p99: 1 s, tpot_p95: 40 ms}\n"));
}

TEST_CASE("A plan of 288 candidates finds what running them all finds: a limit that few GPUs meet") {
  check_against_all(plan_of("{preset: azure-conversation, rate: 90 req/s, requests: 1200}",
                            "slo: {ttft_p90: 300 ms, tpot_mean: 9 ms}\n"));
}

TEST_CASE("A plan of 288 candidates finds what running them all finds: by power and goodput") {
  check_against_all(plan_of("{generator: poisson, lengths: sharegpt, rate: 80 req/s, requests: 1200}",
                            "slo: {ttft: 500 ms, tpot: 30 ms, goodput_min: 0.95}\nminimize: watts\n"));
}

TEST_CASE("A plan of 288 candidates finds what running them all finds: none meets") {
  check_against_all(
      plan_of("{preset: azure-conversation, rate: 90 req/s, requests: 800}", "slo: {ttft_p50: 8 ms}\n"));
}

TEST_CASE("Leaving out what is proven changes no answer and saves runs") {
  std::int64_t pruned_runs = 0, all_runs = 0;
  for (const char* slo :
       {"slo: {ttft_p99: 1 s, tpot_p95: 40 ms}\n", "slo: {ttft_p99: 300 ms, tpot_mean: 9 ms}\n",
        "slo: {e2el_p90: 6 s}\n", "slo: {itl_p99: 12 ms}\n", "slo: {ttft_p50: 8 ms}\n"}) {
    const std::string text = plan_of("{preset: azure-conversation, rate: 120 req/s, requests: 600}", slo);
    const PlanHere pruned = plan_here(text);
    const PlanHere whole = plan_here(text + "prune: false\n");
    CAPTURE(slo, pruned.runs, whole.runs);
    REQUIRE(pruned.result.best.has_value() == whole.result.best.has_value());
    pruned_runs += pruned.runs;
    all_runs += whole.runs;
    if (pruned.result.best) {
      const ShapeResult& a = pruned.result.shapes[*pruned.result.best];
      const ShapeResult& b = whole.result.shapes[*whole.result.best];
      CHECK(a.assessments[*a.smallest].size.cost == b.assessments[*b.smallest].size.cost);
      CHECK(a.name == b.name);
    }
  }
  CHECK(pruned_runs < all_runs);
}

}  // namespace
}  // namespace inferometer::testing
