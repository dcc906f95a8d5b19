#pragma once

// What one warp of decode attention does: bring pages to shared memory, several at a time, and add each to
// the attention of 16 query rows. The maps of lanes to elements are those of decode_tile.hpp.

#include <cmath>
#include <cstdint>

#include "kernels/attention/decode_copies.cuh"
#include "kernels/attention/decode_tile.hpp"
#include "kernels/attention/online_softmax.hpp"
#include "kernels/attention/split_kv_plan.hpp"
#include "kernels/common/divide_up.hpp"
#include "kernels/common/e4m3_pair.hpp"
#include "kernels/common/element_type.hpp"
#include "kernels/tensor_core/mma_sm80.cuh"

namespace inferometer::kernels {

inline constexpr unsigned kAllLanes = 0xffffffffu;

/// Number formats and sizes of one instance.
template <ElementType kKvType, int kDim>
struct DecodeFormat {
  static constexpr ElementType kKv = kKvType;
  /// What the tensor cores multiply.
  static constexpr ElementType kMath = kKvType == ElementType::bf16 ? ElementType::bf16 : ElementType::fp16;
  static constexpr int kHeadDim = kDim;
  static constexpr int kKvBytes = bytes_of(kKvType);
  static constexpr int kChunks = kDim * kKvBytes / kChunkBytes;  // of a row of a page
  static constexpr int kPageBytes = page_bytes(kDim, kKvBytes);
  static constexpr int kStages = decode_stages(kDim, kKvBytes);
};

// ---- pages on their way ----

/// The pages that one warp works on: `first`, `first` + kDecodeWarps, ... of one sequence and KV head.
template <class Format>
class PageStream {
 public:
  /// `keys` and `values`: the KV head's page of block 0. `ring`: this warp's shared memory.
  __device__ PageStream(const std::uint8_t* keys, const std::uint8_t* values, std::int64_t block_bytes,
                        const std::int32_t* blocks, Range pages, Range tokens, std::uint32_t ring, int lane)
      : keys_(keys + lane * kChunkBytes),
        values_(values + lane * kChunkBytes),
        block_bytes_(block_bytes),
        blocks_(blocks + pages.first),
        pages_(pages),
        tokens_(tokens),
        count_(divide_up(pages.count(), kDecodeWarps)),
        ring_(ring),
        lane_(lane),
        ids_(id_of(lane)),
        next_ids_(id_of(32 + lane)) {}

  __device__ int count() const { return count_; }
  __device__ int first_token(int number) const { return page(number) * kPageTokens; }
  __device__ std::uint32_t keys_in_shared(int stage) const { return ring_ + stage * 2 * Format::kPageBytes; }
  __device__ std::uint32_t values_in_shared(int stage) const {
    return keys_in_shared(stage) + Format::kPageBytes;
  }

  /// Starts the copy of page `number` as one group, an empty one beyond the last page. Called with 0, 1, 2,
  /// ...
  __device__ void fetch(int number, int stage) {
    if (number < count_) {
      if (number > 0 && number % 32 == 0) {
        ids_ = next_ids_;
        next_ids_ = id_of(number + 32 + lane_);
      }
      copy_page(page(number) * kPageTokens, __shfl_sync(kAllLanes, ids_, number % 32), stage);
    }
    close_copy_group();
  }

 private:
  __device__ int page(int number) const { return pages_.first + number * kDecodeWarps; }

  /// Each lane reads ahead one entry of the block table of 32 pages.
  __device__ std::int32_t id_of(int number) const {
    return number < count_ ? blocks_[number * kDecodeWarps] : 0;
  }

  /// Tokens that are not attended become zeros: what their slots hold may be no number, and zero times that
  /// is none.
  __device__ void copy_page(int first_token, std::int32_t block, int stage) {
    const std::int64_t source = block * block_bytes_;
#pragma unroll(Format::kChunks / 4)
    for (int turn = 0; turn < Format::kPageBytes / (32 * kChunkBytes); ++turn) {
      const int chunk = turn * 32 + lane_;
      const int token = chunk / Format::kChunks;
      const int target = chunk_offset(token, chunk % Format::kChunks, Format::kChunks);
      const int position = first_token + token;
      const int bytes = position >= tokens_.first && position < tokens_.last ? kChunkBytes : 0;
      const std::int64_t from = source + turn * 32 * kChunkBytes;
      copy_or_clear(keys_in_shared(stage) + target, keys_ + from, bytes);
      copy_or_clear(values_in_shared(stage) + target, values_ + from, bytes);
    }
  }

  const std::uint8_t* keys_;
  const std::uint8_t* values_;
  std::int64_t block_bytes_;
  const std::int32_t* blocks_;
  Range pages_;
  Range tokens_;
  int count_;
  std::uint32_t ring_;
  int lane_;
  std::int32_t ids_;
  std::int32_t next_ids_;
};

// ---- attention of 16 query rows ----

/// A's registers of one lane.
struct alignas(16) Fragment {
  std::uint32_t parts[4];
};

/// The query of a block as registers of A, in shared memory.
template <class Format>
struct QueryFragments {
  static constexpr int kProducts = Format::kHeadDim / 16;  // mma for the scores of 8 tokens

  Fragment of[kProducts][32];

  /// The warps share the work; a barrier must follow. `query`: the first row; rows from `rows` on are zero.
  /// `converts`: bf16 that the tensor cores take as fp16.
  __device__ void load(const std::uint16_t* query, int rows, bool converts, int warp, int lane) {
    for (int product = warp; product < kProducts; product += kDecodeWarps) {
      Fragment fragment;
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const int row = fragment_row(lane, part % 2);
        std::uint32_t bits[2] = {0, 0};
        if (row < rows) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            bits[e] =
                query[row * Format::kHeadDim + query_column(Format::kKvBytes, lane, product, part / 2, e)];
          }
        }
        fragment.parts[part] =
            converts ? pack_pair<ElementType::fp16>(in_fp16_range(bits[0]), in_fp16_range(bits[1]))
                     : bits[0] | bits[1] << 16;
      }
      of[product][lane] = fragment;
    }
  }

 private:
  __device__ static float in_fp16_range(std::uint32_t bf16) {
    constexpr float kLargest = 65504.0f;
    return fminf(fmaxf(__uint_as_float(bf16 << 16), -kLargest), kLargest);
  }
};

template <class Format>
class WarpAttention {
 public:
  static constexpr int kSteps = Format::kChunks / 2;  // ldmatrix a page, of keys and of values
  static constexpr int kProducts = QueryFragments<Format>::kProducts;
  static constexpr int kTiles = Format::kHeadDim / 8;  // of the accumulator
  /// Beside an accumulator of 128 registers there is no room for a query of 64.
  static constexpr bool kKeepsQuery = Format::kHeadDim <= 128;

  explicit __device__ WarpAttention(const QueryFragments<Format>& query, int lane) : query_in_shared_(query) {
    if constexpr (kKeepsQuery) {
#pragma unroll
      for (int product = 0; product < kProducts; ++product) {
        query_[product] = query.of[product][lane];
      }
    }
  }

  /// Adds a page. Tokens before tokens.first or from tokens.last on are left out; at least one is not.
  /// `scale` is what a product of query and key is multiplied by to be a score in base 2.
  __device__ void attend(std::uint32_t keys, std::uint32_t values, int first_token, Range tokens, float scale,
                         int lane) {
    float scores[2][4] = {};
    multiply_keys(scores, keys, lane);
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        scores[tile][part] *= scale;
      }
    }
    if (first_token < tokens.first || first_token + kPageTokens > tokens.last) {
      leave_out(scores, first_token, tokens, lane);
    }
    weigh(scores);
    const std::uint32_t weights[4] = {pack_pair<Format::kMath>(scores[0][0], scores[0][1]),
                                      pack_pair<Format::kMath>(scores[0][2], scores[0][3]),
                                      pack_pair<Format::kMath>(scores[1][0], scores[1][1]),
                                      pack_pair<Format::kMath>(scores[1][2], scores[1][3])};
    multiply_values(weights, values, lane);
  }

  /// Of row fragment_row(lane, h), over all tokens added so far; the same in the four lanes of a row.
  __device__ SoftmaxState<float> state(int h) const {
    float sum = state_[h].sum;
    sum += __shfl_xor_sync(kAllLanes, sum, 1);
    sum += __shfl_xor_sync(kAllLanes, sum, 2);
    return {state_[h].max, sum};
  }

  /// Leaves rows below `rows` in shared memory, as accumulator_element() says.
  __device__ void store_accumulator(float* shared, int rows, int lane) const {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const int row = fragment_row(lane, part / 2);
        if (row < rows) {
          const int column = output_column(Format::kKvBytes, lane, tile, part % 2);
          shared[accumulator_element(row, column, Format::kHeadDim)] = accumulator_[tile][part];
        }
      }
    }
  }

 private:
  __device__ Fragment query(int product, int lane) const {
    if constexpr (kKeepsQuery) {
      return query_[product];
    } else {
      return query_in_shared_.of[product][lane];
    }
  }

  __device__ void multiply_keys(float (&scores)[2][4], std::uint32_t keys, int lane) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      std::uint32_t k[4];
      load_matrices(k, keys + key_row_offset(lane, step, Format::kChunks));
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
        if constexpr (Format::kKvBytes == 2) {
          multiply_add<Format::kMath>(scores[tile], query(step, lane).parts, k[2 * tile], k[2 * tile + 1]);
        } else {
#pragma unroll
          for (int chunk = 0; chunk < 2; ++chunk) {
            const Fp16Pairs pairs = fp16_of_e4m3(k[2 * tile + chunk]);
            multiply_add<Format::kMath>(scores[tile], query(2 * step + chunk, lane).parts, pairs.even,
                                        pairs.odd);
          }
        }
      }
    }
  }

  __device__ static void leave_out(float (&scores)[2][4], int first_token, Range tokens, int lane) {
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const int position = first_token + score_token(lane, tile, part % 2);
        if (position < tokens.first || position >= tokens.last) {
          scores[tile][part] = no_score<float>();
        }
      }
    }
  }

  /// From scores to weights under the new maximum; brings sum and accumulator under it too.
  __device__ void weigh(float (&scores)[2][4]) {
    float factors[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float max =
          fmaxf(fmaxf(scores[0][2 * h], scores[0][2 * h + 1]), fmaxf(scores[1][2 * h], scores[1][2 * h + 1]));
      max = fmaxf(max, __shfl_xor_sync(kAllLanes, max, 1));
      max = fmaxf(max, __shfl_xor_sync(kAllLanes, max, 2));
      max = fmaxf(max, state_[h].max);
      factors[h] = weight_under(state_[h].max, max);
      // Each lane sums its own tokens; state() adds up the lanes.
      float sum = 0;
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& score = scores[tile][2 * h + e];
          score = weight_under(score, max);
          sum += score;
        }
      }
      state_[h] = {max, state_[h].sum * factors[h] + sum};
    }
    if (__any_sync(kAllLanes, factors[0] != 1 || factors[1] != 1)) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
        for (int part = 0; part < 4; ++part) {
          accumulator_[tile][part] *= factors[part / 2];
        }
      }
    }
  }

  __device__ void multiply_values(const std::uint32_t (&weights)[4], std::uint32_t values, int lane) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      std::uint32_t v[4];
      load_matrices_transposed(v, values + value_row_offset(lane, step, Format::kChunks));
#pragma unroll
      for (int chunk = 0; chunk < 2; ++chunk) {
        const std::uint32_t low = v[2 * chunk];
        const std::uint32_t high = v[2 * chunk + 1];
        if constexpr (Format::kKvBytes == 2) {
          multiply_add<Format::kMath>(accumulator_[2 * step + chunk], weights, low, high);
        } else {
          const int tile = 4 * step + 2 * chunk;
          const Fp16Pairs of_low = fp16_of_e4m3(low);
          const Fp16Pairs of_high = fp16_of_e4m3(high);
          multiply_add<Format::kMath>(accumulator_[tile], weights, of_low.even, of_high.even);
          multiply_add<Format::kMath>(accumulator_[tile + 1], weights, of_low.odd, of_high.odd);
        }
      }
    }
  }

  const QueryFragments<Format>& query_in_shared_;
  Fragment query_[kKeepsQuery ? kProducts : 1];
  float accumulator_[kTiles][4] = {};
  SoftmaxState<float> state_[2];
};

}  // namespace inferometer::kernels
