#pragma once

#include <memory>

#include "base/check.hpp"
#include "base/divisor.hpp"
#include "base/units.hpp"
#include "sim/kvcache/prefix_cache.hpp"

namespace inferometer {

/// The KV blocks of one replica, counted. Which physical block a sequence gets has no influence on time, so
/// only numbers are kept, and, where prefixes are cached, what free and held blocks have in them. A block
/// that several sequences hold counts as held once. Invariant: 0 <= free <= total. Calls are O(1), with a
/// prefix cache amortised over the runs that come and go.
class BlockPool {
 public:
  BlockPool(BlockCount total, std::int64_t block_size, bool caches_prefixes = false)
      : total_(total), free_(total), block_size_(block_size) {
    INFEROMETER_CHECK(total.count() >= 1, "a block pool needs blocks");
    if (caches_prefixes) {
      prefixes_ = std::make_unique<PrefixCache>(total.count(), block_size);
    }
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
    if (prefixes_) {
      prefixes_->take(count.count());
    }
  }
  /// Blocks with nothing in them that anybody may look for. Precondition: count <= held().
  void give_back(BlockCount count) {
    add_free(count);
    if (prefixes_) {
      prefixes_->put_back(count.count());
    }
  }

  /// nullptr when prefixes are not cached. Who moves blocks there says so here.
  [[nodiscard]] PrefixCache* prefixes() { return prefixes_.get(); }
  [[nodiscard]] const PrefixCache* prefixes() const { return prefixes_.get(); }
  /// Free blocks have been taken, or held ones have become free, in the prefix cache.
  void remove_free(BlockCount count) {
    INFEROMETER_CHECK(count.count() >= 0 && count <= free_, "a plan takes more KV blocks than are free");
    free_ -= count;
  }
  void add_free(BlockCount count) {
    INFEROMETER_CHECK(count.count() >= 0 && count <= held(), "more KV blocks given back than were held");
    free_ += count;
  }
  /// All blocks are free, nothing is cached.
  void clear() {
    free_ = total_;
    if (prefixes_) {
      prefixes_->clear(total_.count());
    }
  }

 private:
  BlockCount total_, free_;
  Divisor block_size_;
  std::unique_ptr<PrefixCache> prefixes_;
};

}  // namespace inferometer
