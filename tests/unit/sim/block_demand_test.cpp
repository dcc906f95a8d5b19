#include "sim/batch/block_demand.hpp"

#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

Sequence decoding(std::int64_t computed, bool grows = true) {
  Sequence sequence;
  sequence.state = Sequence::State::decoding;
  sequence.computed = computed;
  sequence.emitted = 1;
  sequence.output = 1'000'000;
  sequence.grows = grows;
  return sequence;
}

// Blocks of 4: the sequence with 4 tokens takes one in the next step (token number 5), the one with 7 in the
// step after it, the one with 6 in the third; the fourth step takes none. The one that does not grow never
// does.
TEST_CASE("the blocks of three sequences, step by step") {
  DecodeSet set(4, std::nullopt);
  std::vector<Sequence> sequences = {decoding(4), decoding(7), decoding(6), decoding(8, false)};
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    set.join(sequences[i], static_cast<SequenceId>(i));
  }
  const BlockDemand demand(set, {});
  CHECK(demand.period() == 4);
  CHECK(demand.per_period() == 3);
  const std::vector<std::int64_t> wanted = {1, 1, 1, 0, 1, 1, 1, 0};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(demand.at(static_cast<std::int64_t>(i)) == wanted[i]);
  }
  CHECK(demand.steps_within(0, 0, 100) == 0);
  CHECK(demand.steps_within(1, 0, 100) == 1);
  CHECK(demand.steps_within(2, 0, 100) == 2);
  CHECK(demand.steps_within(3, 0, 100) == 4);  // the fourth is free
  CHECK(demand.steps_within(0, 3, 100) == 1);
  CHECK(demand.steps_within(5, 1, 100) == 7);  // 1 1 0 1 1 1 0
  CHECK(demand.steps_within(300, 0, 400) == 400);
  CHECK(demand.steps_within(299, 0, 400) == 398);
  CHECK(demand.steps_within(300, 0, 7) == 7);
}

// Blocks of 4, chunks of 6 from 5 tokens on: ends at 11, 17, 23, 29 tokens, which fill 3, 5, 6, 8 blocks; 5
// fill 2.
TEST_CASE("the blocks of a chunk, step by step") {
  const DecodeSet set(4, std::nullopt);
  const std::vector<ChunkShape> chunks = {{6, 5}};
  const BlockDemand demand(set, chunks);
  CHECK(demand.per_period() == 6);
  CHECK(demand.at(0) == 1);
  CHECK(demand.at(1) == 2);
  CHECK(demand.at(2) == 1);
  CHECK(demand.at(3) == 2);
  CHECK(demand.at(4) == 1);
  CHECK(demand.steps_within(3, 0, 10) == 2);
  CHECK(demand.steps_within(2, 0, 10) == 1);
  CHECK(demand.steps_within(2, 1, 10) == 1);
  CHECK(demand.steps_within(3, 1, 10) == 2);
}

TEST_CASE("nothing grows: no end") {
  DecodeSet set(16, std::nullopt);
  Sequence sequence = decoding(16, false);
  set.join(sequence, 0);
  const BlockDemand demand(set, {});
  CHECK(demand.at(0) == 0);
  CHECK(demand.steps_within(0, 0, 1'000'000) == 1'000'000);
}

/// Every sequence and every chunk looked at afresh in every step.
struct Walk {
  std::int64_t block_size;
  std::vector<std::int64_t> computed;  // of those that grow
  std::vector<ChunkShape> chunks;

  [[nodiscard]] std::int64_t at(std::int64_t ahead) const {
    std::int64_t blocks = 0;
    for (const std::int64_t tokens : computed) {
      blocks += ceil_div(tokens + ahead + 1, block_size) - ceil_div(tokens + ahead, block_size);
    }
    for (ChunkShape chunk : chunks) {
      chunk.past += ahead * chunk.tokens;
      blocks += ceil_div(chunk.past + chunk.tokens, block_size) - ceil_div(chunk.past, block_size);
    }
    return blocks;
  }
  [[nodiscard]] std::int64_t steps_within(std::int64_t free, std::int64_t ahead, std::int64_t most) const {
    std::int64_t steps = 0;
    while (steps < most && at(ahead + steps) <= free) {
      free -= at(ahead + steps);
      ++steps;
    }
    return steps;
  }
};

TEST_CASE("blocks are those of a walk over all sequences") {
  RandomStream random(1, "tests/block_demand");
  const auto below = [&](std::uint64_t bound) { return static_cast<std::int64_t>(random.below(bound)); };
  for (int i = 0; i < 300; ++i) {
    Walk walk{1 + below(17), {}, {}};
    DecodeSet set(walk.block_size, std::nullopt);
    std::vector<Sequence> sequences;
    for (std::int64_t count = below(9); count > 0; --count) {
      sequences.push_back(decoding(below(60), below(4) > 0));
    }
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      set.join(sequences[s], static_cast<SequenceId>(s));
      if (sequences[s].grows) {
        walk.computed.push_back(sequences[s].computed);
      }
      const std::int64_t steps = 1 + below(20);
      set.advance({}, {}, steps);
      for (std::int64_t& computed : walk.computed) {
        computed += steps;
      }
    }
    for (std::int64_t count = below(3); count > 0; --count) {
      walk.chunks.push_back({1 + below(40), below(100)});
    }
    const BlockDemand demand(set, walk.chunks);
    std::int64_t per_period = 0;
    for (std::int64_t ahead = 0; ahead < 2 * walk.block_size; ++ahead) {
      REQUIRE(demand.at(ahead) == walk.at(ahead));
      per_period += ahead < walk.block_size ? walk.at(ahead) : 0;
    }
    REQUIRE(demand.per_period() == per_period);
    for (int trial = 0; trial < 10; ++trial) {
      const std::int64_t free = below(100);
      const std::int64_t ahead = below(20);
      const std::int64_t most = below(200);
      CAPTURE(walk.block_size, free, ahead, most);
      REQUIRE(demand.steps_within(free, ahead, most) == walk.steps_within(free, ahead, most));
    }
  }
}

}  // namespace
}  // namespace inferometer
