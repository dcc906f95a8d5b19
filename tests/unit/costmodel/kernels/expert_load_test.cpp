// How benchmarks spread tokens over experts, against cases worked by hand.

#include "costmodel/kernels/expert_load.hpp"

#include <cmath>

#include "costmodel/kernels/kernel_roofline.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/costmodel/kernels/kernel_calls.hpp"

namespace inferometer {
namespace {

KernelCall experts_call(double tokens, double experts, double top_k, double expert_parallel, double skew) {
  return test::call_of(KernelFamily::moe, "bf16", {tokens, 32, 24, experts, top_k, 1, expert_parallel, skew});
}

TEST_CASE("dealt out evenly: a choice an expert until all are reached") {
  const ExpertLoad few = expert_load(experts_call(4, 256, 8, 1, 0));
  CHECK(few.reached() == 32);
  CHECK(few.rows() == 32);
  const ExpertLoad many = expert_load(experts_call(100, 256, 8, 1, 0));
  CHECK(many.reached() == 256);
  CHECK(many.rows() == 800);
  CHECK(many.fullest() == 800.0 / 256);
  const ExpertLoad split = expert_load(experts_call(100, 256, 8, 8, 0));
  CHECK(split.reached() == 32);
  CHECK(split.rows() == 100);
  // The first choice is of the GPU that is timed, though eight choices go to 64.
  CHECK(expert_load(experts_call(1, 256, 8, 64, 0)).rows() == 1);
}

TEST_CASE("skewed: all choices are placed, none goes twice to an expert") {
  for (const double skew : {1.01, 1.2}) {
    for (const double tokens : {8.0, 100.0, 5000.0}) {
      INFO(skew << " " << tokens);
      const ExpertLoad load = expert_load(experts_call(tokens, 128, 8, 1, skew));
      CHECK(load.rows() == Approx(8 * tokens).epsilon(0.03));  // broken numbers are rounded
      CHECK(load.reached() <= 128.001);
      CHECK(load.fullest() <= tokens);
      CHECK(load.fullest() > 8 * tokens / 128);
    }
  }
  // Popularities 1 to 4,000, by density x^-1.2: the mean is 0.2 (4000^0.8 - 1) / (0.8 (1 - 4000^-0.2)) =
  // 234.8; 255 of 256 parts of the way it is (1 - (1 - 4000^-0.2) 255 / 256)^-5 = 3,679. Of 40,000 choices
  // the most popular of 128 experts gets 3,679 of 3,679 + 127 x 234.8 parts: 4,393, but for the strata that
  // stand for the others.
  const double most = expert_load(experts_call(5000, 128, 8, 1, 1.2)).fullest();
  CHECK(most == Approx(4393).epsilon(0.03));
}

TEST_CASE("skewed and few: rounding leaves choices over, and those go to experts that have none") {
  // 64 choices of 256 experts with popularities 0.01 to 2, 0.262 on the mean: more than 0.524 rounds to a
  // row, a part (0.524^-0.2 - 2^-0.2) / (0.01^-0.2 - 2^-0.2) = 0.164 of the experts. That is 42, some of them
  // twice; nearly all of the 64 choices reach an expert of their own.
  const double reached = expert_load(experts_call(8, 256, 8, 1, 1.2)).reached();
  CHECK(reached > 50);
  CHECK(reached <= 64.5);
}

TEST_CASE("the fullest GPU holds the most popular expert") {
  const ExpertLoad whole = expert_load(experts_call(1000, 128, 8, 1, 1.2));
  const ExpertLoad fullest = expert_load(experts_call(1000, 128, 8, 16, 1.2));
  CHECK(fullest.fullest() == whole.fullest());
  CHECK(fullest.rows() > whole.rows() / 16);
  CHECK(expert_load(experts_call(1000, 128, 8, 128, 1.2)).reached() == Approx(1));
}

TEST_CASE("sums over experts: tiles are rounded up for each of them") {
  ExpertLoad load;
  load.add({1, 65});
  load.add({3, 2});
  CHECK(load.rows() == 71);
  CHECK(load.reached() == 4);
  CHECK(load.sum([](double rows) { return std::ceil(rows / 64); }) == 5);
}

}  // namespace
}  // namespace inferometer
