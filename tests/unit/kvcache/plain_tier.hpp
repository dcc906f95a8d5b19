#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>

namespace inferometer::testing {

/// Of a run, counted from the start of the prompt.
using TierBlock = std::pair<std::uint64_t, std::int64_t>;

/// Blocks in the order of their last use, one by one.
class PlainTier {
 public:
  explicit PlainTier(std::int64_t capacity) : capacity_(static_cast<std::size_t>(capacity)) {}

  [[nodiscard]] bool has(const TierBlock& block) const {
    return std::find(blocks_.begin(), blocks_.end(), block) != blocks_.end();
  }
  /// What has to go for it.
  std::optional<TierBlock> put(const TierBlock& block) {
    std::optional<TierBlock> dropped;
    if (blocks_.remove(block) == 0 && blocks_.size() == capacity_) {
      dropped = blocks_.back();
      blocks_.pop_back();
    }
    blocks_.push_front(block);
    return dropped;
  }
  void use(const TierBlock& block) {
    if (blocks_.remove(block) > 0) {
      blocks_.push_front(block);
    }
  }
  [[nodiscard]] std::int64_t held() const { return static_cast<std::int64_t>(blocks_.size()); }

 private:
  std::size_t capacity_;
  std::list<TierBlock> blocks_;
};

}  // namespace inferometer::testing
