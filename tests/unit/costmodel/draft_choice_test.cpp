// How many tokens are drafted: by hand, for prices that are easy to follow.

#include "costmodel/draft_choice.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// The longer of what weights take to be read and what tokens take to be computed, beside what is fixed.
class RoundPricer final : public StepPricer {
 public:
  RoundPricer(std::int64_t fixed, std::int64_t weights, std::int64_t each)
      : fixed_(fixed), weights_(weights), each_(each) {}

  [[nodiscard]] StepCost price(const StepShape& shape) const override {
    StepCost cost;
    cost.host = microseconds(fixed_);
    cost.compute = microseconds(std::max(weights_, each_ * shape.tokens()));
    return cost;
  }

 private:
  std::int64_t fixed_, weights_, each_;
};

constexpr std::int64_t kMost = 8;
constexpr std::int64_t kRoomy = 10'000;

std::int64_t best(const RoundPricer& pricer, std::int64_t decodes, double acceptance,
                  std::int64_t prompt_tokens = 0, std::int64_t most_tokens = kRoomy) {
  return best_drafts(pricer, {decodes, {decodes * 10, 0}, prompt_tokens, most_tokens}, acceptance, kMost);
}

TEST_CASE("as many drafts as bring most tokens a second") {
  const RoundPricer pricer(10, 0, 1);
  // k                  0     1     2      3      4       one sequence, half of the drafts right
  // tokens             1     1.5   1.75   1.875  1.9375
  // time               11    12    13     14     15
  // tokens / time      .091  .125  .1346  .1339  .129
  CHECK(best(pricer, 1, 0.5) == 2);
  // 9 / 19 = .474, 13.5 / 28 = .482, 15.75 / 37 = .426
  CHECK(best(pricer, 9, 0.5) == 1);
  // 11 / 21 = .524, 16.5 / 32 = .516
  CHECK(best(pricer, 11, 0.5) == 0);
}

TEST_CASE("drafts that are never right are not made and those that always are all of them") {
  const RoundPricer pricer(10, 0, 1);
  for (const std::int64_t decodes : {1, 10, 100}) {
    CHECK(best(pricer, decodes, 0) == 0);
    CHECK(best(pricer, decodes, 1) == kMost);
  }
  // Of no use and at no cost: the fewest.
  CHECK(best(RoundPricer(0, 1000, 1), 1, 0) == 0);
}

TEST_CASE("drafts fill what reading the weights leaves of the GPU and prompts take it from them") {
  const RoundPricer pricer(0, 100, 10);
  // Ten tokens are computed while the weights are read: two sequences of five. A sixth: 1.94 / 100, 1.97 /
  // 120.
  CHECK(best(pricer, 2, 0.5) == 4);
  // Beside 20 tokens of a prompt each draft is paid for.
  // k                                0     1      2      3
  // decodes and prompts, without     220   270    295    307.5   (100 a token of both, and 120 more for
  // prompts) time                             220   240    260    280 sooner by 1     1.125  1.135  1.098
  CHECK(best(pricer, 2, 0.5, 20) == 2);
}

TEST_CASE("in a full step each draft takes the place of a prompt token") {
  const RoundPricer pricer(10, 0, 1);
  // Of 100 tokens of prompts 49 - k fit into a step of 50 beside one sequence; the step takes 60 throughout.
  // k                               0    1      2       3        4
  // what they take without drafts   60   64.5   66.25   66.625   66.3     (11 a decoded token, 1 a prompt
  // token)
  CHECK(best(pricer, 1, 0.5, 100, 50) == 3);
  // All prompts that there are fit: 5 more, in 16 + k.
  // k                               0    1      2       3        4
  // what they take without drafts   16   21.5   24.25   25.625   26.3
  // sooner by                       1    1.265  1.347   1.349    1.316
  CHECK(best(pricer, 1, 0.5, 5) == 3);
  // Drafts leave prompts no room at all.
  CHECK(best(pricer, 10, 0.9, 100, 50) <= kMost);
}

}  // namespace
}  // namespace inferometer
