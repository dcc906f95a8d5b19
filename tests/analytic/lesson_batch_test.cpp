// What scenarios/batching_stops_helping.yaml teaches: sequences share the weights and not their KV caches, so
// that throughput bends where a step reads as much of the one as of the other.

#include <string>

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/study_file.hpp"

namespace inferometer::testing {
namespace {

// Llama-3.1-8B in bf16: matrix parameters with lm_head, keys and values of 32 layers with 8 heads of 128.
constexpr double kWeightBytes = 2 * 7.505e9;
constexpr double kKvBytesPerToken = 2 * 32 * 8 * 128 * 2;
constexpr double kBandwidth = 3.35e12;

/// Tokens that the average decode attends to: prompts of 1000 on average, outputs evenly from 2000 to 6000,
/// of which longer ones have more decodes: E[o^2] / (2 E[o]).
constexpr double kContext = 1000 + (4000.0 * 4000 + 4000.0 * 4000 / 12) / (2 * 4000);
constexpr double kKvBytes = kKvBytesPerToken * kContext;
constexpr double kBend = kWeightBytes / kKvBytes;

std::string sequences(double count) {
  return fmt::format("engine.max_num_seqs={:.0f}", count);
}

const std::vector<std::string> kBytesAlone = {
    "cost_model={level: datasheet, host_fixed: 0 s, host_per_sequence: 0 s}"};

Summary run(const StudyFile& study, const std::string& variant, std::vector<std::string> changes = {}) {
  return study.run(variant, changes).summary;
}

double decode_step_seconds(const Summary& summary) {
  const PhaseSummary& decode = summary.phases[static_cast<std::size_t>(StepPhase::decode)];
  return decode.seconds / static_cast<double>(decode.steps);
}

// Activations add 2 % to what is read, the last sequences run in smaller batches than allowed.
TEST_CASE("a decode step takes as long as reading the weights once and every KV cache") {
  const StudyFile study("batching_stops_helping.yaml");
  for (const int batch : {8, 16, 32, 64}) {
    CAPTURE(batch);
    const Summary summary = run(study, fmt::format("{} sequences", batch), kBytesAlone);
    CHECK(decode_step_seconds(summary) ==
          Approx((kWeightBytes + batch * kKvBytes) / kBandwidth).epsilon(0.04));
  }
}

TEST_CASE("at 36 sequences a step reads as much KV as weights and throughput is half of its limit") {
  CHECK(kBend == Approx(36.2).epsilon(0.002));
  const StudyFile study("batching_stops_helping.yaml");
  std::vector<std::string> changes = kBytesAlone;
  changes.push_back(sequences(kBend));
  const Summary bend = run(study, "32 sequences", changes);
  CHECK(decode_step_seconds(bend) == Approx(2 * kWeightBytes / kBandwidth).epsilon(0.04));
  // Of prompts, 3 %.
  CHECK(bend.output_throughput == Approx(0.5 * kBandwidth / kKvBytes).epsilon(0.06));
}

// T(B) = B / (a + b B) with bend a / b: T(2 B) / T(B) = 2 (a + b B) / (a + 2 b B), 1.80 at an eighth of the
// bend, 1.33 at it, 1.11 at four times it. Kernels' start-up and the host add to a, and so shift the bend
// from 36 to 50 sequences.
TEST_CASE("each doubling of the batch gains less: nearly twice at first and a quarter at 64") {
  const StudyFile study("batching_stops_helping.yaml");
  double previous_gain = 2;
  double before = run(study, "8 sequences").output_throughput;
  for (const int batch : {16, 32, 64, 128}) {
    CAPTURE(batch);
    const double now = run(study, fmt::format("{} sequences", batch)).output_throughput;
    const double expected = 2 * (50.0 + batch / 2.0) / (50.0 + batch);
    CHECK(now / before == Approx(expected).epsilon(0.05));
    CHECK(now / before < previous_gain);
    previous_gain = now / before;
    before = now;
  }
}

// 447,000 tokens of KV cache on this GPU are 141 sequences: beyond that the limit is another one.
TEST_CASE("more sequences than the KV cache holds are preempted and gain nothing") {
  const StudyFile study("batching_stops_helping.yaml");
  const Summary full = run(study, "256 sequences");
  CHECK(full.running.mean_busy ==
        Approx(16.0 * static_cast<double>(full.kv_blocks) / kContext).epsilon(0.06));
  CHECK(full.preemptions > 1000);
  CHECK(full.output_throughput < run(study, "128 sequences").output_throughput);
}

// With 148 tokens instead of 3,167 the bend would be at 774 sequences.
TEST_CASE("short contexts go on gaining where long ones have stopped") {
  const StudyFile study("batching_stops_helping.yaml");
  const std::vector<std::string> brief = {"workload.prompt={distribution: uniform, min: 20, max: 60}",
                                          "workload.output={distribution: uniform, min: 100, max: 300}"};
  const auto gain = [&](const std::vector<std::string>& changes) {
    return run(study, "128 sequences", changes).output_throughput /
           run(study, "64 sequences", changes).output_throughput;
  };
  CHECK(gain({}) < 1.35);
  CHECK(gain(brief) > 1.55);
}

}  // namespace
}  // namespace inferometer::testing
