// What a replica had cached at a moment in the past.

#include "sim/cluster/prefix_follower.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

constexpr std::int64_t kBlockSize = 4;
constexpr std::int64_t kMostTokens = 40;
constexpr std::int32_t kSlots = 4;
constexpr std::int64_t kBlocks =
    kSlots * kMostTokens / kBlockSize + 6;  // for all at once, and little to keep

/// Runs of few ids, many of which begin and end within a block.
Request random_request(Dice& dice, std::int64_t id) {
  std::vector<ContentRun> runs;
  const std::int64_t count = dice.between(1, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    runs.push_back({static_cast<std::uint64_t>(dice.between(1, 3)), dice.one_of({1, 3, 4, 6, 10})});
  }
  return prompt_of(std::move(runs), id);
}

/// Sequences that come, compute their prompts in two parts and go.
class Sequences {
 public:
  Sequences(PrefixCache& cache, Dice& dice) : cache_(cache), dice_(dice), tokens_(kSlots) {}

  void go_on() {
    const auto slot = static_cast<std::int32_t>(dice_.between(0, kSlots - 1));
    std::int64_t& tokens = tokens_[static_cast<std::size_t>(slot)];
    if (tokens > 0) {
      cache_.cover(slot, tokens);
      cache_.release(slot, ceil_div(tokens, kBlockSize), tokens, false);
      cache_.leave(slot);
      tokens = 0;
      return;
    }
    const Request request = random_request(dice_, next_++);
    tokens = request.prompt.count();
    cache_.enter(slot, request);
    const PrefixMatch match = cache_.match(slot, tokens);
    cache_.hold(slot, match.blocks);
    cache_.take(ceil_div(tokens, kBlockSize) - match.blocks);
    cache_.cover(slot, std::max(match.blocks * kBlockSize, dice_.between(0, tokens)));
  }

  void all_gone() {
    cache_.clear(kBlocks);
    tokens_.assign(kSlots, 0);
  }

 private:
  PrefixCache& cache_;
  Dice& dice_;
  std::vector<std::int64_t> tokens_;  // of those that are there
  std::int64_t next_ = 0;
};

}  // namespace

TEST_CASE("a follower says what was cached when it last caught up") {
  PrefixCache cache(10, kBlockSize);
  PrefixFollower follower(kBlockSize);
  cache.listen(&follower);
  // 10 tokens: two whole blocks, of which the second ends in the second run.
  const Request request = prompt_of({{7, 5}, {8, 5}});
  cache.enter(0, request);
  REQUIRE(cache.match(0, 10).blocks == 0);
  cache.take(3);
  cache.cover(0, 10);
  CHECK(follower.cached_tokens(request) == 0);
  follower.catch_up();
  CHECK(follower.cached_tokens(request) == 8);
  CHECK(follower.cached_tokens(prompt_of({{7, 5}, {8, 3}})) == 4);  // 8 tokens: the last has to run
  CHECK(follower.cached_tokens(prompt_of({{7, 5}, {9, 5}})) == 4);
  CHECK(follower.cached_tokens(prompt_of({{9, 5}, {8, 5}})) == 0);
  CHECK(follower.cached_tokens(lone_prompt(10, 3)) == 0);
  cache.release(0, 3, 10, false);
  cache.leave(0);
  cache.take(9);  // all but the first
  CHECK(follower.cached_tokens(request) == 8);
  follower.catch_up();
  CHECK(follower.cached_tokens(request) == 4);
  cache.clear(10);
  CHECK(follower.cached_tokens(request) == 4);
  follower.catch_up();
  CHECK(follower.cached_tokens(request) == 0);
}

TEST_CASE("a follower knows between two looks neither less nor more than at the first") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Dice dice(seed, "prefix_follower");
    PrefixCache cache(kBlocks, kBlockSize);
    PrefixFollower follower(kBlockSize);
    cache.listen(&follower);
    Sequences sequences(cache, dice);
    std::vector<Request> sought;
    for (std::int64_t i = 0; i < 20; ++i) {
      sought.push_back(random_request(dice, 1000 + i));
    }
    for (int look = 0; look < 20; ++look) {
      follower.catch_up();
      std::vector<std::int64_t> cached;
      for (const Request& request : sought) {
        cached.push_back(cache.cached_tokens(request));
      }
      const std::int64_t changes = dice.between(0, 15);
      for (std::int64_t i = 0; i < changes; ++i) {
        sequences.go_on();
      }
      if (dice.chance(5)) {
        sequences.all_gone();
      }
      for (std::size_t i = 0; i < sought.size(); ++i) {
        REQUIRE(follower.cached_tokens(sought[i]) == cached[i]);
      }
    }
  }
}
