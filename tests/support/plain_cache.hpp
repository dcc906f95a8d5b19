#pragma once

// A prefix cache that knows every block by itself: which tokens it has, who holds it, where it stands in a
// list of free blocks. Slow and plain, to compare with.

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "workloads/request.hpp"

namespace inferometer::testing {

/// All tokens of a prompt up to the end of a block: run and place in it, for each.
using Tokens = std::vector<std::pair<std::uint64_t, std::int64_t>>;

inline void add_tokens(Tokens& tokens, std::uint64_t id, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.emplace_back(id, i);
  }
}

/// A sequence as the cache needs to know it.
struct PlainContent {
  Tokens tokens;                    // of the prompt and all it will emit
  std::vector<std::int64_t> table;  // its blocks
  std::int64_t cached_blocks = 0;   // the first ones of them
  std::int64_t copy = -1;

  [[nodiscard]] Tokens first(std::int64_t count) const {
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count)};
  }
};

/// Requests without content, or whose answers have none, have tokens of their own.
inline Tokens tokens_of(const Request& request, std::int64_t output) {
  constexpr std::uint64_t kOwn = 1'000'000;  // beyond all ids of contents
  const std::uint64_t own = kOwn + 2 * static_cast<std::uint64_t>(request.id);
  Tokens tokens;
  for (const ContentRun& run : request.content) {
    add_tokens(tokens, run.id, run.tokens);
  }
  if (request.content.empty()) {
    add_tokens(tokens, own, request.prompt.count());
  }
  add_tokens(tokens, request.output_content == 0 ? own + 1 : request.output_content, output);
  return tokens;
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

  /// Full blocks of the first so many tokens can be found from now on.
  void cover(PlainContent& content, std::int64_t tokens) {
    for (; (content.cached_blocks + 1) * block_size_ <= tokens; ++content.cached_blocks) {
      if (content.copy < 0) {
        content.copy = copies_begun_++;
      }
      cache(content.table[size(content.cached_blocks)],
            content.first((content.cached_blocks + 1) * block_size_), content.copy);
    }
  }
  /// All blocks of a sequence of which so many tokens are computed.
  void give_back(PlainContent& content, std::int64_t computed) {
    cover(content, computed);
    release(content.table);
    content.cached_blocks = 0;
    content.copy = -1;
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
  std::int64_t copies_begun_ = 0;
  std::vector<Block> blocks_;
  std::list<std::int64_t> free_;
  std::map<Tokens, std::map<std::int64_t, std::int64_t>> copies_;  // block by copy
};

}  // namespace inferometer::testing
