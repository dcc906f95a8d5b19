#pragma once

// A prefix cache that knows every block by itself: which tokens it has, who holds it, where it stands in a
// list of free blocks. Slow and plain, to compare with.

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <utility>
#include <vector>

namespace inferometer::testing {

/// All tokens of a prompt up to the end of a block: run and place in it, for each.
using Tokens = std::vector<std::pair<std::uint64_t, std::int64_t>>;

inline void add_tokens(Tokens& tokens, std::uint64_t id, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.emplace_back(id, i);
  }
}

class PlainCache {
 public:
  PlainCache(std::int64_t blocks, std::int64_t block_size) : block_size_(block_size) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      blocks_.emplace_back();
      free_.push_back(block);
    }
  }

  [[nodiscard]] std::int64_t free() const { return static_cast<std::int64_t>(free_.size()); }

  std::int64_t take() {
    const std::int64_t block = free_.front();
    free_.pop_front();
    forget(block);
    blocks_[static_cast<std::size_t>(block)].holders = 1;
    return block;
  }
  /// Of each of the first blocks that are cached, the copy that was begun first.
  [[nodiscard]] std::vector<std::int64_t> match(const Tokens& tokens) const {
    std::vector<std::int64_t> found;
    for (std::size_t end = size(block_size_); end < tokens.size(); end += size(block_size_)) {
      const auto place =
          copies_.find(Tokens(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(end)));
      if (place == copies_.end()) {
        break;
      }
      found.push_back(place->second.begin()->second);
    }
    return found;
  }
  [[nodiscard]] std::int64_t holders(std::int64_t block) const { return blocks_[size(block)].holders; }
  void hold(std::int64_t block) {
    if (blocks_[size(block)].holders++ == 0) {
      free_.remove(block);
    }
  }
  void cache(std::int64_t block, const Tokens& tokens, std::int64_t copy) {
    blocks_[size(block)].tokens = tokens;
    blocks_[size(block)].copy = copy;
    copies_[tokens][copy] = block;
  }
  /// Returns how many became free.
  std::int64_t release(std::vector<std::int64_t>& held) {
    std::int64_t freed = 0;
    for (; !held.empty(); held.pop_back()) {
      if (--blocks_[size(held.back())].holders == 0) {
        free_.push_back(held.back());
        ++freed;
      }
    }
    return freed;
  }
  [[nodiscard]] std::int64_t idle_cached() const {
    return std::count_if(free_.begin(), free_.end(),
                         [this](std::int64_t block) { return !blocks_[size(block)].tokens.empty(); });
  }

 private:
  struct Block {
    Tokens tokens;
    std::int64_t copy = -1;
    std::int64_t holders = 0;
  };
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
  void forget(std::int64_t block) {
    Block& b = blocks_[size(block)];
    if (!b.tokens.empty()) {
      const auto place = copies_.find(b.tokens);
      place->second.erase(b.copy);
      if (place->second.empty()) {
        copies_.erase(place);
      }
    }
    b = {};
  }

  std::int64_t block_size_;
  std::vector<Block> blocks_;
  std::list<std::int64_t> free_;
  std::map<Tokens, std::map<std::int64_t, std::int64_t>> copies_;  // block by copy
};

}  // namespace inferometer::testing
