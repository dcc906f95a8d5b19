#include "sim/router/prefix_index.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"
#include "tests/unit/router/router_fixture.hpp"

using namespace inferometer;
using namespace inferometer::testing;

namespace {

using Matches = std::vector<std::int64_t>;

Matches matches(PrefixIndex& index, const Request& request, std::int32_t replicas, TimePoint now = {}) {
  index.match(request, now);
  Matches found;
  for (std::int32_t replica = 0; replica < replicas; ++replica) {
    found.push_back(index.matched(replica));
  }
  return found;
}

void add_all(PrefixIndex& index, std::int32_t replica, const Request& request, TimePoint now = {}) {
  index.add(replica, request, request.prompt.count(), now);
}

TimePoint at(std::int64_t seconds_since_start) {
  return TimePoint(seconds(seconds_since_start));
}

/// The same by plain lists: of each replica every run of every prompt, under all that leads to it.
class PlainIndex {
 public:
  explicit PlainIndex(PrefixIndex::Limits limits) : limits_(limits) {}

  void add(std::int32_t replica, const Request& request, std::int64_t tokens, TimePoint now) {
    std::vector<std::string> names;
    std::string name;
    std::int64_t left = tokens;
    const std::vector<ContentRun> runs =
        request.content.empty() ? std::vector<ContentRun>{{0, request.prompt.count()}} : request.content;
    for (const ContentRun& run : runs) {
      if (left <= 0) {
        break;
      }
      name += "/" + std::to_string(run.id);
      if (request.content.empty()) {
        name += "!" + std::to_string(request.id);
      }
      Run& known = known_[replica][name];
      known.tokens = std::max(known.tokens, std::min(left, run.tokens));
      names.push_back(name);
      left -= run.tokens;
      name += ":" + std::to_string(run.tokens);
    }
    for (auto one = names.rbegin(); one != names.rend(); ++one) {
      known_[replica][*one].used = now;
      known_[replica][*one].order = ++order_;
    }
    drop_old(replica, now);
    while (limits_.tokens && tokens_of(replica) > *limits_.tokens) {
      cut_one(replica);
    }
  }

  std::int64_t matched(std::int32_t replica, const Request& request, TimePoint now) {
    std::string name;
    std::int64_t matched = 0;
    for (const ContentRun& run : request.content) {
      name += "/" + std::to_string(run.id);
      const auto known = known_[replica].find(name);
      if (known == known_[replica].end() || is_old(known->second, now)) {
        break;
      }
      matched += std::min(run.tokens, known->second.tokens);
      if (known->second.tokens < run.tokens) {
        break;
      }
      name += ":" + std::to_string(run.tokens);
    }
    return matched;
  }

  std::int64_t tokens_of(std::int32_t replica) {
    std::int64_t sum = 0;
    for (const auto& [name, run] : known_[replica]) {
      sum += run.tokens;
    }
    return sum;
  }

  void forget(std::int32_t replica) { known_.erase(replica); }

 private:
  struct Run {
    std::int64_t tokens = 0;
    TimePoint used;
    std::int64_t order = 0;
  };

  [[nodiscard]] bool is_old(const Run& run, TimePoint now) const {
    return limits_.age && now - run.used >= *limits_.age;
  }
  void drop_old(std::int32_t replica, TimePoint now) {
    std::erase_if(known_[replica], [&](const auto& one) { return is_old(one.second, now); });
  }
  /// A token of the run that was used longest ago.
  void cut_one(std::int32_t replica) {
    auto& runs = known_[replica];
    const auto oldest = std::min_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
      return a.second.order < b.second.order;
    });
    if (--oldest->second.tokens == 0) {
      runs.erase(oldest);
    }
  }

  PrefixIndex::Limits limits_;
  std::map<std::int32_t, std::map<std::string, Run>> known_;
  std::int64_t order_ = 0;
};

/// Of few ids and lengths, so that prompts share and branch everywhere.
Request random_prompt(Dice& dice, std::int64_t id) {
  if (dice.chance(10)) {
    return lone_prompt(dice.between(1, 30), id);
  }
  std::vector<ContentRun> runs;
  const std::int64_t count = dice.between(1, 5);
  for (std::int64_t i = 0; i < count; ++i) {
    runs.push_back({static_cast<std::uint64_t>(dice.between(1, 3)), dice.between(1, 3) * 4});
  }
  return prompt_of(std::move(runs), id);
}

}  // namespace

TEST_CASE("prompts match as far as their runs agree from the start") {
  PrefixIndex index({});
  add_all(index, 1, prompt_of({{7, 100}, {8, 50}, {9, 10}}));
  CHECK(matches(index, prompt_of({{7, 100}, {8, 50}, {9, 10}}), 3) == Matches{0, 160, 0});
  CHECK(matches(index, prompt_of({{7, 100}, {8, 50}, {9, 30}}), 3) == Matches{0, 160, 0});
  CHECK(matches(index, prompt_of({{7, 100}, {8, 20}}), 3) == Matches{0, 120, 0});
  CHECK(matches(index, prompt_of({{7, 100}, {8, 20}, {9, 10}}), 3) == Matches{0, 120, 0});
  CHECK(matches(index, prompt_of({{7, 60}, {8, 50}}), 3) == Matches{0, 60, 0});
  CHECK(matches(index, prompt_of({{7, 100}, {9, 10}}), 3) == Matches{0, 100, 0});
  CHECK(matches(index, prompt_of({{8, 50}, {7, 100}}), 3) == Matches{0, 0, 0});
  CHECK(matches(index, lone_prompt(160, 0), 3) == Matches{0, 0, 0});
}

TEST_CASE("each replica has what was sent there") {
  PrefixIndex index({});
  add_all(index, 0, prompt_of({{7, 100}, {8, 50}}));
  add_all(index, 2, prompt_of({{7, 40}}));
  add_all(index, 1, prompt_of({{7, 100}, {9, 50}}));
  CHECK(matches(index, prompt_of({{7, 100}, {8, 60}}), 4) == Matches{150, 100, 40, 0});
  CHECK(index.tokens(0) == 150);
  CHECK(index.tokens(2) == 40);
  CHECK(index.tokens(3) == 0);
  add_all(index, 0, prompt_of({{7, 100}, {9, 10}}));  // shared tokens count once
  CHECK(index.tokens(0) == 160);
  index.forget(0);
  CHECK(index.tokens(0) == 0);
  CHECK(matches(index, prompt_of({{7, 100}, {9, 60}}), 4) == Matches{0, 150, 40, 0});
}

TEST_CASE("of a prompt only the first tokens may be known") {
  PrefixIndex index({});
  index.add(0, prompt_of({{7, 100}, {8, 50}}), 120, {});
  index.add(1, prompt_of({{7, 100}, {8, 50}}), 0, {});
  CHECK(matches(index, prompt_of({{7, 100}, {8, 50}}), 2) == Matches{120, 0});
}

TEST_CASE("what was used longest ago is cut from its end when there is too much") {
  PrefixIndex index({.tokens = 200});
  add_all(index, 0, prompt_of({{1, 60}, {2, 40}}));
  add_all(index, 0, prompt_of({{1, 60}, {3, 40}}));
  add_all(index, 1, prompt_of({{4, 200}}));
  CHECK(index.tokens(0) == 140);
  add_all(index, 0, prompt_of({{5, 90}}));  // 30 too many: of the first prompt, which alone has run 2
  CHECK(index.tokens(0) == 200);
  CHECK(matches(index, prompt_of({{1, 60}, {2, 40}}), 2) == Matches{70, 0});
  CHECK(matches(index, prompt_of({{1, 60}, {3, 40}}), 2) == Matches{100, 0});
  add_all(index, 0, lone_prompt(60, 9));  // the last 10 of run 2, the 40 of run 3, 10 of run 1
  CHECK(matches(index, prompt_of({{1, 60}, {3, 40}}), 2) == Matches{50, 0});
  CHECK(matches(index, prompt_of({{5, 90}}), 2) == Matches{90, 0});
  CHECK(matches(index, prompt_of({{4, 200}}), 2) == Matches{0, 200});  // each replica has its own limit
}

TEST_CASE("a prompt longer than the limit is known by its beginning") {
  PrefixIndex index({.tokens = 50});
  add_all(index, 0, prompt_of({{1, 30}, {2, 100}}));
  CHECK(index.tokens(0) == 50);
  CHECK(matches(index, prompt_of({{1, 30}, {2, 100}}), 1) == Matches{50});
}

TEST_CASE("a prompt is forgotten when its time is over and not before") {
  PrefixIndex index({.age = seconds(120)});
  const Request request = prompt_of({{1, 30}, {2, 10}});
  add_all(index, 0, request, at(10));
  add_all(index, 0, prompt_of({{1, 30}}), at(70));
  CHECK(matches(index, request, 1, at(130) - picoseconds(1)) == Matches{40});
  CHECK(matches(index, request, 1, at(130)) == Matches{30});  // the first run was used at 70 s
  CHECK(matches(index, request, 1, at(190)) == Matches{0});
  add_all(index, 0, prompt_of({{3, 5}}), at(190));
  CHECK(index.tokens(0) == 5);
}

TEST_CASE("one tree for all replicas says what a list of each replica's prompts says") {
  constexpr std::int32_t kReplicas = 4;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Dice dice(seed, "prefix_index");
    PrefixIndex::Limits limits;
    if (dice.chance(60)) {
      limits.tokens = dice.one_of({1, 10, 40, 200});
    }
    if (dice.chance(40)) {
      limits.age = seconds(dice.one_of({1, 5, 30}));
    }
    PrefixIndex index(limits);
    PlainIndex plain(limits);
    std::int64_t time = 0;
    for (std::int64_t i = 0; i < 120; ++i) {
      time += dice.between(0, 2);
      const Request sought = random_prompt(dice, i);
      index.match(sought, at(time));
      for (std::int32_t replica = 0; replica < kReplicas; ++replica) {
        REQUIRE(index.matched(replica) == plain.matched(replica, sought, at(time)));
      }
      const auto replica = static_cast<std::int32_t>(dice.between(0, kReplicas - 1));
      const Request sent = random_prompt(dice, i);
      const std::int64_t tokens =
          dice.chance(70) ? sent.prompt.count() : dice.between(0, sent.prompt.count());
      index.add(replica, sent, tokens, at(time));
      plain.add(replica, sent, tokens, at(time));
      REQUIRE(index.tokens(replica) == plain.tokens_of(replica));
      if (dice.chance(3)) {
        index.forget(replica);
        plain.forget(replica);
      }
    }
  }
}
