#pragma once

#include <cstdint>
#include <span>

#include "costmodel/step_shape.hpp"
#include "sim/batch/decode_set.hpp"

namespace inferometer {

/// New KV blocks that the steps of a stretch take when all decoding sequences run one token a step and every
/// chunk is followed by one as long. It repeats: the steps from any one on take as many blocks as those one
/// period (a block's tokens) later. Reads the decode set as it is: make it anew after a step.
class BlockDemand {
 public:
  /// `chunks`: those that take blocks as they grow, each of a sequence that holds just what its past needs.
  BlockDemand(const DecodeSet& decodes, std::span<const ChunkShape> chunks);

  /// Blocks that step `ahead` takes; 0 is the next one. O(chunks).
  [[nodiscard]] std::int64_t at(std::int64_t ahead) const;
  /// Blocks that the steps from `ahead` on, before `end`, take. O(period * (1 + chunks)).
  [[nodiscard]] std::int64_t between(std::int64_t ahead, std::int64_t end) const;
  /// Steps after which it repeats.
  [[nodiscard]] std::int64_t period() const { return decodes_.block_size().value(); }
  /// Blocks that as many successive steps take.
  [[nodiscard]] std::int64_t per_period() const { return per_period_; }

  /// How many steps from `ahead` on can be served from so many free blocks, at most `most`. Precondition:
  /// none is below 0. O(1) where the blocks are plenty, else O(period * (1 + chunks)).
  [[nodiscard]] std::int64_t steps_within(std::int64_t free, std::int64_t ahead, std::int64_t most) const;

 private:
  const DecodeSet& decodes_;
  std::span<const ChunkShape> chunks_;
  std::int64_t per_period_;
};

}  // namespace inferometer
