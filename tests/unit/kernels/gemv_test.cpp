#include "kernels/gemm/gemv.hpp"

#include <array>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "kernels/common/random_element.hpp"
#include "kernels/gemm/gemv_fragments.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

TEST_CASE("e4m3 moved into place is its value over 256", "[gemv]") {
  for (std::uint32_t bits = 0; bits < 256; ++bits) {
    // The pattern in each byte in turn, among others that must not leak into it.
    for (int byte = 0; byte < 4; ++byte) {
      const std::uint32_t others = 0x5a9ce7bdu & ~(0xffu << (8 * byte));
      const Fp16Pairs pairs = fp16_of_e4m3(others | bits << (8 * byte));
      const std::uint32_t pair = byte % 2 == 0 ? pairs.even : pairs.odd;
      const std::uint32_t half = byte / 2 == 0 ? pair & 0xffffu : pair >> 16;
      const double expected =
          (bits & 0x7f) == 0x7f ? (bits == 0x7f ? 480 : -480) : value_of(bits, ElementType::fp8_e4m3);
      REQUIRE(value_of(half, ElementType::fp16) * static_cast<double>(kE4m3OverFp16) == expected);
    }
  }
}

TEST_CASE("a plan covers k and the rows exactly once", "[gemv]") {
  for (const ElementType type : {ElementType::bf16, ElementType::fp8_e4m3}) {
    for (const std::int64_t k : {16, 64, 1024, 4096, 4112, 14336, 28672, 65536}) {
      for (const std::int64_t n : {1, 63, 64, 65, 1024, 4096, 57344, 128256}) {
        for (const int multiprocessors : {1, 58, 108, 132, 148}) {
          const GemvPlan plan = plan_gemv({.m = 3, .n = n, .k = k, .type = type}, multiprocessors);
          REQUIRE((plan.row_blocks - 1) * kGemvRows < n);
          REQUIRE(plan.row_blocks * kGemvRows >= n);
          REQUIRE(std::int64_t{plan.steps} * gemv_step(type) >= k);
          REQUIRE(std::int64_t{plan.steps - 1} * gemv_step(type) < k);
          REQUIRE(plan.splits >= 1);
          REQUIRE(plan.splits <= kGemvMostSplits);
          // Splits lie end to end, none is empty, and together they reach the end.
          REQUIRE((plan.splits - 1) * plan.steps_of_split < plan.steps);
          REQUIRE(plan.splits * plan.steps_of_split >= plan.steps);
          REQUIRE(plan.steps_of_split % (kGemvTurnWarps * kGemvUnroll) == 0);
        }
      }
    }
  }
}

TEST_CASE("few rows are split until the GPU is busy and many are not split", "[gemv]") {
  // 64 blocks of rows on 132 multiprocessors with two blocks each: four splits are 256 blocks of 264.
  CHECK(plan_gemv({.m = 1, .n = 4096, .k = 4096}, 132).splits == 4);
  CHECK(plan_gemv({.m = 1, .n = 128256, .k = 4096}, 132).splits == 1);
  // One turn of all warps cannot be split.
  CHECK(plan_gemv({.m = 1, .n = 64, .k = 256}, 132).splits == 1);
  CHECK(gemv_workspace_bytes({.m = 1, .n = 64, .k = 256}, plan_gemv({.m = 1, .n = 64, .k = 256}, 132)) == 0);
  // 64 counters, and 4 splits of 64 x 64 sums for each of 2 tokens.
  const GemmShape shape{.m = 2, .n = 4096, .k = 4096};
  CHECK(gemv_workspace_bytes(shape, plan_gemv(shape, 132)) == 64 * 4 + 4 * 2 * 4096 * 4);
}

TEST_CASE("results of a warp fill its tile once", "[gemv]") {
  std::set<std::pair<int, int>> places;
  for (int lane = 0; lane < 32; ++lane) {
    for (int part = 0; part < 4; ++part) {
      const ResultPlace place = result_place(lane, part);
      CHECK(place.row < 16);
      CHECK(place.token < 8);
      places.insert({place.row, place.token});
    }
  }
  CHECK(places.size() == 16 * 8);
}

using Registers = std::array<MmaOperands, 32>;

/// mma.m16n8k16 as the PTX ISA defines it: element i (0 to 7) of A in lane (group, member) is row group for i
/// in {0, 1, 4, 5} and group + 8 else, column 2 member + i % 2 and 8 more from i = 4 on; element i (0 to 3)
/// of B is row 2 member + i % 2 and 8 more from i = 2 on, column group. Element i lies in half i % 2 of
/// register i / 2.
void emulated_mma(const Registers& registers, ElementType type, std::array<std::array<double, 8>, 16>& sums) {
  double a[16][16];
  double b[16][8];
  const auto element = [type](std::uint32_t word, int half) {
    return value_of(half == 0 ? word & 0xffffu : word >> 16, type);
  };
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4;
    const int member = lane % 4;
    for (int i = 0; i < 8; ++i) {
      const int row = i == 0 || i == 1 || i == 4 || i == 5 ? group : group + 8;
      a[row][member * 2 + i % 2 + (i >= 4 ? 8 : 0)] =
          element(registers[static_cast<std::size_t>(lane)].a[i / 2], i % 2);
    }
    for (int i = 0; i < 4; ++i) {
      b[member * 2 + i % 2 + (i >= 2 ? 8 : 0)][group] =
          element(registers[static_cast<std::size_t>(lane)].b[i / 2], i % 2);
    }
  }
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      for (std::size_t inner = 0; inner < 16; ++inner) {
        sums[row][column] += a[row][inner] * b[inner][column];
      }
    }
  }
}

/// The bits of 16 rows or 8 tokens of `columns` random elements, row by row.
std::vector<unsigned char> random_rows(int rows, int columns, ElementType type, std::uint64_t seed) {
  const int bytes = bytes_of(type);
  std::vector<unsigned char> matrix(static_cast<std::size_t>(rows * columns * bytes));
  for (int index = 0; index < rows * columns; ++index) {
    const std::uint32_t bits =
        bits_of(static_cast<double>(random_small_element(seed, static_cast<std::uint64_t>(index))), type);
    std::memcpy(matrix.data() + index * bytes, &bits, static_cast<std::size_t>(bytes));
  }
  return matrix;
}

TEST_CASE("a warp's step gives the products of its rows and tokens", "[gemv]") {
  for (const ElementType type : {ElementType::bf16, ElementType::fp16, ElementType::fp8_e4m3}) {
    const bool is_wide = type != ElementType::fp8_e4m3;
    const int columns = gemv_step(type);
    const std::vector<unsigned char> weights = random_rows(16, columns, type, 1);
    const std::vector<unsigned char> input = random_rows(8, columns, type, 2);
    const auto loaded = [](const std::vector<unsigned char>& matrix, int row, int member) {
      Bits16 bits;
      std::memcpy(&bits, matrix.data() + row * 64 + member * 16, 16);
      return bits;
    };
    std::array<std::array<double, 8>, 16> sums{};
    for (int part = 0; part < (is_wide ? kMmasOfWideStep : kMmasOfNarrowStep); ++part) {
      Registers registers;
      for (int lane = 0; lane < 32; ++lane) {
        const Bits16 low = loaded(weights, lane / 4, lane % 4);
        const Bits16 high = loaded(weights, lane / 4 + 8, lane % 4);
        const Bits16 token = loaded(input, lane / 4, lane % 4);
        registers[static_cast<std::size_t>(lane)] =
            is_wide ? wide_operands(low, high, token, part) : narrow_operands(low, high, token, part);
      }
      emulated_mma(registers, is_wide ? type : ElementType::fp16, sums);
    }
    const double scale = is_wide ? 1 : 256.0 * 256.0;
    for (int row = 0; row < 16; ++row) {
      for (int token = 0; token < 8; ++token) {
        double expected = 0;  // elements are the random ones themselves: exact in all three formats
        for (int column = 0; column < columns; ++column) {
          expected += static_cast<double>(
                          random_small_element(1, static_cast<std::uint64_t>(row * columns + column))) *
                      static_cast<double>(
                          random_small_element(2, static_cast<std::uint64_t>(token * columns + column)));
        }
        REQUIRE(scale * sums[static_cast<std::size_t>(row)][static_cast<std::size_t>(token)] == expected);
      }
    }
  }
}

}  // namespace
}  // namespace inferometer::kernels
