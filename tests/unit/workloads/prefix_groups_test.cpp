#include "workloads/prefix_groups.hpp"

#include <cmath>
#include <map>
#include <set>

#include "tests/support/catch.hpp"
#include "workloads/content_ids.hpp"
#include "workloads/service_classes.hpp"

using namespace inferometer;

namespace {

PrefixGroupOptions options(std::int64_t groups, std::int64_t prefix = 100) {
  PrefixGroupOptions result;
  result.groups = groups;
  result.prefix = make_fixed_length(TokenCount(prefix));
  return result;
}

/// How often each content comes among `draws`.
std::map<std::uint64_t, int> counts(const PrefixGroupOptions& options, int draws) {
  PrefixGroups groups(options, 1);
  std::map<std::uint64_t, int> result;
  for (int i = 0; i < draws; ++i) {
    ++result[groups.next(TokenCount(5)).prefix.id];
  }
  return result;
}

/// Four deviations of a count of `draws` that each come with probability p.
double margin(int draws, double p) {
  return 4 * std::sqrt(draws * p * (1 - p));
}

}  // namespace

TEST_CASE("content ids tell kinds, wholes and parts apart", "[prefix_groups]") {
  std::set<std::uint64_t> ids;
  for (const ContentKind kind :
       {ContentKind::prefix, ContentKind::shared_question, ContentKind::question, ContentKind::answer}) {
    for (const std::int64_t whole : {std::int64_t{0}, std::int64_t{1}, (std::int64_t{1} << 36) - 1}) {
      for (const std::int64_t part : {std::int64_t{0}, std::int64_t{1}, (std::int64_t{1} << 20) - 1}) {
        const std::uint64_t id = content_id(kind, whole, part);
        CHECK(id > 0);
        CHECK(id < std::uint64_t{1} << 63);
        ids.insert(id);
      }
    }
  }
  CHECK(ids.size() == 4 * 3 * 3);
  CHECK_THROWS_AS(content_id(ContentKind::answer, 0, std::int64_t{1} << 20), std::logic_error);
  CHECK_THROWS_AS(content_id(ContentKind::answer, std::int64_t{1} << 36), std::logic_error);
}

TEST_CASE("groups come as often as each other, or by their rank", "[prefix_groups]") {
  constexpr int kDraws = 40'000;
  PrefixGroupOptions even = options(4);
  for (const auto& [id, count] : counts(even, kDraws)) {
    CHECK(count == Approx(kDraws / 4).margin(margin(kDraws, 0.25)));
  }
  even.skew = 1;  // 1, 1/2, 1/3, 1/4 of 25/12 in all
  std::map<std::uint64_t, int> by_rank = counts(even, kDraws);
  REQUIRE(by_rank.size() == 4);
  for (int rank = 1; rank <= 4; ++rank) {
    const double share = 12.0 / 25 / rank;
    CHECK(by_rank[content_id(ContentKind::prefix, rank - 1)] ==
          Approx(kDraws * share).margin(margin(kDraws, share)));
  }
}

TEST_CASE("a group keeps its prefix", "[prefix_groups]") {
  PrefixGroupOptions varied = options(50);
  varied.prefix = make_uniform_length(TokenCount(1), TokenCount(100'000));
  PrefixGroups groups(varied, 3);
  std::map<std::uint64_t, std::int64_t> tokens;
  std::set<std::int64_t> different;
  for (int i = 0; i < 5'000; ++i) {
    const ContentRun prefix = groups.next(TokenCount(1)).prefix;
    CHECK(tokens.try_emplace(prefix.id, prefix.tokens).first->second == prefix.tokens);
    different.insert(prefix.tokens);
  }
  CHECK(tokens.size() == 50);
  CHECK(different.size() > 45);
}

TEST_CASE("shared questions are asked again at the length they had", "[prefix_groups]") {
  PrefixGroupOptions shared = options(3);
  shared.questions_per_group = 2;
  PrefixGroups groups(shared, 1);
  std::map<std::uint64_t, std::int64_t> lengths;
  for (int i = 1; i <= 1'000; ++i) {
    const PrefixGroups::Opening opening = groups.next(TokenCount(i));
    CHECK(lengths.try_emplace(opening.question_content, opening.question.count()).first->second ==
          opening.question.count());
  }
  CHECK(lengths.size() == 6);
  CHECK(PrefixGroups(options(3), 1).next(TokenCount(9)).question_content == 0);
}

TEST_CASE("classes come in their shares with their priorities", "[prefix_groups]") {
  constexpr int kDraws = 40'000;
  ServiceClasses classes({{3, 5}, {1, -2}}, 1);
  int seconds = 0;
  for (int i = 0; i < kDraws; ++i) {
    const ServiceClasses::Choice choice = classes.next();
    CHECK(choice.priority == (choice.service_class == 0 ? 5 : -2));
    seconds += choice.service_class;
  }
  CHECK(seconds == Approx(kDraws / 4).margin(margin(kDraws, 0.25)));
}
