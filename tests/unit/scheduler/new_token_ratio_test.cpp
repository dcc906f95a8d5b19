// SGLang's estimate of outputs. Expected values: 0.7 at first, 0.14 of that at least, and a 600th of the way
// with each decode step; in billionths.

#include "sim/scheduler/new_token_ratio.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kStep = 1'003'333;  // of 602,000,000 / 600, rounded down

TEST_CASE("the new token ratio falls by the same with every decode step, to its least") {
  const NewTokenRatio ratio(1);
  CHECK(ratio.at(0) == 700'000'000);
  CHECK(ratio.at(1) == 700'000'000 - kStep);
  CHECK(ratio.at(300) == 399'000'000);
  CHECK(ratio.at(599) > 98'000'000);
  CHECK(ratio.at(600) == 98'000'000);
  CHECK(ratio.at(1'000'000'000'000) == 98'000'000);
}

TEST_CASE("the new token ratio of so many tokens is rounded down") {
  const NewTokenRatio ratio(1);
  CHECK(ratio.of(10, 0) == 7);
  CHECK(ratio.of(9, 0) == 6);
  CHECK(ratio.of(1'000'000'000'000, 600) == 98'000'000'000);
}

TEST_CASE("the new token ratio begins higher for the more conservative, at most at one") {
  CHECK(NewTokenRatio(0.1).at(0) == 70'000'000);
  CHECK(NewTokenRatio(0.1).at(600) == 9'800'000);
  CHECK(NewTokenRatio(2).at(0) == 1'000'000'000);
  CHECK(NewTokenRatio(2).at(600) == 140'000'000);
}

TEST_CASE("the new token ratio stands still for a step that prefills beside decodes") {
  NewTokenRatio ratio(1);
  ratio.skip_step(300);
  CHECK(ratio.at(300) == 399'000'000);
  CHECK(ratio.at(301) == 399'000'000);
  CHECK(ratio.at(302) == 399'000'000 - kStep);
}

TEST_CASE("the new token ratio is set from what stays when memory runs out, for the step that follows") {
  NewTokenRatio ratio(1);
  ratio.estimate(30, 2, 99, 50);  // (30 + 20 * 2) / (99 + 1)
  CHECK(ratio.at(50) == 700'000'000);
  CHECK(ratio.at(51) == 700'000'000);
  CHECK(ratio.at(52) == 700'000'000 - kStep);
  ratio.estimate(30, 2, 20, 60);  // 70 / 21
  CHECK(ratio.at(61) == 1'000'000'000);
  ratio.estimate(0, 1, 10'000, 60);  // 20 / 10,001: it only rises when it falls below its least
  CHECK(ratio.at(61) == 98'000'000);
}

TEST_CASE("the new token ratio begins anew when the engine has been idle") {
  NewTokenRatio ratio(1);
  CHECK(ratio.at(600) == 98'000'000);
  ratio.begin_anew(600);
  CHECK(ratio.at(600) == 700'000'000);
  CHECK(ratio.at(900) == 399'000'000);
}

}  // namespace
}  // namespace inferometer
