// TierBlocks by hand, and against one that knows every block by itself.

#include "sim/kvcache/tier_blocks.hpp"

#include <algorithm>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/unit/kvcache/plain_tier.hpp"

namespace inferometer {
namespace {

using testing::Dice;
using testing::PlainTier;
using testing::TierBlock;

/// Lets in so many, which are there at `time`; writes down what is dropped, block by block.
class Gate final : public TierFlow {
 public:
  explicit Gate(std::int64_t most = 1000, std::int64_t time = 0) : left_(most), time_(Duration(time)) {}

  std::int64_t let_in(std::int64_t blocks) override { return std::min(blocks, left_); }
  TimePoint copy_in(std::int64_t blocks) override {
    came += blocks;
    left_ -= blocks;
    return time_;
  }
  void drop(std::uint64_t run, std::int64_t from, std::int64_t to, TimePoint /*ready*/) override {
    for (std::int64_t block = to - 1; block >= from; --block) {
      dropped.emplace_back(run, block);
    }
  }

  std::int64_t came = 0;
  std::vector<TierBlock> dropped;

 private:
  std::int64_t left_;
  TimePoint time_;
};

std::int64_t put(TierBlocks& tier, std::uint64_t run, std::int64_t from, std::int64_t to,
                 std::int64_t time = 0) {
  Gate gate(1000, time);
  tier.put(run, from, to, gate);
  return gate.came;
}

std::int64_t first_that(const PlainTier& plain, std::uint64_t run, std::int64_t from, std::int64_t to,
                        bool is_there) {
  while (from < to && plain.has({run, from}) != is_there) {
    ++from;
  }
  return from;
}

TEST_CASE("tier blocks: the end of a run is dropped before its beginning and the oldest run first") {
  TierBlocks tier(6);
  CHECK(put(tier, 1, 0, 4) == 4);
  CHECK(put(tier, 2, 2, 4) == 2);
  CHECK(put(tier, 3, 0, 1) == 1);  // in place of block 3 of run 1
  CHECK(tier.find(1, 0, 4).blocks == 3);
  CHECK(tier.find(1, 3, 4).blocks == 0);
  tier.use(1, 0, 2);
  Gate gate;
  tier.put(4, 7, 9, gate);
  CHECK((gate.dropped == std::vector<TierBlock>{{1, 2}, {2, 3}}));
  CHECK(tier.find(1, 0, 4).blocks == 2);
  CHECK(tier.find(2, 2, 4).blocks == 1);
  CHECK(tier.held() == 6);
}

TEST_CASE("tier blocks: what may not come in leaves a gap and drops nothing") {
  TierBlocks tier(5);
  put(tier, 1, 2, 4);
  Gate gate(2);
  tier.put(1, 0, 6, gate);  // blocks 5 and 4; 0 and 1 may not
  CHECK(gate.came == 2);
  CHECK(gate.dropped.empty());
  CHECK(tier.find(1, 0, 6).blocks == 0);
  CHECK(tier.next(1, 0, 6) == 2);
  CHECK(tier.find(1, 2, 6).blocks == 4);
  CHECK(tier.next(1, 6, 9) == 9);
}

TEST_CASE("tier blocks: blocks can be read when the last copy of what was asked for has ended") {
  TierBlocks tier(10);
  put(tier, 1, 0, 2, 50);
  put(tier, 1, 2, 4, 80);
  CHECK((tier.find(1, 0, 2).ready == TimePoint(Duration(50))));
  CHECK((tier.find(1, 0, 4).ready == TimePoint(Duration(80))));
}

TEST_CASE("tier blocks: a run longer than the memory leaves its beginning") {
  TierBlocks tier(3);
  CHECK(put(tier, 1, 0, 5) == 5);
  CHECK(tier.find(1, 0, 5).blocks == 3);
}

/// At most `most` absent ones come in; returns what goes for them.
std::vector<TierBlock> put_one_by_one(PlainTier& plain, std::uint64_t run, std::int64_t from, std::int64_t to,
                                      std::int64_t most) {
  std::vector<TierBlock> dropped;
  for (std::int64_t block = to - 1; block >= from; --block) {
    const bool is_there = plain.has({run, block});
    if (!is_there && most == 0) {
      continue;
    }
    most -= is_there ? 0 : 1;
    if (const auto gone = plain.put({run, block})) {
      dropped.push_back(*gone);
    }
  }
  return dropped;
}

TEST_CASE("tier blocks: as block by block: 200 histories") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Dice dice(seed, "tests/tier_blocks");
    const std::int64_t capacity = dice.one_of({1, 2, 5, 20, 60});
    TierBlocks tier(capacity);
    PlainTier plain(capacity);
    for (int i = 0; i < 200; ++i) {
      CAPTURE(i);
      const auto run = static_cast<std::uint64_t>(dice.between(1, 4));
      const std::int64_t from = dice.between(0, 20);
      const std::int64_t to = from + dice.between(1, 12);
      if (dice.chance(70)) {
        const std::int64_t most = dice.chance(80) ? 1000 : dice.between(0, 6);
        Gate gate(most);
        tier.put(run, from, to, gate);
        REQUIRE((gate.dropped == put_one_by_one(plain, run, from, to, most)));
      } else {
        tier.use(run, from, to);
        for (std::int64_t block = to - 1; block >= from; --block) {
          plain.use({run, block});
        }
      }
      REQUIRE(tier.held() == plain.held());
      const std::int64_t at = dice.between(0, 30);
      REQUIRE(at + tier.find(run, at, at + 9).blocks == first_that(plain, run, at, at + 9, false));
      REQUIRE(tier.next(run, at, at + 9) == first_that(plain, run, at, at + 9, true));
    }
  }
}

}  // namespace
}  // namespace inferometer
