// Prefill attention's work and reference.

#include "kernels/attention/prefill_attention.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "costmodel/kernels/kernel_work.hpp"
#include "costmodel/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace inferometer::kernels {
namespace {

constexpr std::array<std::array<double, 2>, 3> kKeys = {{{1, 0}, {0, 1}, {1, 1}}};
constexpr std::array<std::array<double, 2>, 3> kValues = {{{1, 10}, {2, 20}, {4, 40}}};

std::vector<double> reference(const std::vector<double>& query, std::int64_t position, std::int64_t window) {
  return prefill_attention_reference(
      query, position, window,
      [](auto at, auto column) { return kKeys.at(static_cast<std::size_t>(at)).at(column); },
      [](auto at, auto column) { return kValues.at(static_cast<std::size_t>(at)).at(column); });
}

}  // namespace

TEST_CASE("the reference: cases worked by hand") {
  // A first token sees itself only; likewise any token with a window of 1.
  CHECK(reference({3, 5}, 0, 0) == std::vector<double>{1, 10});
  CHECK(reference({3, 5}, 2, 1) == std::vector<double>{4, 40});
  // Query 0: every score is 0, the output is the mean.
  CHECK(reference({0, 0}, 2, 0).at(1) == Approx(70.0 / 3));
  CHECK(reference({0, 0}, 2, 2).at(1) == Approx(30));
  // Query (sqrt(2) ln 2, 0): scores ln 2, 0, ln 2, so weights 2 : 1 : 2.
  const std::vector<double> output = reference({std::sqrt(2.0) * std::log(2.0), 0}, 2, 0);
  CHECK(output.at(0) == Approx((2 * 1 + 2 + 2 * 4) / 5.0));
  CHECK(output.at(1) == Approx((2 * 10 + 20 + 2 * 40) / 5.0));
}

TEST_CASE("work of batches of equal sequences is the cost model's") {
  testing::Dice dice(2, "prefill work");
  for (int round = 0; round < 500; ++round) {
    const std::int64_t kv_heads = dice.between(1, 8);
    PrefillAttentionShape shape{.batch = dice.between(1, 20),
                                .heads = kv_heads * dice.between(1, 8),
                                .kv_heads = kv_heads,
                                .head_dim = dice.one_of({64, 128, 256}),
                                .window = dice.chance(50) ? 0 : dice.between(1, 5000)};
    const PrefillSequence sequence{dice.between(1, 9000), dice.chance(30) ? 0 : dice.between(1, 9000)};
    const std::vector<PrefillSequence> batch(static_cast<std::size_t>(shape.batch), sequence);
    KernelCall call{.family = KernelFamily::prefill_attention, .variant = "bf16"};
    const auto axis = [](std::int64_t count) { return static_cast<double>(count); };
    call.axes = {axis(shape.batch),    axis(sequence.tokens), axis(sequence.past), axis(shape.heads),
                 axis(shape.kv_heads), axis(shape.head_dim),  axis(shape.window)};
    const KernelWork expected = kernel_work(call);
    const Work work = prefill_attention_work(shape, batch);
    CHECK(work.flops == expected.flops);
    CHECK(work.bytes == expected.hbm_bytes);
  }
}

TEST_CASE("work of ragged batches is that of the cost model's pairs and keys") {
  testing::Dice dice(3, "ragged prefill work");
  for (int round = 0; round < 200; ++round) {
    PrefillAttentionShape shape{.heads = 24, .kv_heads = 8, .head_dim = 128};
    shape.window = dice.chance(50) ? 0 : dice.between(1, 3000);
    const auto window = shape.window > 0 ? std::optional(shape.window) : std::nullopt;
    std::vector<PrefillSequence> batch;
    double pairs = 0;
    double keys = 0;
    double tokens = 0;
    for (std::int64_t i = dice.between(1, 9); i > 0; --i) {
      batch.push_back({dice.between(1, 4000), dice.between(0, 4000)});
      const ChunkShape chunk{.tokens = batch.back().tokens, .past = batch.back().past};
      pairs += static_cast<double>(attention_pairs(chunk, window));
      keys += static_cast<double>(attention_keys(chunk, window));
      tokens += static_cast<double>(chunk.tokens);
    }
    batch.push_back({0, 100});  // brings nothing, costs nothing
    const Work work = prefill_attention_work(shape, batch);
    CHECK(work.flops == 4 * 24 * 128 * pairs);
    CHECK(work.bytes == 2 * 2 * (keys * 8 * 128 + tokens * 24 * 128));
  }
}

}  // namespace inferometer::kernels
