#include "costmodel/energy.hpp"

#include "tests/support/catch.hpp"

using namespace inferometer;

TEST_CASE("power grows with what units and memory do up to the limit") {
  const PowerShares shares{.unused = 0.1, .waiting = 0.2, .compute = 0.5, .memory = 0.4};
  const auto watts = [&](double compute, double memory) {
    return power_in_steps(Watts(100), compute, memory, shares).count();
  };
  CHECK(power_unused(Watts(100), shares).count() == Approx(10));
  CHECK(watts(0, 0) == Approx(20));
  CHECK(watts(0.5, 0) == Approx(20 + 25));
  CHECK(watts(0.5, 0.25) == Approx(20 + 25 + 10));
  CHECK(watts(0.79, 1) == Approx(20 + 39.5 + 40));
  // 0.2 + 0.5 x 0.8 + 0.4 is the limit; two formats of numbers may have more FLOP/s than the peak of one.
  CHECK(watts(0.8, 1) == Approx(100));
  CHECK(watts(0.81, 1) == 100);
  CHECK(watts(2, 1) == 100);
}

TEST_CASE("no share of the limit is above it") {
  for (const double compute : {0.0, 0.5, 1.0, 3.0}) {
    for (const double memory : {0.0, 0.5, 1.0}) {
      CHECK(power_in_steps(Watts(400), compute, memory).count() <= 400);
      CHECK(power_in_steps(Watts(400), compute, memory) > power_unused(Watts(400)));
    }
  }
}

TEST_CASE("a GPU that decodes draws what was measured on A100") {
  // Llama-2-70B on 2 x A100-80GB, one sequence, 127 decode steps of 54.88 ms after a prefill of 196 ms:
  // average power 0.736 of TDP (splitwise-sim, perf_model.csv). A GPU holds 69 GB of weights and does 69
  // GFLOP a token; it could move 2.039 TB/s and do 312 TFLOP/s.
  const double token_s = 0.05488, prefill_s = 0.196;
  const double decode =
      power_in_steps(Watts(400), 69e9 / 312e12 / token_s, 69e9 / 2.039e12 / token_s).count();
  const double prefill =
      power_in_steps(Watts(400), 512 * 69e9 / 312e12 / prefill_s, 69e9 / 2.039e12 / prefill_s).count();
  const double energy = prefill * prefill_s + decode * 127 * token_s;
  CHECK(energy / (prefill_s + 127 * token_s) / 400 == Approx(0.736).epsilon(0.04));
}
