#pragma once

// The warp instructions of decode attention on the host, all 32 lanes at once, written from the figures of
// the PTX ISA and not from the kernel: what the kernel's index maps are tested against.

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/common/element_type.hpp"

namespace inferometer::kernels::emulated {

template <class Value>
using Lanes = std::array<Value, 32>;

using Word = std::uint32_t;

/// value_of() of 16-bit formats by table: an emulated product takes millions.
inline float value16(Word bits, ElementType type) {
  static const auto table_of = [](ElementType format) {
    std::vector<float> values(65536);
    for (Word pattern = 0; pattern < 65536; ++pattern) {
      values[pattern] = static_cast<float>(value_of(pattern, format));
    }
    return values;
  };
  static const std::vector<float> bf16 = table_of(ElementType::bf16);
  static const std::vector<float> fp16 = table_of(ElementType::fp16);
  return (type == ElementType::bf16 ? bf16 : fp16)[bits & 0xffffu];
}

/// ldmatrix .m8n8.x4: addresses are byte offsets in `shared`. Each lane gets units 2 t, 2 t + 1 of row g of
/// each matrix.
inline Lanes<std::array<Word, 4>> ldmatrix(const std::vector<std::uint8_t>& shared,
                                           const Lanes<std::size_t>& addresses, bool transposed) {
  Lanes<std::array<Word, 4>> result{};
  for (std::size_t matrix = 0; matrix < 4; ++matrix) {
    std::uint16_t units[8][8];
    for (std::size_t row = 0; row < 8; ++row) {
      std::memcpy(units[row], &shared.at(addresses[8 * matrix + row] + 15) - 15, 16);
    }
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const std::size_t g = lane / 4;
      const std::size_t t = lane % 4;
      const Word low = transposed ? units[2 * t][g] : units[g][2 * t];
      const Word high = transposed ? units[2 * t + 1][g] : units[g][2 * t + 1];
      result[lane][matrix] = low | high << 16;
    }
  }
  return result;
}

/// mma .m16n8k16 .row.col: c += a * b, products in float64, the sum rounded to fp32.
inline void mma(Lanes<std::array<float, 4>>& c, const Lanes<std::array<Word, 4>>& a, const Lanes<Word>& b0,
                const Lanes<Word>& b1, ElementType type) {
  float left[16][16];
  float right[16][8];
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::size_t g = lane / 4;
    const std::size_t t = lane % 4;
    for (std::size_t e = 0; e < 2; ++e) {
      const Word shift = e == 0 ? 0 : 16;
      left[g][2 * t + e] = value16(a[lane][0] >> shift, type);
      left[g + 8][2 * t + e] = value16(a[lane][1] >> shift, type);
      left[g][2 * t + 8 + e] = value16(a[lane][2] >> shift, type);
      left[g + 8][2 * t + 8 + e] = value16(a[lane][3] >> shift, type);
      right[2 * t + e][g] = value16(b0[lane] >> shift, type);
      right[2 * t + 8 + e][g] = value16(b1[lane] >> shift, type);
    }
  }
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t part = 0; part < 4; ++part) {
      const std::size_t row = lane / 4 + part / 2 * 8;
      const std::size_t column = lane % 4 * 2 + part % 2;
      double sum = c[lane][part];
      for (std::size_t k = 0; k < 16; ++k) {
        sum += static_cast<double>(left[row][k]) * static_cast<double>(right[k][column]);
      }
      c[lane][part] = static_cast<float>(sum);
    }
  }
}

}  // namespace inferometer::kernels::emulated
