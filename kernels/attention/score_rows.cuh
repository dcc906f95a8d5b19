#pragma once

// The softmax between the two products of attention, on accumulators of the tensor cores: a lane has two rows
// of a 16-row tile, 8 apart, and shares each with the three other lanes of its quad (fragments.hpp). Who uses
// it: both prefill kernels.
//
// Online softmax (Milakov, Gimelshein 2018, arXiv:1805.02867) in base 2: probabilities are 2^(scale (score -
// m)) with m the highest score so far; when m rises, what was summed before is scaled down.

#include <cstdint>

#include "kernels/attention/causal_tiles.hpp"
#include "kernels/tensor_core/fragments.hpp"
#include "kernels/tensor_core/mma_sm80.cuh"

namespace inferometer::kernels {

constexpr unsigned kWholeWarp = 0xffffffffu;

/// Below every score, and finite: a tile of keys that a row does not see at all leaves the row's sums as they
/// are, by the same arithmetic.
constexpr float kLowestScore = -1e30f;

/// The state of a lane's two rows. `sum` is of the lane's own columns until the rows are done.
struct ScoreRows {
  float highest[2] = {kLowestScore, kLowestScore};
  float sum[2] = {0, 0};
};

/// Scores of keys out of sight become -infinity. `position` of the lane's first row, `first_key` of the tile.
template <int kBlocks>
__device__ __forceinline__ void hide_scores(float (&scores)[kBlocks][4], int lane, int position,
                                            int first_key, int window) {
#pragma unroll
  for (int element = 0; element < 4; ++element) {
    const MatrixPlace place = accumulator_place(lane, element);
    const VisibleKeys visible = visible_keys(position + 8 * (element / 2), window);
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      if (!is_visible(visible, first_key + 8 * block + place.column)) {
        scores[block][element] = -INFINITY;
      }
    }
  }
}

/// Scores become probabilities, the rows take them in. `rescale`: what the output so far is to be multiplied
/// by.
template <int kBlocks>
__device__ __forceinline__ void take_in(float (&scores)[kBlocks][4], ScoreRows& rows, float scale,
                                        float (&rescale)[2]) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float highest = rows.highest[row];
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      highest = fmaxf(highest, fmaxf(scores[block][2 * row], scores[block][2 * row + 1]));
    }
    highest = fmaxf(highest, __shfl_xor_sync(kWholeWarp, highest, 1));
    highest = fmaxf(highest, __shfl_xor_sync(kWholeWarp, highest, 2));
    rescale[row] = fast_exp2((rows.highest[row] - highest) * scale);
    rows.highest[row] = highest;
    const float shift = -highest * scale;
    float sum = 0;
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
      for (int element = 2 * row; element < 2 * row + 2; ++element) {
        scores[block][element] = fast_exp2(fmaf(scores[block][element], scale, shift));
        sum += scores[block][element];
      }
    }
    rows.sum[row] = rows.sum[row] * rescale[row] + sum;
  }
}

template <int kBlocks>
__device__ __forceinline__ void rescale_output(float (&output)[kBlocks][4], const float (&rescale)[2]) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int element = 0; element < 4; ++element) {
      output[block][element] *= rescale[element / 2];
    }
  }
}

/// Probabilities of 16 keys, at `step`, as the left factor of the second product.
template <ElementType kType, int kBlocks>
__device__ __forceinline__ void pack_left_factor(const float (&probabilities)[kBlocks][4], int step,
                                                 std::uint32_t (&left)[4]) {
#pragma unroll
  for (int reg = 0; reg < 4; ++reg) {
    const float(&block)[4] = probabilities[2 * step + reg / 2];
    left[reg] = pack_pair<kType>(block[2 * (reg % 2)], block[2 * (reg % 2) + 1]);
  }
}

/// Lane i of a quad has word i of four 16-byte pieces, and leaves with piece i whole: a transposition in two
/// exchanges.
__device__ __forceinline__ void gather_piece(std::uint32_t (&words)[4], int lane) {
#pragma unroll
  for (int distance = 1; distance <= 2; distance *= 2) {
    const bool upper = (lane & distance) != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & distance) == 0) {
        const int j = i + distance;
        const std::uint32_t sent = upper ? words[i] : words[j];
        const std::uint32_t received = __shfl_xor_sync(kWholeWarp, sent, distance);
        (upper ? words[i] : words[j]) = received;
      }
    }
  }
}

/// Divides by the sums and writes the lane's rows that exist, 64 bytes a quad. `row`: where the lane's first
/// row begins; `row_elements`: from a row of the array to the next; `rows_left`: rows from the lane's first
/// one on.
template <ElementType kType, int kBlocks>
__device__ __forceinline__ void store_rows(const float (&output)[kBlocks][4], const ScoreRows& rows, int lane,
                                           std::uint16_t* row, std::int64_t row_elements, int rows_left) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = rows.sum[half];
    sum += __shfl_xor_sync(kWholeWarp, sum, 1);
    sum += __shfl_xor_sync(kWholeWarp, sum, 2);
    const float share = __fdividef(1.0f, sum);
#pragma unroll
    for (int block = 0; block < kBlocks; block += 4) {
      std::uint32_t piece[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        piece[i] =
            pack_pair<kType>(output[block + i][2 * half] * share, output[block + i][2 * half + 1] * share);
      }
      gather_piece(piece, lane);
      if (8 * half < rows_left) {
        const std::int64_t at = 8 * half * row_elements + 8 * (block + lane % 4);
        store_words(row + at, piece);
      }
    }
  }
}

}  // namespace inferometer::kernels
