// What scenarios/h100_or_a100_decode.yaml and h100_or_a100_prefill.yaml teach: decoding buys bandwidth,
// prompts buy FLOPs, and GPUs differ in what they charge for either.

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/study_file.hpp"

namespace inferometer::testing {
namespace {

struct Gpu {
  const char* name;
  double dollars_per_hour, flops, bandwidth;
};
constexpr Gpu kA100 = {"a100", 1.80, 312e12, 2.039e12};
constexpr Gpu kH100 = {"h100", 2.95, 989e12, 3.35e12};
constexpr Gpu kH200 = {"h200", 3.80, 989e12, 4.8e12};

const std::vector<std::string> kBytesAlone = {
    "cost_model={level: datasheet, host_fixed: 0 s, host_per_sequence: 0 s}"};

double decode_dollars(const Gpu& gpu, const std::string& sequences,
                      const std::vector<std::string>& changes = {}) {
  return *StudyFile("h100_or_a100_decode.yaml")
              .run(gpu.name + (" with " + sequences + " sequences"), changes)
              .summary.money->dollars_per_million_output_tokens;
}
double prefill_dollars(const Gpu& gpu, const std::vector<std::string>& changes = {}) {
  return *StudyFile("h100_or_a100_prefill.yaml")
              .run(gpu.name, changes)
              .summary.money->dollars_per_million_tokens;
}

double byte_price(const Gpu& gpu) {
  return gpu.dollars_per_hour / gpu.bandwidth;
}
double flop_price(const Gpu& gpu) {
  return gpu.dollars_per_hour / gpu.flops;
}

TEST_CASE("by the datasheets decoding costs what a byte does and prompts cost what a FLOP does") {
  CHECK(byte_price(kA100) / byte_price(kH100) == Approx(1.00).epsilon(0.005));
  CHECK(flop_price(kA100) / flop_price(kH100) == Approx(1.93).epsilon(0.005));
  const double h100 = decode_dollars(kH100, "64", kBytesAlone);
  CHECK(decode_dollars(kA100, "64", kBytesAlone) / h100 ==
        Approx(byte_price(kA100) / byte_price(kH100)).epsilon(0.03));
  CHECK(decode_dollars(kH200, "64", kBytesAlone) / h100 ==
        Approx(byte_price(kH200) / byte_price(kH100)).epsilon(0.03));
  // Decode steps and elementwise kernels between the prompts: a tenth of the time, by bytes.
  CHECK(prefill_dollars(kA100, kBytesAlone) / prefill_dollars(kH100, kBytesAlone) ==
        Approx(flop_price(kA100) / flop_price(kH100)).epsilon(0.1));
}

TEST_CASE("the H100 is a little cheaper for decoding and much cheaper for prompts") {
  const double decode = decode_dollars(kA100, "64") / decode_dollars(kH100, "64");
  const double prefill = prefill_dollars(kA100) / prefill_dollars(kH100);
  CHECK(decode > 1.05);
  CHECK(decode < 1.2);
  CHECK(prefill > 1.5);
  CHECK(prefill < flop_price(kA100) / flop_price(kH100));
}

// Beyond 153 sequences the linear layers of an A100 are compute-bound.
TEST_CASE("large batches make decoding dear on the A100") {
  CHECK(decode_dollars(kA100, "256") / decode_dollars(kH100, "256") >
        1.08 * decode_dollars(kA100, "64") / decode_dollars(kH100, "64"));
}

// Contexts of some 4,000 tokens: 447,000 tokens of KV cache hold 100 sequences, an H200 has room for 220.
TEST_CASE("with long contexts and many sequences the H200 is the cheapest") {
  const std::vector<std::string> thinking = {"workload.prompt={distribution: uniform, min: 1000, max: 3000}",
                                             "workload.output={distribution: uniform, min: 2000, max: 6000}"};
  const double h200 = decode_dollars(kH200, "256", thinking);
  CHECK(h200 < 0.95 * decode_dollars(kH100, "256", thinking));
  CHECK(h200 < 0.75 * decode_dollars(kA100, "256", thinking));
}

// What it pays for is bandwidth, and kernels' start-up and the host do not shrink with it.
TEST_CASE("the H200 is dearer than the H100 where contexts are short") {
  for (const char* sequences : {"64", "256"}) {
    CAPTURE(sequences);
    CHECK(decode_dollars(kH200, sequences) > 1.02 * decode_dollars(kH100, sequences));
  }
  CHECK(prefill_dollars(kH200) > 1.2 * prefill_dollars(kH100));
}

}  // namespace
}  // namespace inferometer::testing
