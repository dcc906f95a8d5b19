// HostTier by hand, and against one that knows every block by itself.

#include "sim/kvcache/host_tier.hpp"

#include <algorithm>
#include <list>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace inferometer {
namespace {

using testing::Dice;

/// Blocks in the order of their last use, one by one.
class PlainTier {
 public:
  explicit PlainTier(std::size_t capacity) : capacity_(capacity) {}

  std::int64_t put(std::uint64_t run, std::int64_t from, std::int64_t to) {
    std::int64_t missing = 0;
    for (std::int64_t block = to - 1; block >= from; --block) {
      if (!remove({run, block})) {
        ++missing;
        if (blocks_.size() == capacity_) {
          blocks_.pop_back();
        }
      }
      blocks_.push_front({run, block});
    }
    return missing;
  }
  void use(std::uint64_t run, std::int64_t from, std::int64_t to) {
    for (std::int64_t block = to - 1; block >= from; --block) {
      if (remove({run, block})) {
        blocks_.push_front({run, block});
      }
    }
  }
  [[nodiscard]] std::int64_t find(std::uint64_t run, std::int64_t from, std::int64_t to) const {
    std::int64_t block = from;
    while (block < to && std::find(blocks_.begin(), blocks_.end(), Block{run, block}) != blocks_.end()) {
      ++block;
    }
    return block - from;
  }
  [[nodiscard]] std::size_t held() const { return blocks_.size(); }

 private:
  using Block = std::pair<std::uint64_t, std::int64_t>;
  bool remove(const Block& block) { return blocks_.remove(block) > 0; }

  std::size_t capacity_;
  std::list<Block> blocks_;
};

TEST_CASE("host tier: the end of a run is dropped before its beginning and the oldest run first") {
  HostTier tier(6);
  CHECK(tier.put(1, 0, 4) == 4);
  CHECK(tier.put(2, 2, 4) == 2);
  CHECK(tier.put(3, 0, 1) == 1);  // in place of block 3 of run 1
  CHECK(tier.find(1, 0, 4).blocks == 3);
  CHECK(tier.find(1, 3, 4).blocks == 0);
  tier.use(1, 0, 2);
  CHECK(tier.put(4, 7, 9) == 2);  // block 2 of run 1, then block 3 of run 2
  CHECK(tier.find(1, 0, 4).blocks == 2);
  CHECK(tier.find(2, 2, 4).blocks == 1);
  CHECK(tier.held() == 6);
}

TEST_CASE("host tier: blocks can be read when the last copy of what was asked for has ended") {
  HostTier tier(10);
  tier.put(1, 0, 2);
  tier.ready_at(TimePoint(Duration(50)));
  tier.put(1, 2, 4);
  tier.ready_at(TimePoint(Duration(80)));
  CHECK((tier.find(1, 0, 2).ready == TimePoint(Duration(50))));
  CHECK((tier.find(1, 0, 4).ready == TimePoint(Duration(80))));
}

TEST_CASE("host tier: a run longer than the memory leaves its beginning") {
  HostTier tier(3);
  CHECK(tier.put(1, 0, 5) == 5);
  CHECK(tier.find(1, 0, 5).blocks == 3);
}

TEST_CASE("host tier: as block by block: 200 histories") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Dice dice(seed, "tests/host_tier");
    const std::int64_t capacity = dice.one_of({1, 2, 5, 20, 60});
    HostTier tier(capacity);
    PlainTier plain(static_cast<std::size_t>(capacity));
    for (int i = 0; i < 200; ++i) {
      CAPTURE(i);
      const auto run = static_cast<std::uint64_t>(dice.between(1, 4));
      const std::int64_t from = dice.between(0, 20);
      const std::int64_t to = from + dice.between(1, 12);
      if (dice.chance(70)) {
        REQUIRE(tier.put(run, from, to) == plain.put(run, from, to));
      } else {
        tier.use(run, from, to);
        plain.use(run, from, to);
      }
      REQUIRE(tier.held() == static_cast<std::int64_t>(plain.held()));
      const std::int64_t at = dice.between(0, 30);
      REQUIRE(tier.find(run, at, at + 9).blocks == plain.find(run, at, at + 9));
    }
  }
}

}  // namespace
}  // namespace inferometer
