// The aggregates of a DecodeSet against a model that keeps every sequence's numbers and adds them up afresh.

#include "sim/batch/decode_set.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

class Model {
 public:
  Model(std::int64_t block_size, std::optional<std::int64_t> window, std::uint64_t seed)
      : block_size_(block_size),
        window_(window),
        set_(block_size, window),
        random_(seed, "tests/decode_set") {}

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      const std::uint64_t dice = random_.below(100);
      if (dice < 25) {
        join_new();
      } else if (dice < 35) {
        leave(pick(true), true);
      } else if (dice < 42) {
        leave(pick(true), false);  // set aside
      } else if (dice < 50) {
        rejoin(pick(false));
      } else {
        advance();
      }
      check();
    }
    REQUIRE(finished_ > 0);
    REQUIRE(longest_advance_ > 3);
    REQUIRE(emitted_more_ > 0);
  }

 private:
  struct Member {
    std::int64_t computed = 0, emitted = 0, output = 0;
    bool grows = true, in_set = false;
    TimePoint last;
  };

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  SequenceId pick(bool in_set) {
    std::vector<SequenceId> found;
    for (const auto& [id, member] : members_) {
      if (member.in_set == in_set) {
        found.push_back(id);
      }
    }
    return found.empty() ? kNoSequence : found[static_cast<std::size_t>(random_.below(found.size()))];
  }

  Sequence& sequence(SequenceId id) { return sequences_[static_cast<std::size_t>(id)]; }

  void join_new() {
    const auto id = static_cast<SequenceId>(sequences_.size());
    Member member;
    member.computed = between(1, 40);
    member.emitted = between(1, 3);
    member.output = member.emitted + between(1, 30);
    member.grows = between(0, 3) > 0;
    member.last = between(0, 1) == 0 ? now_ : now_ - picoseconds(between(0, now_.since_start().count()));
    Sequence fresh;
    fresh.computed = member.computed;
    fresh.emitted = member.emitted;
    fresh.output = member.output;
    fresh.grows = member.grows;
    fresh.last_emission = member.last;
    sequences_.push_back(fresh);
    members_[id] = member;
    rejoin(id);
  }

  void rejoin(SequenceId id) {
    if (id != kNoSequence) {
      sequence(id).state = Sequence::State::decoding;
      set_.join(sequence(id), id);
      members_[id].in_set = true;
    }
  }

  void leave(SequenceId id, bool for_good) {
    if (id == kNoSequence) {
      return;
    }
    set_.leave(sequence(id), id);
    sequence(id).state = Sequence::State::waiting;
    Member& member = members_[id];
    REQUIRE(sequence(id).computed == member.computed);
    REQUIRE(sequence(id).emitted == member.emitted);
    REQUIRE((sequence(id).last_emission == member.last));
    member.in_set = false;
    if (for_good) {
      members_.erase(id);
    }
  }

  /// As many steps as may be taken at once, or fewer.
  std::int64_t draw_steps() {
    if (set_.count() == 0) {
      return between(1, 5);
    }
    return between(1, std::min(set_.steps_to_next_finish(), set_.steps_of_same_growth()));
  }

  void advance() {
    const std::int64_t steps = draw_steps();
    const TimePoint first_end = now_ + picoseconds(between(1, 9));
    now_ = steps == 1 ? first_end : first_end + picoseconds(between(steps - 1, 9 * steps));
    std::map<std::int64_t, std::int64_t> gaps;
    std::vector<SequenceId> done;
    for (auto& [id, member] : members_) {
      if (!member.in_set) {
        continue;
      }
      ++gaps[(first_end - member.last).count()];
      member.last = now_;
      member.computed += steps;
      member.emitted += steps;
      if (member.emitted == member.output) {
        done.push_back(id);
      }
    }
    longest_advance_ = std::max(longest_advance_, steps);
    set_.advance(first_end, now_, steps);
    std::map<std::int64_t, std::int64_t> got;
    for (const TokenGap& gap : set_.gaps()) {
      REQUIRE(gap.count > 0);
      got[gap.gap.count()] += gap.count;
    }
    REQUIRE(got == gaps);
    if (steps == 1) {
      emit_more(done);
    }
    for (std::size_t i = 0; i < done.size(); ++i) {
      const SequenceId id = set_.next_finished();
      REQUIRE(std::count(done.begin(), done.end(), id) == 1);
      REQUIRE(members_.count(id) == 1);
      leave(id, true);
      ++finished_;
    }
    REQUIRE(set_.next_finished() == kNoSequence);
  }

  /// Some whose blocks are not counted here have emitted more than one token in the last step.
  void emit_more(std::vector<SequenceId>& done) {
    for (auto& [id, member] : members_) {
      const std::int64_t left = member.output - member.emitted;
      if (member.in_set && !member.grows && left > 0 && between(0, 1) == 0) {
        const std::int64_t more = between(1, std::min<std::int64_t>(left, 5));
        set_.emit_more(sequence(id), id, more);
        member.computed += more;
        member.emitted += more;
        ++emitted_more_;
        if (more == left) {
          done.push_back(id);
        }
      }
    }
  }

  void check() {
    std::int64_t count = 0;
    ContextTokens context;
    std::int64_t blocks = 0;
    for (const auto& [id, member] : members_) {
      if (!member.in_set) {
        continue;
      }
      ++count;
      context += {member.computed + 1, window_ ? std::min(member.computed + 1, *window_) : 0};
      const bool needs = member.grows && member.computed % block_size_ == 0;
      blocks += needs ? 1 : 0;
      REQUIRE(set_.needs_block(sequence(id)) == needs);
      REQUIRE(sequence(id).computed + set_.steps_of(sequence(id)) == member.computed);
    }
    REQUIRE(set_.count() == count);
    REQUIRE((set_.context() == context));
    REQUIRE(set_.blocks_needed() == blocks);
    check_outlook();
  }

  // What the set says of the steps to come, while nobody joins or leaves.
  void check_outlook() {
    const std::int64_t ahead = between(0, 40);
    ContextTokens growth;
    std::int64_t growing = 0;
    std::int64_t blocks_ahead = 0;
    std::int64_t to_finish = std::numeric_limits<std::int64_t>::max();
    std::int64_t to_full_window = std::numeric_limits<std::int64_t>::max();
    for (const auto& [id, member] : members_) {
      if (!member.in_set) {
        continue;
      }
      const bool window_fills = window_ && member.computed + 1 < *window_;
      growth += {1, window_fills ? 1 : 0};
      growing += member.grows ? 1 : 0;
      blocks_ahead += member.grows && (member.computed + ahead) % block_size_ == 0 ? 1 : 0;
      to_finish = std::min(to_finish, member.output - member.emitted);
      if (window_fills) {
        to_full_window = std::min(to_full_window, *window_ - member.computed - 1);
      }
    }
    REQUIRE((set_.context_growth() == growth));
    REQUIRE(set_.growing() == growing);
    REQUIRE(set_.blocks_needed_at(ahead) == blocks_ahead);
    if (set_.count() > 0) {
      REQUIRE(set_.steps_to_next_finish() == to_finish);
    }
    REQUIRE(set_.steps_of_same_growth() == to_full_window);
  }

  std::int64_t block_size_;
  std::optional<std::int64_t> window_;
  DecodeSet set_;
  RandomStream random_;
  std::vector<Sequence> sequences_;
  std::map<SequenceId, Member> members_;
  TimePoint now_;
  int finished_ = 0;
  int emitted_more_ = 0;
  std::int64_t longest_advance_ = 0;
};

TEST_CASE("a decode set adds up like its members, one by one") {
  constexpr int kOperations = 3000;
  for (const std::int64_t block_size : {1, 3, 16}) {
    for (const std::optional<std::int64_t> window :
         {std::optional<std::int64_t>(), std::optional<std::int64_t>(1), std::optional<std::int64_t>(23)}) {
      CAPTURE(block_size, window.value_or(0));
      Model(block_size, window, static_cast<std::uint64_t>(block_size)).run(kOperations);
    }
  }
}

TEST_CASE("a window of W attends to W tokens from the step on that has W - 1 cached") {
  const DecodeSet set(4, 8);
  CHECK((set.attended(6) == ContextTokens{7, 7}));
  CHECK((set.attended(7) == ContextTokens{8, 8}));
  CHECK((set.attended(8) == ContextTokens{9, 8}));
  CHECK((DecodeSet(4, std::nullopt).attended(8) == ContextTokens{9, 0}));
}

TEST_CASE("gaps are told apart by the previous token's time") {
  DecodeSet set(4, std::nullopt);
  std::vector<Sequence> sequences(3);
  for (Sequence& sequence : sequences) {
    sequence.state = Sequence::State::decoding;
    sequence.computed = 5;
    sequence.emitted = 1;
    sequence.output = 9;
  }
  const auto at_us = [](std::int64_t us) { return TimePoint(microseconds(us)); };
  sequences[0].last_emission = at_us(10);
  sequences[1].last_emission = at_us(10);
  set.join(sequences[0], 0);
  set.join(sequences[1], 1);
  set.advance(at_us(25), at_us(25), 1);
  REQUIRE(set.gaps().size() == 1);
  CHECK((set.gaps()[0].gap == microseconds(15)));
  CHECK(set.gaps()[0].count == 2);
  sequences[2].last_emission = at_us(24);
  set.join(sequences[2], 2);
  set.advance(at_us(31), at_us(31), 1);  // two have waited 6 us, the newcomer 7
  std::map<std::int64_t, std::int64_t> gaps;
  for (const TokenGap& gap : set.gaps()) {
    gaps[gap.gap.count()] += gap.count;
  }
  CHECK(gaps == std::map<std::int64_t, std::int64_t>{{6'000'000, 2}, {7'000'000, 1}});
}

// Windows of 10 tokens, sequences with 5 and 7 cached: they attend to 6 and 8. After two steps the second
// window is full (8 + 10), after four the first as well.
TEST_CASE("many steps at once stop where a window fills up") {
  DecodeSet set(4, 10);
  std::vector<Sequence> sequences(2);
  for (Sequence& sequence : sequences) {
    sequence.state = Sequence::State::decoding;
    sequence.emitted = 1;
    sequence.output = 100;
  }
  sequences[0].computed = 5;
  sequences[1].computed = 7;
  set.join(sequences[0], 0);
  set.join(sequences[1], 1);
  CHECK((set.context() == ContextTokens{14, 14}));
  CHECK((set.context_growth() == ContextTokens{2, 2}));
  CHECK(set.steps_of_same_growth() == 2);
  set.advance({}, {}, 2);
  CHECK((set.context() == ContextTokens{18, 18}));
  CHECK((set.context_growth() == ContextTokens{2, 1}));
  CHECK(set.steps_of_same_growth() == 2);
  set.advance({}, {}, 2);
  CHECK((set.context() == ContextTokens{22, 20}));
  CHECK((set.context_growth() == ContextTokens{2, 0}));
  CHECK(set.steps_of_same_growth() == std::numeric_limits<std::int64_t>::max());
  CHECK(set.steps_to_next_finish() == 95);
  set.advance({}, {}, 95);
  CHECK((set.context() == ContextTokens{22 + 2 * 95, 20}));
  CHECK(set.next_finished() != kNoSequence);
}

}  // namespace
}  // namespace inferometer
