#include "costmodel/energy.hpp"

#include "tests/support/catch.hpp"

using namespace inferometer;

TEST_CASE("energy is power times time, state by state") {
  StepCost busy;
  busy.compute = seconds(1);
  busy.bandwidth = seconds(2);
  busy.latency = seconds(3);
  busy.communication = seconds(4);
  busy.host = seconds(5);
  // 100 W: 1 s at 1.0, 2 s at 0.5, and 3 + 4 + 5 + 8 s at 0.1.
  CHECK(gpu_energy(Watts(100), busy, seconds(8), {1.0, 0.5, 0.1}).count() == Approx(100 + 100 + 200));
}

TEST_CASE("a decode-bound GPU draws what was measured on A100") {
  // Llama-2-70B on 2 x A100-80GB, one sequence, 127 decode steps of 54.88 ms after a prefill of 196 ms:
  // average power 0.736 of TDP (splitwise-sim, perf_model.csv). The weights, 69 GB a GPU at 1.48 TB/s,
  // take 46.6 ms of a step; the prefill's 512 tokens take 151 ms at 233 TFLOPS.
  StepCost busy;
  busy.compute = milliseconds(151);
  busy.bandwidth = milliseconds(5918);  // 127 x 46.6
  busy.latency = milliseconds(1097);    // the rest of 7.166 s
  const double seconds_in_all = to_seconds(busy.total());
  const double share = gpu_energy(Watts(400), busy, Duration()).count() / (400 * seconds_in_all);
  CHECK(share == Approx(0.736).epsilon(0.04));
}
