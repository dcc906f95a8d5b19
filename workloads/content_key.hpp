#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.hpp"

namespace inferometer {

/// What tells a run of content in a tree of prompts from others: which run it follows, after how many tokens,
/// and its id. Prompts with the same keys are alike from the start. Hash with ContentKeyHash.
struct ContentKey {
  static constexpr std::uint32_t kNoParent = ~std::uint32_t{0};

  std::uint32_t parent = kNoParent;  ///< number of the run before it, by the tree's own count
  std::int64_t from = 0;             ///< as the tree counts: of the prompt, or of the parent
  std::uint64_t id = 0;              ///< ContentRun::id
  bool operator==(const ContentKey&) const = default;
};

struct ContentKeyHash {
  std::size_t operator()(const ContentKey& key) const {
    std::uint64_t state = key.id;
    state = splitmix64(state) ^ key.parent;
    state = splitmix64(state) ^ static_cast<std::uint64_t>(key.from);
    return static_cast<std::size_t>(splitmix64(state));
  }
};

}  // namespace inferometer
