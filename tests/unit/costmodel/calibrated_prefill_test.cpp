#include "costmodel/calibrated_prefill.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "costmodel/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_kernels.hpp"

namespace inferometer {
namespace {

constexpr ChunkShape kAnyChunk{1, 0};

/// Prefill attention of Llama-3-8B: 32 layers of 32 heads over 8 KV heads of 128.
struct Priced {
  explicit Priced(const KernelFit& fit, const ModelSpec& model = samples::llama_3_8b(),
                  std::int64_t max_tokens = 8192)
      : profile(samples::profile_of({fit})),
        prefill(kernels, prefill_attention(model, 1, {&kAnyChunk, 1}), max_tokens) {}

  [[nodiscard]] StepCost cost(const std::vector<ChunkShape>& chunks) const {
    StepCost sum;
    prefill.add(chunks, sum, nullptr);
    return sum;
  }
  /// Of one layer.
  [[nodiscard]] double predicted_s(double batch, double length) const {
    KernelCall call{.family = KernelFamily::prefill_attention,
                    .variant = "bf16",
                    .axes = {batch, length, 0, 32, 8, 128, 0}};
    return predicted_seconds(profile.fits[0], call, gpu);
  }

  GpuSpec gpu = samples::measured_gpu();
  KernelProfile profile;
  Roofline roofline{gpu, samples::round_profile(), CostLevel::roofline, in_one_node(1)};
  CalibratedKernels kernels{profile, gpu, roofline, std::nullopt};
  CalibratedPrefill prefill;
};

KernelFit cut_fit() {
  KernelFit fit = samples::prefill_fit();
  fit.trees = samples::cut_at(samples::prefill_length, 700, 0.2, -0.1);
  return fit;
}

/// Each of `parts` is rounded up to a picosecond.
void check_near(Duration time, double seconds, std::size_t parts) {
  const double exact_ps = seconds * 1e12;
  CHECK(static_cast<double>(time.count()) >= exact_ps * (1 - 1e-12) - 1);
  CHECK(static_cast<double>(time.count()) <= exact_ps * (1 + 1e-12) + static_cast<double>(2 * parts));
}

/// 12 us; 4 x 32 x 128 FLOP for each pair and for 50 keys more a query, at 0.25 of 1000 TFLOPS; 2 x 2 x 8 x
/// 128 B a key and 2 x 2 x 32 x 128 B a query, at 0.5 of 1 TB/s; 32 layers.
double formula_s(double pairs, double queries, double keys) {
  const double compute = 4 * 32 * 128 * (pairs + 50 * queries) / 0.25e15;
  const double bandwidth = (4 * 8 * 128 * keys + 4 * 32 * 128 * queries) / 0.5e12;
  return 32 * (12e-6 + std::max(compute, bandwidth));
}

TEST_CASE("prefill attention: a batch of whole prompts takes what it was predicted to") {
  const Priced priced(cut_fit());
  for (const std::int64_t length : {1, 2, 3, 4, 6, 48, 96, 512, 768, 1024, 3072}) {
    for (const std::int64_t batch : {1, 2, 16}) {
      CAPTURE(length, batch);
      const auto b = static_cast<double>(batch);
      const auto n = static_cast<double>(length);
      const std::vector<ChunkShape> prompts(static_cast<std::size_t>(batch), ChunkShape{length, 0});
      const double factor = std::exp(length <= 700 ? 0.2 : -0.1);
      const double seconds = formula_s(b * n * (n + 1) / 2, b * n, b * n) * factor;
      check_near(priced.cost(prompts).total(), seconds, prompts.size());
      CHECK(32 * priced.predicted_s(b, n) == Approx(seconds));
    }
  }
}

TEST_CASE("prefill attention: between knots of the length the factor runs straight") {
  const Priced priced(cut_fit());
  // 640 lies midway between 512 and 768, as its own number of tokens does.
  const double factor = (std::exp(0.2) + std::exp(-0.1)) / 2;
  check_near(priced.cost({{640, 0}}).total(), formula_s(640 * 641 / 2, 640, 640) * factor, 640 * 128);
}

TEST_CASE("prefill attention: a chunk takes as long as the prompts that are as much work") {
  const Priced priced(cut_fit());
  // 512 tokens after 768 cached ones are a quarter of a prompt of 512 + 2 x 768 = 2048 tokens.
  check_near(priced.cost({{512, 768}}).total(), 32 * priced.predicted_s(0.25, 2048), 1);
  const double pairs = 512.0 * 768 + 512.0 * 513 / 2;
  check_near(priced.cost({{512, 768}}).total(), formula_s(pairs, 512, 1280) * std::exp(-0.1), 1);
  // 128 after 448: of 1024 tokens, beyond the cut; 128 after 192: of 512, below it.
  check_near(priced.cost({{128, 448}}).total(),
             formula_s(128.0 * 448 + 128.0 * 129 / 2, 128, 576) * std::exp(-0.1), 1);
  check_near(priced.cost({{128, 192}}).total(),
             formula_s(128.0 * 192 + 128.0 * 129 / 2, 128, 320) * std::exp(0.2), 1);
}

TEST_CASE("prefill attention: a step's chunks add up") {
  const Priced priced(cut_fit());
  const ChunkShape first{256, 0}, second{256, 5000};
  const StepCost mixed = priced.cost({first, second});
  CHECK(priced.cost({second, first}) == mixed);
  CHECK(priced.cost({first, first}) + priced.cost({second, second}) == mixed * 2);
  // The launch is one for all: 12 us a layer, by the tokens of each.
  const Priced plain(samples::prefill_fit());
  check_near(plain.cost({{100, 0}, {300, 50}, {12, 4000}}).latency, 32 * 12e-6, 3);
}

TEST_CASE("prefill attention: for a chunk of one size straight in its past up to the next knot") {
  const Priced priced(cut_fit());
  for (std::int64_t past = 0; past < 20'000; past += 37) {
    CAPTURE(past);
    const std::vector<ChunkShape> chunks{{64, past}};
    StepLine line;
    StepCost cost;
    priced.prefill.add(chunks, cost, &line);
    const Duration first = cost.total();
    CHECK(cost == priced.cost(chunks));
    for (std::int64_t step = 0; step < std::min<std::int64_t>(line.steps, 40); ++step) {
      CHECK(priced.cost({{64, past + 64 * step}}).total() == first + line.growth.total() * step);
    }
    CHECK(line.growth.total() >= Duration());
  }
}

TEST_CASE("prefill attention: within a full window the past costs nothing more") {
  ModelSpec model = samples::llama_3_8b();
  model.sliding_window = 1024;
  const Priced priced(samples::prefill_fit(), model);
  // Each of 256 queries sees 1024 keys, all of them together 1024 + 255.
  const double seconds = formula_s(256 * 1024, 256, 1279);
  for (const std::int64_t past : {2000, 10'000, 100'000}) {
    check_near(priced.cost({{256, past}}).total(), seconds, 1);
  }
  check_near(priced.cost({{512, 0}}).total(), formula_s(512 * 513 / 2, 512, 512), 1);
}

TEST_CASE("prefill attention: extrapolated in whole beyond the longest measured, else not at all") {
  const Priced priced(samples::prefill_fit());  // measured from 16 to 4096 tokens
  for (const ChunkShape& inside : {ChunkShape{4096, 0}, ChunkShape{1, 0}, ChunkShape{96, 2000}}) {
    CHECK(priced.cost({inside}).extrapolated == Duration());
  }
  // 5000 runs straight from 4096, which was measured, to 6144.
  CHECK(priced.cost({{5000, 0}}).extrapolated == Duration());
  for (const ChunkShape& outside : {ChunkShape{6144, 0}, ChunkShape{8, 3068}}) {
    CHECK(priced.cost({outside}).extrapolated == priced.cost({outside}).total());
  }
  const ChunkShape small{64, 0}, large{64, 6000};
  // Of two chunks the one that was not: half of a step of two such.
  CHECK(priced.cost({small, large}).extrapolated * 2 == priced.cost({large, large}).total());
  ModelSpec wide = samples::llama_3_8b();
  wide.head_dim = 256;  // no head of that size was measured
  CHECK(Priced(samples::prefill_fit(), wide).cost({{64, 0}}).extrapolated ==
        Priced(samples::prefill_fit(), wide).cost({{64, 0}}).total());
}

TEST_CASE("prefill attention: the size of the table changes nothing") {
  const Priced small(cut_fit(), samples::llama_3_8b(), 1), large(cut_fit());
  RandomStream random(7, "chunks");
  const auto up_to = [&random](std::uint64_t most) {
    return 1 + static_cast<std::int64_t>(random.below(most));
  };
  for (int i = 0; i < 500; ++i) {
    std::vector<ChunkShape> chunks;
    for (std::int64_t count = up_to(3); count > 0; --count) {
      chunks.push_back({up_to(5000), up_to(2) == 1 ? 0 : up_to(2'000'000)});
    }
    CHECK(small.cost(chunks) == large.cost(chunks));
  }
}

}  // namespace
}  // namespace inferometer
