// Rules of the prefix cache by cases worked out by hand. Blocks of 4 tokens.

#include "sim/kvcache/prefix_cache.hpp"

#include <array>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kBlockSize = 4;

Request request_of(std::int64_t id, std::vector<ContentRun> content, std::int64_t session = -1,
                   std::uint64_t output = 0) {
  Request request;
  request.id = id;
  request.session = session;
  std::int64_t tokens = 0;
  for (const ContentRun& run : content) {
    tokens += run.tokens;
  }
  request.prompt = TokenCount(tokens);
  request.content = std::move(content);
  request.output_content = output;
  return request;
}

class Cache {
 public:
  explicit Cache(std::int64_t blocks) : free_(blocks), cache_(blocks, kBlockSize) {}

  /// Admits a request whose whole prompt is computed at once; returns the blocks it found.
  std::int64_t admit(PrefixCache::Slot slot, const Request& request) {
    cache_.enter(slot, request);
    return readmit(slot, request.prompt.count());
  }
  std::int64_t readmit(PrefixCache::Slot slot, std::int64_t tokens) {
    const PrefixMatch match = cache_.match(slot, tokens);
    sources_ = cache_.hold(slot, match.blocks);
    const std::int64_t blocks = (tokens + kBlockSize - 1) / kBlockSize;
    cache_.take(blocks - match.blocks);
    free_ -= blocks - match.blocks + match.idle;
    cache_.cover(slot, tokens);
    held_[static_cast<std::size_t>(slot)] = blocks;
    return match.blocks;
  }
  void take_for_output(PrefixCache::Slot slot, std::int64_t blocks) {
    cache_.take(blocks);
    free_ -= blocks;
    held_[static_cast<std::size_t>(slot)] += blocks;
  }
  void finish(PrefixCache::Slot slot, std::int64_t tokens) {
    free_ += cache_.release(slot, held_[static_cast<std::size_t>(slot)], tokens, false);
    cache_.leave(slot);
  }
  void preempt(PrefixCache::Slot slot, std::int64_t tokens) {
    free_ += cache_.release(slot, held_[static_cast<std::size_t>(slot)], tokens, true);
  }
  [[nodiscard]] std::int64_t free() const { return free_; }
  [[nodiscard]] const PrefixSources& sources() const { return sources_; }
  PrefixCache& operator*() { return cache_; }

 private:
  std::int64_t free_;
  PrefixCache cache_;
  PrefixSources sources_;
  std::array<std::int64_t, 8> held_{};
};

TEST_CASE("a prefix is found from the moment its blocks are taken") {
  Cache cache(20);
  REQUIRE(cache.admit(0, request_of(0, {{1, 8}, {2, 6}})) == 0);
  REQUIRE(cache.admit(1, request_of(1, {{1, 8}, {3, 6}})) == 2);
  REQUIRE(cache.sources() == PrefixSources{0, 0, 8});
  REQUIRE(cache.free() == 20 - 4 - 2);
}

TEST_CASE("only full blocks are found") {
  Cache cache(20);
  cache.admit(0, request_of(0, {{1, 7}, {2, 6}}));  // the second block has tokens of both runs
  REQUIRE(cache.admit(1, request_of(1, {{1, 7}, {3, 6}})) == 1);
  REQUIRE(cache.admit(2, request_of(2, {{1, 7}, {2, 6}})) == 3);
}

TEST_CASE("a prompt that is all cached computes its last block again") {
  Cache cache(20);
  cache.admit(0, request_of(0, {{1, 16}}));
  REQUIRE(cache.admit(1, request_of(1, {{1, 16}})) == 3);
  REQUIRE(cache.admit(2, request_of(2, {{1, 17}})) == 4);
  REQUIRE((*cache).cached() == 4 + 1);  // the last block is there twice
}

TEST_CASE("blocks given back are found until they are taken") {
  Cache cache(6);
  cache.admit(0, request_of(0, {{1, 16}}));
  cache.finish(0, 16);
  REQUIRE(cache.free() == 6);
  REQUIRE((*cache).idle_cached() == 4);
  // The two that never had anything go first, then the end of the prompt.
  cache.admit(1, request_of(1, {{2, 12}}));
  REQUIRE((*cache).idle_cached() == 3);
  REQUIRE((*cache).cached_tokens(request_of(2, {{1, 17}})) == 12);
}

TEST_CASE("what was given back first is taken first") {
  Cache cache(8);
  cache.admit(0, request_of(0, {{1, 16}}));
  cache.admit(1, request_of(1, {{2, 16}}));
  cache.finish(1, 16);
  cache.finish(0, 16);
  REQUIRE(cache.admit(2, request_of(2, {{3, 12}})) == 0);  // takes three blocks of the second prompt
  REQUIRE((*cache).cached_tokens(request_of(3, {{1, 17}})) == 16);
  REQUIRE((*cache).cached_tokens(request_of(4, {{2, 17}})) == 4);
}

TEST_CASE("finding a prefix makes it last longer") {
  Cache cache(8);
  cache.admit(0, request_of(0, {{1, 16}}));
  cache.finish(0, 16);
  cache.admit(1, request_of(1, {{2, 16}}));
  cache.finish(1, 16);
  cache.admit(
      2, request_of(2, {{1, 8}, {4, 1}}));  // two blocks of the first, and its last one for the new token
  cache.finish(2, 9);
  cache.admit(3, request_of(3, {{3, 16}}));
  // Of the first prompt, the two blocks that were found again outlive the second prompt.
  REQUIRE((*cache).cached_tokens(request_of(4, {{1, 17}})) == 8);
  REQUIRE((*cache).cached_tokens(request_of(5, {{2, 17}})) == 4);
}

TEST_CASE("a preempted request finds what it had computed") {
  Cache cache(10);
  Request plain;
  plain.id = 1;
  plain.prompt = TokenCount(10);
  REQUIRE(cache.admit(1, plain) == 0);
  REQUIRE((*cache).cached() == 0);
  cache.preempt(1, 10);
  REQUIRE((*cache).idle_cached() == 2);
  REQUIRE(cache.readmit(1, 12) == 2);
  REQUIRE(cache.sources() == PrefixSources{8, 0, 0});
}

TEST_CASE("the next turn of a session finds the answer of the one before") {
  Cache cache(20);
  cache.admit(0, request_of(0, {{1, 8}}, 7, 100));
  (*cache).take(2);  // for its answer of 8 tokens
  (*cache).put_back(2);
  cache.finish(0, 8);
  REQUIRE(cache.admit(1, request_of(1, {{1, 8}, {100, 8}, {2, 4}}, 7)) == 2);
  REQUIRE(cache.sources() == PrefixSources{0, 8, 0});
}

TEST_CASE("blocks that are shared are not freed by one") {
  Cache cache(20);
  cache.admit(0, request_of(0, {{1, 8}, {2, 8}}));
  cache.admit(1, request_of(1, {{1, 8}, {3, 8}}));
  REQUIRE((*cache).exclusive(0, 4) == 2);
  cache.finish(0, 16);
  REQUIRE(cache.free() == 20 - 4);
  REQUIRE((*cache).exclusive(1, 4) == 4);
}

}  // namespace
}  // namespace inferometer
