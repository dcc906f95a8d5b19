#include "sim/scenario/deployment.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"

namespace inferometer {
namespace {

Deployment deployment_of(const std::vector<std::string>& changes, const std::string& model = "llama-3-8b") {
  const std::string text = "model: " + model +
                           "\nhardware: {gpu: h100-sxm}\n"
                           "cost_model: {level: roofline}\n"
                           "workload: {preset: azure-conversation, rate: 1 req/s, requests: 10}\n";
  return make_deployment(load_scenario_text(text, "a.yaml", {changes, {}}));
}

Diagnostic mistake_of(const std::vector<std::string>& changes, const std::string& model = "llama-3-8b") {
  try {
    deployment_of(changes, model);
  } catch (const ConfigError& error) {
    REQUIRE(error.diagnostics().size() == 1);
    return error.diagnostics().front();
  }
  FAIL("there is no mistake");
  return {};
}

// Weights: 8.03 G parameters in 2 bytes. The engine has 0.9 of 85.06 GB. Activations and the rest are under 2
// GB. A token's KV: 2 * 32 layers * 8 heads * 128 * 2 B = 131,072 B, a block of 16 tokens 2 MiB.
TEST_CASE("blocks fill the memory that weights leave, one of them V1's null block") {
  const Deployment v1 = deployment_of({});
  const double left = 0.9 * 85.06e9 - 16.06e9;
  CHECK(static_cast<double>(v1.front().limits.total_blocks) < left / (16 * 131'072));
  CHECK(static_cast<double>(v1.front().limits.total_blocks) > (left - 2e9) / (16 * 131'072));
  CHECK(v1.front().limits.total_blocks == v1.front().memory.blocks.count() - 1);
  CHECK(v1.front().replica.blocks.count() == v1.front().limits.total_blocks);
  for (const char* policy : {"static", "orca", "continuous", "sarathi"}) {
    const Deployment other = deployment_of({std::string("engine.policy=") + policy});
    CAPTURE(policy);
    CHECK(other.front().limits.total_blocks == other.front().memory.blocks.count());
  }
}

TEST_CASE("a block count as the engine logs it is taken as it is, but for the null block") {
  CHECK(deployment_of({"engine.num_gpu_blocks=1000"}).front().limits.total_blocks == 999);
  CHECK(deployment_of({"engine.policy=orca", "engine.num_gpu_blocks=1000"}).front().limits.total_blocks ==
        1000);
  check_says(mistake_of({"engine.num_gpu_blocks=1"}).message, {"num_gpu_blocks", "chunked_prefill keeps 1"});
}

TEST_CASE("a block count also runs what would not fit") {
  CHECK(deployment_of({"engine.num_gpu_blocks=1000"}, "llama-3-70b").front().limits.total_blocks == 999);
}

TEST_CASE("max_model_len is the model's, cut with a note to what the cache holds") {
  const Deployment roomy = deployment_of({});
  CHECK(roomy.front().limits.max_model_len == 8192);
  CHECK(roomy.notes.empty());

  const Deployment tight = deployment_of({"engine.num_gpu_blocks=101"});
  CHECK(tight.front().limits.max_model_len == 1600);  // 100 blocks of 16
  CHECK(tight.front().replica.max_model_len == 1600);
  REQUIRE(tight.notes.size() == 1);
  check_says(tight.notes[0], {"cut from 8192 to the 1600"});

  // 512 blocks hold 8192 tokens exactly: nothing to cut.
  CHECK(deployment_of({"engine.num_gpu_blocks=513"}).notes.empty());
  CHECK(deployment_of({"engine.num_gpu_blocks=512"}).front().limits.max_model_len == 8176);
}

TEST_CASE("admission's watermark leaves less room for one sequence") {
  // A tenth of 1000 blocks stays free.
  const Deployment sarathi =
      deployment_of({"engine.policy=sarathi", "engine.num_gpu_blocks=500", "engine.watermark=0.1"});
  CHECK(sarathi.front().limits.max_model_len == 450 * 16);
}

TEST_CASE("a max_model_len that was asked for is refused where it does not fit") {
  CHECK(deployment_of({"engine.num_gpu_blocks=101", "engine.max_model_len=1600"})
            .front()
            .limits.max_model_len == 1600);
  const Diagnostic mistake = mistake_of({"engine.num_gpu_blocks=101", "engine.max_model_len=1601"});
  CHECK(mistake.message ==
        "engine.max_model_len is 1601 tokens, but the KV cache holds one sequence of 1600 at most");
  check_says(to_string(mistake.where), {"engine.max_model_len=1601"});
}

TEST_CASE("a max_model_len beyond the model's is taken, with a note") {
  const Deployment longer = deployment_of({"engine.max_model_len=10000"});
  CHECK(longer.front().limits.max_model_len == 10'000);
  REQUIRE(longer.notes.size() == 1);
  check_says(longer.notes[0], {"10000", "8192"});
}

// 70.6 G parameters in 2 bytes are 141.1 GB, of a budget of 76.6 GB on each GPU: two GPUs leave 6 GB each.
TEST_CASE("a model that does not fit: by how much, and over how many GPUs it would") {
  const Diagnostic mistake = mistake_of({}, "llama-3-70b");
  CHECK(to_string(mistake.where) == "a.yaml:2:17");
  const MemoryFootprint two = deployment_of({"hardware.tensor_parallel=2"}, "llama-3-70b").front().memory;
  const double missing = 141.1 + 0.85 + 1.05 - 0.9 * 85.06;  // weights, activations, the rest
  CHECK(missing == Approx(66.46).margin(0.05));
  check_says(mistake.message, {"66.4", "too little", "tensor_parallel: 2 would fit"});
  CHECK(two.fits());
}

}  // namespace
}  // namespace inferometer
