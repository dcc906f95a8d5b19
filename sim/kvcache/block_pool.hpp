#pragma once

#include "base/check.hpp"
#include "base/divisor.hpp"
#include "base/units.hpp"

namespace inferometer {

/// The KV blocks of one replica, counted. Which physical block a sequence gets has no influence on time, so
/// only numbers are kept. Invariant: 0 <= free <= total. Every call is O(1).
class BlockPool {
 public:
  BlockPool(BlockCount total, std::int64_t block_size)
      : total_(total), free_(total), block_size_(block_size) {
    INFEROMETER_CHECK(total.count() >= 1, "a block pool needs blocks");
  }

  [[nodiscard]] BlockCount total() const { return total_; }
  [[nodiscard]] BlockCount free() const { return free_; }
  [[nodiscard]] BlockCount held() const { return total_ - free_; }
  /// Tokens a block holds.
  [[nodiscard]] std::int64_t block_size() const { return block_size_.value(); }
  /// Blocks that so many tokens fill, the last one perhaps in part.
  [[nodiscard]] std::int64_t blocks_for(std::int64_t tokens) const { return block_size_.ceiling(tokens); }

  /// Precondition: count <= free().
  void take(BlockCount count) {
    INFEROMETER_CHECK(count.count() >= 0 && count <= free_, "a plan takes more KV blocks than are free");
    free_ -= count;
  }
  /// Precondition: count <= held().
  void give_back(BlockCount count) {
    INFEROMETER_CHECK(count.count() >= 0 && count <= held(), "more KV blocks given back than were held");
    free_ += count;
  }

 private:
  BlockCount total_, free_;
  Divisor block_size_;
};

}  // namespace inferometer
