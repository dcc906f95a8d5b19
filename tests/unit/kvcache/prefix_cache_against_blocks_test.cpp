// PrefixCache against a cache that knows every block by itself: which tokens it has, who holds it, where it
// stands in a list of free blocks.

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "sim/kvcache/prefix_cache.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/plain_cache.hpp"

namespace inferometer {
namespace {

using testing::add_tokens;
using testing::PlainCache;
using testing::Tokens;

/// A sequence as both caches have it.
struct Item {
  Request request;
  Tokens tokens;  // of prompt and output
  std::vector<std::int64_t> held;
  std::int64_t computed = 0, length = 0, cached = 0;
  std::int64_t copy = -1;
  bool runs = false, is_private = false, preempted = false;
};

class Duel {
 public:
  Duel(std::int64_t blocks, std::int64_t block_size, std::uint64_t seed)
      : block_size_(block_size),
        cache_(blocks, block_size),
        plain_(blocks, block_size),
        random_(seed, "tests/prefix_cache") {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      const std::int64_t slot = below(kSlots);
      Item& item = items_[slot];
      if (item.length == 0) {
        enter(slot, item);
      } else if (!item.runs) {
        admit(slot, item);
      } else if (below(4) > 0) {
        grow(slot, item);
      } else {
        stop(slot, item);
      }
      REQUIRE(cache_.idle_cached() == plain_.idle_cached());
    }
  }

 private:
  static constexpr std::int64_t kSlots = 6;

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  void enter(std::int64_t slot, Item& item) {
    item = {};
    item.request.id = next_++;
    item.request.session = below(3) - 1;
    std::int64_t prompt = 0;
    item.is_private = below(5) == 0;
    for (std::int64_t run = 0; run <= below(4); ++run) {
      const auto id = static_cast<std::uint64_t>(1 + below(3));
      const std::int64_t tokens = 1 + below(3 * block_size_);
      item.request.content.push_back({id, tokens});
      add_tokens(item.tokens, id, tokens);
      prompt += tokens;
    }
    item.request.prompt = TokenCount(prompt);
    item.request.output_content = below(2) == 0 ? 0 : static_cast<std::uint64_t>(1 + below(3));
    const auto own = static_cast<std::uint64_t>(1000 + item.request.id);
    if (item.is_private) {
      item.request.content.clear();
      item.tokens.clear();
      add_tokens(item.tokens, own, prompt);
    }
    constexpr std::int64_t kMostOutput = 20;
    add_tokens(item.tokens, item.request.output_content == 0 ? own + 1'000'000 : item.request.output_content,
               kMostOutput);
    item.length = prompt;
    cache_.enter(static_cast<PrefixCache::Slot>(slot), item.request);
  }
  [[nodiscard]] static Tokens first(const Item& item, std::int64_t count) {
    return {item.tokens.begin(), item.tokens.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  void admit(std::int64_t slot, Item& item) {
    const std::vector<std::int64_t> found = plain_.match(first(item, item.length));
    const PrefixMatch match = cache_.match(static_cast<PrefixCache::Slot>(slot), item.length);
    REQUIRE(match.blocks == static_cast<std::int64_t>(found.size()));
    REQUIRE(match.idle == std::count_if(found.begin(), found.end(),
                                        [&](std::int64_t block) { return plain_.holders(block) == 0; }));
    if (item.is_private && !item.preempted) {
      REQUIRE(match.blocks == 0);
    } else if (!item.preempted) {
      REQUIRE(cache_.cached_tokens(item.request) == match.blocks * block_size_);
    }
    const PrefixSources sources = cache_.hold(static_cast<PrefixCache::Slot>(slot), match.blocks);
    REQUIRE(sources.total() == match.blocks * block_size_);
    for (const std::int64_t block : found) {
      plain_.hold(block);
      item.held.push_back(block);
    }
    item.computed = match.blocks * block_size_;
    item.cached = match.blocks;
    item.runs = true;
    REQUIRE(cache_.exclusive(static_cast<PrefixCache::Slot>(slot), match.blocks) == exclusive(item));
  }
  [[nodiscard]] std::int64_t exclusive(const Item& item) const {
    return std::count_if(item.held.begin(), item.held.end(),
                         [&](std::int64_t block) { return plain_.holders(block) == 1; });
  }

  void grow(std::int64_t slot, Item& item) {
    if (item.computed == item.length) {
      if (item.length == static_cast<std::int64_t>(item.tokens.size())) {
        stop(slot, item);
        return;
      }
      ++item.length;
    }
    const std::int64_t tokens = 1 + below(item.length - item.computed);
    const std::int64_t blocks = (item.computed + tokens + block_size_ - 1) / block_size_;
    const std::int64_t needed = blocks - static_cast<std::int64_t>(item.held.size());
    if (needed > plain_.free()) {
      stop(slot, item);
      return;
    }
    cache_.take(needed);
    for (std::int64_t i = 0; i < needed; ++i) {
      item.held.push_back(plain_.take());
    }
    item.computed += tokens;
    // Blocks of the output are cached when the sequence stops.
    if (item.computed <= item.request.prompt.count()) {
      cover(slot, item, item.computed);
    }
  }
  void cover(std::int64_t slot, Item& item, std::int64_t tokens) {
    cache_.cover(static_cast<PrefixCache::Slot>(slot), tokens);
    if (!item.is_private || item.preempted) {
      cache_plainly(item, tokens);
    }
  }
  void cache_plainly(Item& item, std::int64_t tokens) {
    for (; (item.cached + 1) * block_size_ <= tokens; ++item.cached) {
      if (item.copy < 0) {
        item.copy = copies_++;
      }
      plain_.cache(item.held[static_cast<std::size_t>(item.cached)],
                   first(item, (item.cached + 1) * block_size_), item.copy);
    }
  }

  void stop(std::int64_t slot, Item& item) {
    const bool recomputes = below(2) == 0;
    item.preempted = item.preempted || recomputes;
    const bool sought = recomputes || item.request.output_content != 0;
    const std::int64_t tokens = sought ? item.computed : std::min(item.computed, item.request.prompt.count());
    if (!item.is_private || item.preempted) {
      cache_plainly(item, tokens);
    }
    const auto held = static_cast<std::int64_t>(item.held.size());
    REQUIRE(cache_.release(static_cast<PrefixCache::Slot>(slot), held, item.computed, recomputes) ==
            plain_.release(item.held));
    item.copy = -1;
    item.runs = false;
    if (!recomputes) {
      cache_.leave(static_cast<PrefixCache::Slot>(slot));
      item = {};
    }
  }

  std::int64_t block_size_;
  PrefixCache cache_;
  PlainCache plain_;
  RandomStream random_;
  std::map<std::int64_t, Item> items_;
  std::int64_t next_ = 0, copies_ = 0;
};

TEST_CASE("a prefix cache of runs is one of single blocks") {
  const std::int64_t block_size = GENERATE(1, 2, 3, 8);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("block size " << block_size << " seed " << seed);
    Duel(static_cast<std::int64_t>(12 + seed % 40), block_size, seed).run(600);
  }
}

}  // namespace
}  // namespace inferometer
