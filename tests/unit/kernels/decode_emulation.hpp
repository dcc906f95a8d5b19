#pragma once

// The decode attention kernel on the host: the same plan, tiles, ring of pages, recurrence and index maps as
// kernels/attention/decode_warp.cuh and decode_attention.cu, lane by lane, over emulated warp instructions.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/attention/decode_attention.hpp"
#include "kernels/attention/e4m3_to_fp16.hpp"
#include "kernels/attention/online_softmax.hpp"
#include "tests/unit/kernels/decode_input.hpp"
#include "tests/unit/kernels/warp_emulation.hpp"

namespace inferometer::kernels::emulated {

using test::DecodeInput;

/// A thread block's or a warp's result: states of 16 rows, and accumulators (16, head_dim).
struct DecodePartial {
  std::vector<SoftmaxState<float>> states{static_cast<std::size_t>(kDecodeRows)};
  std::vector<float> accumulators;
};

class DecodeWarp {
 public:
  DecodeWarp(const DecodeInput& input, std::int64_t sequence, std::int64_t kv_head, Range pages, Range tokens)
      : input_(input),
        layout_{input.shape.kv_heads, input.shape.head_dim},
        dim_(static_cast<int>(input.shape.head_dim)),
        bytes_(bytes_of(input.shape.kv_type)),
        chunks_(dim_ * bytes_ / kChunkBytes),
        page_bytes_(page_bytes(dim_, bytes_)),
        stages_(decode_stages(dim_, bytes_)),
        math_(input.shape.kv_type == ElementType::bf16 ? ElementType::bf16 : ElementType::fp16),
        blocks_(input.block_table.data() + sequence * input.shape.max_blocks),
        kv_head_(kv_head),
        pages_(pages),
        tokens_(tokens),
        ring_(static_cast<std::size_t>(stages_ * 2 * page_bytes_), std::uint8_t{0xff}),
        accumulators_(static_cast<std::size_t>(dim_ / 8)) {}

  /// Rows of the query are those of `heads`, the others zero.
  DecodePartial run(const std::vector<std::int64_t>& heads, float score_scale) {
    load_query(heads);
    const int count = divide_up(pages_.count(), kDecodeWarps);
    for (int stage = 0; stage < stages_; ++stage) {
      fetch(stage, stage, count);
    }
    for (int number = 0; number < count; ++number) {
      attend(number, number % stages_, score_scale);
      fetch(number + stages_, number % stages_, count);
    }
    return result();
  }

 private:
  int first_token(int number) const { return (pages_.first + number * kDecodeWarps) * kPageTokens; }

  void load_query(const std::vector<std::int64_t>& heads) {
    query_.resize(static_cast<std::size_t>(dim_ / 16));
    for (int product = 0; product < dim_ / 16; ++product) {
      for (int lane = 0; lane < 32; ++lane) {
        for (int part = 0; part < 4; ++part) {
          Word pair = 0;
          const auto row = static_cast<std::size_t>(fragment_row(lane, part % 2));
          for (int e = 0; row < heads.size() && e < 2; ++e) {
            const int column = query_column(bytes_, lane, product, part / 2, e);
            const Word bits = input_.query.at(static_cast<std::size_t>(heads[row] * dim_ + column));
            const Word taken =
                input_.shape.query_type == math_ ? bits : bits_of(value_of(bits, ElementType::bf16), math_);
            pair |= taken << (16 * e);
          }
          query_[static_cast<std::size_t>(product)][static_cast<std::size_t>(lane)]
                [static_cast<std::size_t>(part)] = pair;
        }
      }
    }
  }

  void fetch(int number, int stage, int count) {
    if (number >= count) {
      return;
    }
    const std::int64_t block = blocks_[first_token(number) / kPageTokens];
    for (int chunk = 0; chunk < page_bytes_ / kChunkBytes; ++chunk) {
      const int token = chunk / chunks_;
      const int position = first_token(number) + token;
      const bool attended = position >= tokens_.first && position < tokens_.last;
      const int target = chunk_offset(token, chunk % chunks_, chunks_);
      const std::int64_t element = page_element(layout_, block, kv_head_) + chunk * kChunkBytes / bytes_;
      copy_chunk(input_.keys, element, attended, stage * 2 * page_bytes_ + target);
      copy_chunk(input_.values, element, attended, (stage * 2 + 1) * page_bytes_ + target);
    }
  }

  void copy_chunk(const std::vector<Word>& cache, std::int64_t element, bool attended, int target) {
    for (int byte = 0; byte < kChunkBytes; ++byte) {
      const Word bits = cache.at(static_cast<std::size_t>(element + byte / bytes_)) >> (byte % bytes_ * 8);
      ring_.at(static_cast<std::size_t>(target + byte)) =
          attended ? static_cast<std::uint8_t>(bits & 0xffu) : std::uint8_t{0};
    }
  }

  template <class Offset>
  Lanes<std::array<Word, 4>> load(int base, bool transposed, const Offset& offset) const {
    Lanes<std::size_t> addresses{};
    for (int lane = 0; lane < 32; ++lane) {
      addresses[static_cast<std::size_t>(lane)] = static_cast<std::size_t>(base + offset(lane));
    }
    return ldmatrix(ring_, addresses, transposed);
  }

  template <class Function>
  static Lanes<Word> each_lane(const Lanes<std::array<Word, 4>>& matrices, int matrix,
                               const Function& function) {
    Lanes<Word> result{};
    for (std::size_t lane = 0; lane < 32; ++lane) {
      result[lane] = function(matrices[lane][static_cast<std::size_t>(matrix)]);
    }
    return result;
  }

  void attend(int number, int stage, float score_scale) {
    const auto as_is = [](Word word) { return word; };
    std::array<Lanes<std::array<float, 4>>, 2> scores{};
    for (int step = 0; step < chunks_ / 2; ++step) {
      const auto k = load(stage * 2 * page_bytes_, false, [&](int lane) {
        return chunk_offset(key_token(lane), key_chunk(lane, step), chunks_);
      });
      for (int tile = 0; tile < 2; ++tile) {
        auto& tile_scores = scores[static_cast<std::size_t>(tile)];
        if (bytes_ == 2) {
          mma(tile_scores, query_[static_cast<std::size_t>(step)], each_lane(k, 2 * tile, as_is),
              each_lane(k, 2 * tile + 1, as_is), math_);
          continue;
        }
        for (int chunk = 0; chunk < 2; ++chunk) {
          mma(tile_scores, query_[static_cast<std::size_t>(2 * step + chunk)],
              each_lane(k, 2 * tile + chunk, even_e4m3_as_fp16),
              each_lane(k, 2 * tile + chunk, odd_e4m3_as_fp16), math_);
        }
      }
    }
    const Lanes<std::array<Word, 4>> weights = weigh(scores, first_token(number), score_scale);
    for (int step = 0; step < chunks_ / 2; ++step) {
      const auto v = load((stage * 2 + 1) * page_bytes_, true, [&](int lane) {
        return chunk_offset(value_token(lane), value_chunk(lane, step), chunks_);
      });
      for (int chunk = 0; chunk < 2; ++chunk) {
        if (bytes_ == 2) {
          mma(accumulators_[static_cast<std::size_t>(2 * step + chunk)], weights,
              each_lane(v, 2 * chunk, as_is), each_lane(v, 2 * chunk + 1, as_is), math_);
          continue;
        }
        const auto tile = static_cast<std::size_t>(4 * step + 2 * chunk);
        mma(accumulators_[tile], weights, each_lane(v, 2 * chunk, even_e4m3_as_fp16),
            each_lane(v, 2 * chunk + 1, even_e4m3_as_fp16), math_);
        mma(accumulators_[tile + 1], weights, each_lane(v, 2 * chunk, odd_e4m3_as_fp16),
            each_lane(v, 2 * chunk + 1, odd_e4m3_as_fp16), math_);
      }
    }
  }

  /// Both halves of each lane's rows; the four lanes of a row share their maximum.
  Lanes<std::array<Word, 4>> weigh(std::array<Lanes<std::array<float, 4>>, 2>& scores, int first,
                                   float score_scale) {
    Lanes<std::array<Word, 4>> weights{};
    for (std::size_t h = 0; h < 2; ++h) {
      for (int quad = 0; quad < 8; ++quad) {
        float max = states_[static_cast<std::size_t>(4 * quad)][h].max;
        for (int lane = 4 * quad; lane < 4 * quad + 4; ++lane) {
          for (int part = 0; part < 4; ++part) {
            float& score = scores[static_cast<std::size_t>(part / 2)][static_cast<std::size_t>(lane)]
                                 [2 * h + static_cast<std::size_t>(part % 2)];
            const int position = first + score_token(lane, part / 2, part % 2);
            score = position >= tokens_.first && position < tokens_.last ? score * score_scale
                                                                         : no_score<float>();
            max = std::max(max, score);
          }
        }
        for (int lane = 4 * quad; lane < 4 * quad + 4; ++lane) {
          weigh_lane(scores, weights, static_cast<std::size_t>(lane), h, max);
        }
      }
    }
    return weights;
  }

  void weigh_lane(const std::array<Lanes<std::array<float, 4>>, 2>& scores,
                  Lanes<std::array<Word, 4>>& weights, std::size_t lane, std::size_t h, float max) {
    SoftmaxState<float>& state = states_[lane][h];
    const float factor = rescale_factor(state.max, max);
    float sum = 0;
    for (std::size_t tile = 0; tile < 2; ++tile) {
      const float low = rescale_factor(scores[tile][lane][2 * h], max);
      const float high = rescale_factor(scores[tile][lane][2 * h + 1], max);
      sum += low + high;
      weights[lane][2 * tile + h] =
          bits_of(static_cast<double>(low), math_) | bits_of(static_cast<double>(high), math_) << 16;
    }
    state = {max, state.sum * factor + sum};
    for (auto& tile : accumulators_) {
      tile[lane][2 * h] *= factor;
      tile[lane][2 * h + 1] *= factor;
    }
  }

  DecodePartial result() const {
    DecodePartial partial;
    partial.accumulators.resize(static_cast<std::size_t>(kDecodeRows * dim_));
    for (int lane = 0; lane < 32; ++lane) {
      for (int h = 0; h < 2; ++h) {
        const auto row = static_cast<std::size_t>(fragment_row(lane, h));
        const SoftmaxState<float>& state =
            states_[static_cast<std::size_t>(lane)][static_cast<std::size_t>(h)];
        partial.states[row].max = state.max;
        partial.states[row].sum += state.sum;
        for (int tile = 0; tile < dim_ / 8; ++tile) {
          for (int e = 0; e < 2; ++e) {
            const int column = output_column(bytes_, lane, tile, e);
            partial.accumulators.at(row * static_cast<std::size_t>(dim_) + static_cast<std::size_t>(column)) =
                accumulators_[static_cast<std::size_t>(tile)][static_cast<std::size_t>(lane)]
                             [static_cast<std::size_t>(2 * h + e)];
          }
        }
      }
    }
    return partial;
  }

  const DecodeInput& input_;
  PagedKvLayout layout_;
  int dim_;
  int bytes_;
  int chunks_;
  int page_bytes_;
  int stages_;
  ElementType math_;
  const std::int32_t* blocks_;
  std::int64_t kv_head_;
  Range pages_;
  Range tokens_;
  std::vector<std::uint8_t> ring_;
  std::vector<Lanes<std::array<Word, 4>>> query_;
  std::vector<Lanes<std::array<float, 4>>> accumulators_;
  Lanes<std::array<SoftmaxState<float>, 2>> states_{};
};

/// Warps into a block, and splits into an output.
inline void add(DecodePartial& total, const DecodePartial& part) {
  const std::size_t dim = part.accumulators.size() / part.states.size();
  total.accumulators.resize(part.accumulators.size());
  for (std::size_t row = 0; row < part.states.size(); ++row) {
    const SoftmaxState<float> state = merged(total.states[row], part.states[row]);
    const float of_total = rescale_factor(total.states[row].max, state.max);
    const float of_part = rescale_factor(part.states[row].max, state.max);
    for (std::size_t i = row * dim; i < (row + 1) * dim; ++i) {
      total.accumulators[i] = total.accumulators[i] * of_total + part.accumulators[i] * of_part;
    }
    total.states[row] = state;
  }
}

/// The output of all query heads, (batch * heads, head_dim).
inline std::vector<double> decode_attention(const DecodeInput& input, const SplitKvPlan& plan) {
  const DecodeAttentionShape& shape = input.shape;
  const std::int64_t group = shape.heads / shape.kv_heads;
  const float widened = shape.kv_type == ElementType::fp8_e4m3 ? kE4m3OverFp16 : 1.0f;
  const float score_scale =
      static_cast<float>(kLog2E / std::sqrt(static_cast<double>(shape.head_dim))) * widened * input.key_scale;
  std::vector<double> output(static_cast<std::size_t>(shape.batch * shape.heads * shape.head_dim));
  const std::int64_t tiles = decode_head_tiles(shape);
  for (std::int64_t item = 0; item < shape.batch * shape.kv_heads * tiles; ++item) {
    const std::int64_t sequence = item / tiles / shape.kv_heads;
    const std::int64_t kv_head = item / tiles % shape.kv_heads;
    std::vector<std::int64_t> heads;
    for (std::int64_t row = item % tiles * kDecodeRows; row < group && heads.size() < kDecodeRows; ++row) {
      heads.push_back(sequence * shape.heads + kv_head * group + row);
    }
    const std::int32_t context = input.contexts[static_cast<std::size_t>(sequence)];
    const auto window = static_cast<std::int32_t>(shape.window);
    const Range all = attended_pages(context, window);
    DecodePartial total;
    total.accumulators.resize(static_cast<std::size_t>(kDecodeRows * shape.head_dim));
    for (std::int32_t split = 0; split < splits_used(all, plan); ++split) {
      for (int warp = 0; warp < kDecodeWarps; ++warp) {
        Range pages = pages_of_split(all, plan, split);
        pages.first += warp;
        add(total, DecodeWarp(input, sequence, kv_head, pages, attended_tokens(context, window))
                       .run(heads, score_scale));
      }
    }
    for (std::size_t row = 0; row < heads.size(); ++row) {
      const float scale = normaliser(total.states[row]) * widened * input.value_scale;
      for (std::int64_t column = 0; column < shape.head_dim; ++column) {
        const float sum = total.accumulators[row * static_cast<std::size_t>(shape.head_dim) +
                                             static_cast<std::size_t>(column)];
        output[static_cast<std::size_t>(heads[row] * shape.head_dim + column)] =
            value_of(bits_of(static_cast<double>(sum * scale), shape.query_type), shape.query_type);
      }
    }
  }
  return output;
}

}  // namespace inferometer::kernels::emulated
