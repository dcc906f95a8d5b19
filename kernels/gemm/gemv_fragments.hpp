#pragma once

// Which lane holds what in the products of gemv.cu, apart from the kernel so that the host tests it.
//
// mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"): lane = 4 group + member. The lane holds of A,
// in this order of registers, row group at columns (2 member, 2 member + 1), row group + 8 at the same, then
// both rows at those columns + 8; of B, column group at rows (2 member, 2 member + 1), then at those rows +
// 8; of the result, row group at columns (2 member, 2 member + 1), then row group + 8 at the same.
//
// A sum over k may run in any order as long as both factors take the same: lane (group, member) reads 16
// bytes of k in a row, from rows group and group + 8 of the weights and from token group, and hands pairs of
// them to the mma in the order in which they lie.

#include <cstdint>

#include "kernels/common/e4m3_pair.hpp"

namespace inferometer::kernels {

/// What a lane loads at once: 8 elements of 16 bit, or 16 of 8 bit.
struct alignas(16) Bits16 {
  std::uint32_t words[4];
};

/// A lane's registers of one mma: of A (weights) and B (tokens).
struct MmaOperands {
  std::uint32_t a[4];
  std::uint32_t b[2];
};

inline constexpr int kMmasOfWideStep = 2;    // that consume a lane's 8 elements of 16 bit
inline constexpr int kMmasOfNarrowStep = 4;  // ... or its 16 of 8 bit

/// Product `part` of a step in bf16 or fp16.
INFEROMETER_HOST_DEVICE constexpr MmaOperands wide_operands(const Bits16& low_row, const Bits16& high_row,
                                                            const Bits16& token, int part) {
  const int first = 2 * part;
  return {{low_row.words[first], high_row.words[first], low_row.words[first + 1], high_row.words[first + 1]},
          {token.words[first], token.words[first + 1]}};
}

/// Product `part` of a step in e4m3, both factors as fp16 of 1 / kE4m3OverFp16 of their values.
INFEROMETER_HOST_DEVICE constexpr MmaOperands narrow_operands(const Bits16& low_row, const Bits16& high_row,
                                                              const Bits16& token, int part) {
  const Fp16Pairs low = fp16_of_e4m3(low_row.words[part]);
  const Fp16Pairs high = fp16_of_e4m3(high_row.words[part]);
  const Fp16Pairs input = fp16_of_e4m3(token.words[part]);
  return {{low.even, high.even, low.odd, high.odd}, {input.even, input.odd}};
}

/// Where a lane's sum number `part` (0 to 3) lies in the tile of 16 rows of weights by 8 tokens.
struct ResultPlace {
  int row;
  int token;
};

INFEROMETER_HOST_DEVICE constexpr ResultPlace result_place(int lane, int part) {
  return {lane / 4 + part / 2 * 8, lane % 4 * 2 + part % 2};
}

}  // namespace inferometer::kernels
