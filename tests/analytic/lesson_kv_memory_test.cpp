// What scenarios/memory_before_compute.yaml teaches: an A100 is full of KV caches before its decode steps are
// compute-bound, and what a step reads matters more than what fits.

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/study_file.hpp"

namespace inferometer::testing {
namespace {

constexpr double kPeak = 312e12;
constexpr double kBandwidth = 2.039e12;
constexpr double kRidge = kPeak / kBandwidth;

/// Prompts of 400 tokens on average, outputs evenly from 500 to 1500: E[o^2] / (2 E[o]) of them.
constexpr double kContext = 400 + (1000.0 * 1000 + 1000.0 * 1000 / 12) / (2 * 1000);

struct Model {
  const char* variant;
  double matrix_parameters, kv_bytes_per_token;
  double attention_flops;  ///< of a decode, for each token it attends to: 4 x layers x heads x head size
};
constexpr Model kMha7 = {"llama-2-7b", 6.607e9, 524'288, 4.0 * 32 * 4096};
constexpr Model kMha13 = {"llama-2-13b", 12.85e9, 819'200, 4.0 * 40 * 5120};
constexpr Model kGqa8 = {"llama-3-8b", 7.505e9, 131'072, 4.0 * 32 * 4096};

ScenarioRun run(const std::string& variant, const std::vector<std::string>& changes = {}) {
  return StudyFile("memory_before_compute.yaml").run(variant, changes);
}

double kv_tokens(const ScenarioRun& result) {
  return 16.0 * static_cast<double>(result.summary.kv_blocks);
}

double decode_mfu(const ScenarioRun& result) {
  return *result.summary.phases[static_cast<std::size_t>(StepPhase::decode)].mfu;
}

TEST_CASE("as many sequences run as the KV cache holds: at 942 tokens fewer than the ridge point for MHA") {
  CHECK(kContext == Approx(942).epsilon(0.001));
  for (const Model& model : {kMha7, kMha13}) {
    CAPTURE(model.variant);
    const ScenarioRun result = run(model.variant);
    CHECK(result.summary.kv_share(static_cast<double>(result.summary.kv_occupancy_blocks.peak)) > 0.999);
    CHECK(result.summary.running.mean_busy == Approx(kv_tokens(result) / kContext).epsilon(0.05));
    CHECK(result.summary.running.mean_busy < kRidge);
  }
  const ScenarioRun gqa = run(kGqa8.variant);
  CHECK(gqa.summary.running.mean_busy > 2.5 * kRidge);
}

// Sequences at which the cache is full, over the ridge point: the context from which on memory is what ends
// first. To the token, as 16 tokens are the size of a block.
TEST_CASE("the context from which memory ends before the linear layers are compute-bound") {
  CHECK(kv_tokens(run(kMha7.variant)) / kRidge == Approx(767).epsilon(0.001));
  CHECK(kv_tokens(run(kMha13.variant)) / kRidge == Approx(391).epsilon(0.001));
  CHECK(kv_tokens(run(kGqa8.variant)) / kRidge == Approx(2876).epsilon(0.001));
}

// A full GPU reads all it holds in every step, and does a fixed work for each sequence: the share of the peak
// follows from bytes and FLOPs. By the datasheet, where the longer of the two is the step's time; GQA's
// linear layers are compute-bound, its attention is not, and their times add up.
TEST_CASE("MFU of a full GPU by closed form") {
  const std::vector<std::string> datasheet = {
      "cost_model={level: datasheet, host_fixed: 0 s, host_per_sequence: 0 s}"};
  for (const Model& model : {kMha7, kMha13}) {
    CAPTURE(model.variant);
    const ScenarioRun result = run(model.variant, datasheet);
    const double sequences = kv_tokens(result) / kContext;
    const double flops = sequences * (2 * model.matrix_parameters + model.attention_flops * kContext);
    const double bytes = 2 * model.matrix_parameters + kv_tokens(result) * model.kv_bytes_per_token;
    CHECK(flops / bytes < kRidge / 6);
    CHECK(decode_mfu(result) == Approx(flops / bytes / kRidge).epsilon(0.06));
  }
}

TEST_CASE("GQA and fp8 KV caches gain far more than four times the memory") {
  const double mha = run(kMha7.variant).summary.output_throughput;
  CHECK(run("llama-2-7b with 4 x the KV blocks").summary.output_throughput < 1.2 * mha);
  CHECK(run("llama-2-7b with 4 x the KV blocks").summary.running.mean_busy > 400);
  CHECK(run("llama-2-7b with an fp8 KV cache").summary.output_throughput > 1.5 * mha);
  CHECK(run(kGqa8.variant).summary.output_throughput > 2.3 * mha);
  CHECK(decode_mfu(run(kGqa8.variant)) > 2.5 * decode_mfu(run(kMha7.variant)));
}

}  // namespace
}  // namespace inferometer::testing
