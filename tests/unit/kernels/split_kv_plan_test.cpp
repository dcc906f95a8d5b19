// The plan of splits: what must hold of any plan, over random shapes, and limits on both sides.

#include "kernels/attention/split_kv_plan.hpp"

#include <algorithm>
#include <vector>

#include "kernels/common/random_element.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::kernels {
namespace {

std::int32_t drawn(std::uint64_t seed, std::uint64_t index, std::int32_t most) {
  return 1 + static_cast<std::int32_t>(random_bits(seed, index) % static_cast<std::uint64_t>(most));
}

struct RandomPlan {
  std::int32_t longest, window, fewest_pages, pages;
  std::int64_t blocks, places;
  SplitKvPlan plan;
};

RandomPlan random_plan(std::uint64_t seed) {
  RandomPlan random{};
  random.longest = drawn(seed, 0, seed % 2 == 0 ? 200 : 100000);
  random.window = seed % 3 == 0 ? 0 : drawn(seed, 1, seed % 3 == 1 ? 50 : 9000);
  random.fewest_pages = drawn(seed, 2, 32);
  random.blocks = drawn(seed, 3, seed % 4 == 0 ? 4000 : 64);
  random.places = drawn(seed, 4, 600);
  random.pages = most_attended_pages(random.longest, random.window);
  random.plan = plan_split_kv(random.blocks, random.pages, random.fewest_pages, random.places);
  return random;
}

TEST_CASE("every attended token is in exactly one split", "[kernels]") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const RandomPlan random = random_plan(seed);
    // Also sequences longer than the plan was made for.
    const std::int32_t context = drawn(seed, 5, random.longest + random.longest / 2);
    const Range tokens = attended_tokens(context, random.window);
    const Range pages = attended_pages(context, random.window);
    INFO("seed " << seed << " context " << context << " window " << random.window);
    // The window's own definition, token by token at its edges.
    REQUIRE(tokens.count() == (random.window > 0 ? std::min(context, random.window) : context));
    REQUIRE(tokens.last == context);
    REQUIRE(pages.first * kPageTokens <= tokens.first);
    REQUIRE((pages.first + 1) * kPageTokens > tokens.first);
    REQUIRE(pages.last * kPageTokens >= tokens.last);
    REQUIRE((pages.last - 1) * kPageTokens < tokens.last);
    std::int32_t next = pages.first;
    for (std::int32_t split = 0; split < random.plan.splits; ++split) {
      const Range part = pages_of_split(pages, random.plan, split);
      REQUIRE(part.first == next);
      REQUIRE(part.last >= part.first);
      REQUIRE((part.count() > 0) == (split < splits_used(pages, random.plan)));
      next = part.last;
    }
    REQUIRE(next == pages.last);
  }
}

TEST_CASE("splits are bounded and the longest sequence has none that is empty", "[kernels]") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const RandomPlan random = random_plan(seed);
    INFO("seed " << seed);
    REQUIRE(random.plan.splits >= 1);
    REQUIRE(random.plan.splits <= kMostSplits);
    REQUIRE(random.plan.pages_per_split >= std::min(random.pages, random.fewest_pages));
    REQUIRE(splits_used({0, random.pages}, random.plan) == random.plan.splits);
    // No sequence within the plan has more than a split's pages in its last split.
    const std::int32_t context = drawn(seed, 6, random.longest);
    const Range pages = attended_pages(context, random.window);
    REQUIRE(pages.count() <= random.pages);
    for (std::int32_t split = 0; split < random.plan.splits; ++split) {
      REQUIRE(pages_of_split(pages, random.plan, split).count() <= random.plan.pages_per_split);
    }
  }
}

TEST_CASE("splits fill the GPU nearly as well as any number does", "[kernels]") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const RandomPlan random = random_plan(seed);
    const auto share = [&](std::int64_t splits) {
      const std::int64_t blocks = random.blocks * splits;
      const std::int64_t waves = (blocks + random.places - 1) / random.places;
      return static_cast<double>(blocks) / static_cast<double>(waves * random.places);
    };
    // Every number of splits that some size of split gives.
    double best = 0;
    const std::int32_t most = std::clamp(random.pages / random.fewest_pages, 1, kMostSplits);
    for (std::int32_t pages = 1; pages <= random.pages; ++pages) {
      const std::int32_t splits = (random.pages + pages - 1) / pages;
      best = splits <= most ? std::max(best, share(splits)) : best;
    }
    INFO("seed " << seed << " best " << best);
    CHECK(share(random.plan.splits) >= 0.85 * best - 1e-12);
  }
}

TEST_CASE("pages of a window count its two partial pages", "[kernels]") {
  // A window of w tokens that ends anywhere: by trying all ends.
  for (const std::int32_t window : {1, 2, 15, 16, 17, 18, 31, 32, 33, 34, 100}) {
    std::int32_t most = 0;
    for (std::int32_t context = 1; context <= 400; ++context) {
      most = std::max(most, attended_pages(context, window).count());
    }
    INFO("window " << window);
    CHECK(most_attended_pages(400, window) == most);
  }
  CHECK(most_attended_pages(16, 0) == 1);
  CHECK(most_attended_pages(17, 0) == 2);
  CHECK(most_attended_pages(17, 1000) == 2);
}

TEST_CASE("window edges", "[kernels]") {
  CHECK(attended_tokens(100, 100).first == 0);
  CHECK(attended_tokens(101, 100).first == 1);
  CHECK(attended_tokens(5, 0).first == 0);
  CHECK(attended_pages(0, 0).count() == 0);
  CHECK(attended_pages(0, 7).count() == 0);
  CHECK(attended_pages(32, 16).first == 1);
  CHECK(attended_pages(31, 16).first == 0);
  CHECK(attended_pages(2147483631, 1).count() == 1);
}

TEST_CASE("plans worked by hand", "[kernels]") {
  // 8 blocks for 400 places, 256 pages in splits of at least 8: 32 splits give 256 blocks, the most possible.
  // From 28 splits of 10 pages (26 held) to 32 of 8: 0.85 * 256 = 217.6 blocks, so 28 or more splits held; 29
  // splits of 9 pages.
  const SplitKvPlan few = plan_split_kv(8, 256, 8, 400);
  CHECK(few.pages_per_split == 9);
  CHECK(few.splits == 29);
  // As many blocks as places: full with one split.
  CHECK(plan_split_kv(400, 256, 8, 400).splits == 1);
  // One block more, and the second wave is nearly empty.
  CHECK(plan_split_kv(401, 256, 8, 400).splits > 1);
  // Too short to be cut.
  CHECK(plan_split_kv(1, 15, 8, 400).splits == 1);
  CHECK(plan_split_kv(1, 16, 8, 400).splits == 2);
}

}  // namespace
}  // namespace inferometer::kernels
