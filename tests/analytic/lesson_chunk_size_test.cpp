// What scenarios/chunk_size_a100.yaml and chunk_size_h100.yaml teach: up to the ridge point a larger chunk is
// nearly free, beyond it every token of the budget is paid for in ITL.

#include <array>
#include <string>

#include "costmodel/step_pricer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/study_file.hpp"

namespace inferometer::testing {
namespace {

constexpr const char* kDatasheet = "cost_model.level=datasheet";

struct Gpu {
  StudyFile study;
  double ridge;           ///< FLOP/B: peak over bandwidth of its datasheet
  const char* high_rate;  ///< of the study
};
Gpu a100() {
  return {StudyFile("chunk_size_a100.yaml"), 312e12 / 2.039e12, "workload.rate=4 req/s"};
}
Gpu h100() {
  return {StudyFile("chunk_size_h100.yaml"), 989e12 / 3.35e12, "workload.rate=10 req/s"};
}

/// Tokens a second of steps that are the first chunk of a prompt, over those of 2048 tokens; without the
/// host.
double rate_share(const Gpu& gpu, std::int64_t tokens, std::vector<std::string> changes) {
  changes.insert(changes.end(), {"cost_model.host_fixed=0 s", "cost_model.host_per_sequence=0 s"});
  const Deployment deployment = make_deployment(gpu.study.scenario("256 tokens", changes));
  const auto rate = [&](std::int64_t size) {
    const std::array<ChunkShape, 1> chunk = {{{size, 0}}};
    const StepShape shape{.sampled_rows = 1, .chunks = chunk};
    return static_cast<double>(size) / to_seconds(deployment.front().pricers.front()->price(shape).total());
  };
  return rate(tokens) / rate(2048);
}

// T tokens do 2 T FLOPs with a weight of two bytes: T FLOP/B, so that below the ridge a step takes as long as
// reading the weights and T tokens reach T / ridge of the peak.
TEST_CASE("by the datasheets a chunk of 256 tokens fills an A100 and not an H100") {
  CHECK(rate_share(a100(), 128, {kDatasheet}) < 128 / a100().ridge);
  CHECK(rate_share(a100(), 256, {kDatasheet}) > 0.97);
  CHECK(rate_share(h100(), 128, {kDatasheet}) < 128 / h100().ridge);
  CHECK(rate_share(h100(), 256, {kDatasheet}) < 256 / h100().ridge);
  CHECK(rate_share(h100(), 512, {kDatasheet}) > 0.97);
}

TEST_CASE("measured kernels reach their rate later: both GPUs want 512 tokens") {
  for (const Gpu& gpu : {a100(), h100()}) {
    CAPTURE(gpu.ridge);
    CHECK(rate_share(gpu, 256, {}) < 0.8);
    CHECK(rate_share(gpu, 512, {}) > 0.88);
  }
  CHECK(rate_share(a100(), 256, {}) > 1.1 * rate_share(h100(), 256, {}));
}

Summary run(const Gpu& gpu, const std::string& variant, std::int64_t seed) {
  return gpu.study.run(variant, {gpu.high_rate}, seed).summary;
}

TEST_CASE("with 256 tokens an A100 computes a third of the time and an H100 next to none") {
  for (const std::int64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    CHECK(run(a100(), "128 tokens", seed).time_split.compute < 0.05);
    CHECK(run(a100(), "256 tokens", seed).time_split.compute > 0.3);
    CHECK(run(h100(), "256 tokens", seed).time_split.compute < 0.03);
    CHECK(run(h100(), "512 tokens", seed).time_split.compute > 0.15);
  }
}

/// How many times as high a metric is with the larger chunk.
struct Trade {
  double itl, ttft;
};
Trade trade(const Gpu& gpu, const std::string& smaller, const std::string& larger, std::int64_t seed) {
  const Summary before = run(gpu, smaller, seed), after = run(gpu, larger, seed);
  return {after.itl->p99_ms / before.itl->p99_ms, after.ttft->p50_ms / before.ttft->p50_ms};
}

TEST_CASE("below the ridge a larger chunk gains much TTFT for little ITL and beyond it the reverse") {
  for (const std::int64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Trade below = trade(h100(), "128 tokens", "256 tokens", seed);
    CHECK(below.itl < 1.25);
    CHECK(below.ttft < 0.6);
    for (const Gpu& gpu : {a100(), h100()}) {
      CAPTURE(gpu.ridge);
      const Trade beyond = trade(gpu, "512 tokens", "1024 tokens", seed);
      CHECK(beyond.itl > 1.6);
      CHECK(beyond.ttft > 0.8);
      CHECK(beyond.ttft < 1);
    }
  }
}

}  // namespace
}  // namespace inferometer::testing
