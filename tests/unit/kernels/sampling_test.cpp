#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "costmodel/operators.hpp"
#include "kernels/sampling/argmax.hpp"
#include "kernels/sampling/top_p.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("work of sampling equals that of the operator", "[sampling]") {
  const ModelSpec model = load_model("llama-3-8b");
  for (const std::int64_t rows : {1, 3, 256}) {
    const Operator sampling = row_operators(model, 1, rows).back();
    REQUIRE(sampling.name == "sampling");
    CHECK(top_p_work({.rows = rows, .vocab = model.vocab}).flops == sampling.flops.count());
    CHECK(top_p_work({.rows = rows, .vocab = model.vocab}).bytes ==
          static_cast<double>(sampling.hbm_bytes.count()));
    // Greedy: one pass, as spec/scheduling-and-cost.md 2.6 has it.
    CHECK(argmax_work({.rows = rows, .vocab = model.vocab}).bytes ==
          4 * static_cast<double>(rows * model.vocab));
  }
}

TEST_CASE("the largest logit is found with ties to the lowest index", "[argmax]") {
  CHECK(argmax_reference({1, 3, 2, 3}) == 1);
  CHECK(argmax_reference({-5}) == 0);
  CHECK(argmax_reference({kNan, -2, kNan, -1}) == 3);
  CHECK(argmax_reference({-kInfinity, kNan, -kInfinity}) == 0);
  CHECK(argmax_reference({-0.0f, 0.0f}) == 0);
}

TEST_CASE("keys order as logits and then as indices backwards", "[argmax]") {
  const std::array<float, 9> ascending{-kInfinity, -3.4e38f, -1, -1e-40f, 0, 1e-40f, 0.5f, 1e30f, kInfinity};
  const auto key = [](float logit, std::uint32_t index) {
    return argmax_key(std::bit_cast<std::uint32_t>(logit), index);
  };
  for (std::size_t lower = 0; lower < ascending.size(); ++lower) {
    CHECK(key(ascending[lower], 4) > key(ascending[lower], 5));
    CHECK(index_of_argmax_key(key(ascending[lower], 128255)) == 128255);
    for (std::size_t upper = lower + 1; upper < ascending.size(); ++upper) {
      CHECK(key(ascending[upper], 1000) > key(ascending[lower], 0));
    }
  }
  CHECK(key(-kInfinity, 0x7ffffffe) > 0);
}

TEST_CASE("rows are shared by blocks only where there are few", "[argmax]") {
  // One row of 128256 on 132 multiprocessors: 264 parts would be smaller than the least part.
  CHECK(argmax_part({.rows = 1, .vocab = 128256}, 132) == 4096);
  CHECK(argmax_part({.rows = 16, .vocab = 128256}, 132) == 7545);  // 17 blocks a row: ceil(128256 / 17)
  CHECK(argmax_part({.rows = 264, .vocab = 128256}, 132) == 128256);
  CHECK(argmax_part({.rows = 10'000, .vocab = 128256}, 132) == 128256);
  CHECK(argmax_part({.rows = 1, .vocab = 100}, 132) == 100);
}

TEST_CASE("a nucleus worked by hand", "[top_p]") {
  // Weights 4, 2, 1, 1 of 8 at temperature 1; at temperature 2 their square roots.
  const std::vector<float> row{std::log(1.0f), std::log(4.0f), std::log(1.0f), std::log(2.0f)};
  // 0.7: tokens 1 and 3 with weights 4 and 2 of 6; the draw passes token 1 at 2/3.
  CHECK(top_p_reference(row, 1, 0.7f, 0.0).token == 1);
  CHECK(top_p_reference(row, 1, 0.7f, 0.66).token == 1);
  CHECK(top_p_reference(row, 1, 0.7f, 0.67).token == 3);
  // Margins: of the nucleus to 0.7 from 0.5 and 0.75, of the draw from 2/3.
  CHECK(top_p_reference(row, 1, 0.7f, 0.1).margin == Approx(0.05).epsilon(1e-5));
  CHECK(top_p_reference(row, 1, 0.7f, 0.67).margin == Approx(0.67 - 2.0 / 3).epsilon(1e-4));
  // 0.8: the two that tie come in together, and the whole row is drawn from in order of index.
  CHECK(top_p_reference(row, 1, 0.8f, 0.1).token == 0);
  CHECK(top_p_reference(row, 1, 0.8f, 0.13).token == 1);
  CHECK(top_p_reference(row, 1, 0.8f, 0.63).token == 2);
  CHECK(top_p_reference(row, 1, 0.8f, 0.76).token == 3);
  // 0.4: the likeliest alone.
  CHECK(top_p_reference(row, 1, 0.4f, 0.999).token == 1);
  // Temperature 2, everything: 1, 2, 1, sqrt 2 of 5.414.
  CHECK(top_p_reference(row, 2, 1, 0.18).token == 0);
  CHECK(top_p_reference(row, 2, 1, 0.19).token == 1);
  CHECK(top_p_reference(row, 2, 1, 0.74).token == 3);
  CHECK(top_p_reference(row, 2, 1, 0.73).token == 2);
}

TEST_CASE("draws are uniform and follow their counter", "[top_p]") {
  double sum = 0;
  for (std::uint64_t draw = 0; draw < 10'000; ++draw) {
    const double u = uniform_draw(5, draw);
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
  }
  CHECK(std::fabs(sum / 10'000 - 0.5) < 5 * std::sqrt(1.0 / 12 / 10'000));
  CHECK(uniform_draw(5, 1) != uniform_draw(5, 2));
  CHECK(uniform_draw(5, 1) != uniform_draw(6, 1));
}

TEST_CASE("keys order as distances and weights are exact at the ends", "[top_p]") {
  float before = 0;
  for (float distance = 1e-9f; distance < 40; distance *= 1.001f) {
    REQUIRE(distance_key(distance) >= distance_key(before));
    before = distance;
  }
  CHECK(distance_key(0) == 0);
  CHECK(distance_key(1) == 1u << 27);
  CHECK(distance_key(std::nextafter(32.0f, 0.0f)) < 0xffffffffu);
  CHECK(distance_key(32) == 0xffffffffu);
  CHECK(distance_key(kInfinity) == 0xffffffffu);
  CHECK(fixed_weight(0.5f) == 1u << 31);
  CHECK(fixed_weight(1) == 0xffffffffu);
  CHECK(fixed_weight(0) == 0);
  CHECK(fixed_weight(0x1p-32f) == 1);
}

/// What the kernel does to one row, in plain loops: three rounds of bins, then the draw.
std::int32_t emulated_top_p(const std::vector<float>& row, float temperature, float top_p, double draw) {
  const float largest = *std::max_element(row.begin(), row.end());
  const float inverse = 1 / temperature;
  const auto distance = [&](float logit) { return (largest - logit) * inverse; };
  const auto weight = [&](float logit) { return fixed_weight(std::exp(-distance(logit))); };
  std::uint32_t threshold = 0xffffffffu;
  if (top_p < 1) {
    threshold = 0;
    std::uint64_t needed = 0;
    for (const auto& [shift, bits] : {std::pair{21, 11}, {10, 11}, {0, 10}}) {
      std::vector<std::uint64_t> bins(2048);
      std::uint64_t total = 0;
      for (const float logit : row) {
        const std::uint32_t key = distance_key(distance(logit));
        if (shift == 21 || key >> (shift + bits) == threshold) {
          bins[(key >> shift) & ((1u << bits) - 1)] += weight(logit);
          total += weight(logit);
        }
      }
      if (shift == 21) {
        needed =
            static_cast<std::uint64_t>(std::ceil(static_cast<double>(top_p) * static_cast<double>(total)));
      }
      std::uint32_t bin = 0;
      while (bins[bin] < needed) {
        needed -= bins[bin++];
      }
      threshold = threshold << bits | bin;
    }
  }
  std::uint64_t nucleus = 0;
  for (const float logit : row) {
    nucleus += distance_key(distance(logit)) <= threshold ? weight(logit) : 0;
  }
  const auto target = static_cast<std::uint64_t>(draw * static_cast<double>(nucleus));
  std::uint64_t passed = 0;
  for (std::size_t index = 0; index < row.size(); ++index) {
    passed += distance_key(distance(row[index])) <= threshold ? weight(row[index]) : 0;
    if (passed > target) {
      return static_cast<std::int32_t>(index);
    }
  }
  return -1;
}

TEST_CASE("the threshold search agrees with sorting", "[top_p]") {
  int compared = 0;
  for (std::uint64_t round = 0; round < 300; ++round) {
    std::vector<float> row(3000);
    for (std::size_t index = 0; index < row.size(); ++index) {
      // A few likely tokens among many: cubes of [-1, 1) spread logits over [-8, 8).
      const auto u = static_cast<float>(2 * uniform_draw(round, index) - 1);
      row[index] = 8 * u * u * u;
    }
    row[round % row.size()] = -kInfinity;
    const float temperature = round % 3 == 0 ? 0.2f : round % 3 == 1 ? 1.0f : 5.0f;
    const float top_p = round % 4 == 0 ? 1.0f : round % 4 == 1 ? 0.9f : round % 4 == 2 ? 0.5f : 0.01f;
    const double draw = uniform_draw(99, round);
    const TopPChoice expected = top_p_reference(row, temperature, top_p, draw);
    if (expected.margin > kTopPTolerance) {
      ++compared;
      REQUIRE(emulated_top_p(row, temperature, top_p, draw) == expected.token);
    }
  }
  CHECK(compared > 200);
}

TEST_CASE("tokens are drawn as often as their weights say", "[top_p]") {
  const std::vector<float> row{0, std::log(2.0f), std::log(5.0f), -kInfinity};
  std::array<int, 4> times{};
  constexpr int kDraws = 20'000;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    ++times[static_cast<std::size_t>(emulated_top_p(row, 1, 1, uniform_draw(3, draw)))];
  }
  const std::array<double, 4> shares{1.0 / 8, 2.0 / 8, 5.0 / 8, 0};
  for (std::size_t token = 0; token < 4; ++token) {
    const double expected = kDraws * shares[token];
    CHECK(std::fabs(times[token] - expected) <= 5 * std::sqrt(expected));
  }
}

}  // namespace
}  // namespace inferometer::kernels
