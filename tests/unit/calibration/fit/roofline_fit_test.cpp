// Constants found again from points that were made from them.

#include "calibration/fit/roofline_fit.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/calibration/fit/synthetic_kernels.hpp"

namespace inferometer {
namespace {

using test::call_of;

/// What counts as found: two hundredths off at most.
constexpr double kWithin = 0.02;

void check_found(const std::vector<KernelCall>& calls, const RooflineConstants& truth, const GpuSpec& gpu,
                 std::initializer_list<double RooflineConstants::*> constants) {
  const test::Points clean = test::timed(calls, truth, gpu);
  for (const test::Points& points : {clean, test::with_outliers(clean)}) {
    const RooflineConstants found = fit_roofline(points, gpu);
    for (const auto constant : constants) {
      CHECK(found.*constant == Approx(truth.*constant).epsilon(kWithin));
    }
  }
}

TEST_CASE(
    "a GEMM's start-up and efficiencies are found, with one point in ten off by a factor of 3 as well") {
  check_found(test::gemm_calls(),
              {.start_up_s = 6e-6, .compute_efficiency = 0.55, .bandwidth_efficiency = 0.85},
              load_gpu("h100-sxm"),
              {&RooflineConstants::start_up_s, &RooflineConstants::compute_efficiency,
               &RooflineConstants::bandwidth_efficiency});
}

TEST_CASE("decode attention: the time of a sequence's head is found beside the bandwidth") {
  check_found(
      test::decode_calls(),
      {.start_up_s = 9e-6, .per_unit_s = 3e-8, .compute_efficiency = 0.3, .bandwidth_efficiency = 0.7},
      load_gpu("a100-80gb-sxm"),
      {&RooflineConstants::start_up_s, &RooflineConstants::per_unit_s,
       &RooflineConstants::bandwidth_efficiency});
}

TEST_CASE("prefill attention: the overhang of tiles is found beside the compute efficiency") {
  std::vector<KernelCall> calls;
  for (const double batch : {1, 8}) {
    for (const double tokens : {16, 64, 256, 1024, 4096, 16384}) {
      for (const double heads : {4, 16, 64}) {
        calls.push_back(test::prefill_call(batch, tokens, 0, heads, 4));
      }
    }
  }
  check_found(calls, {.start_up_s = 1e-5, .compute_efficiency = 0.6, .overhang_tokens = 400},
              load_gpu("h100-sxm"),
              {&RooflineConstants::start_up_s, &RooflineConstants::compute_efficiency,
               &RooflineConstants::overhang_tokens});
}

TEST_CASE("collectives and host work: start-up, bandwidth of the link, time of a sequence") {
  std::vector<KernelCall> reduces, samples;
  for (double bytes = 1024; bytes < 1e9; bytes *= 2) {
    for (const double gpus : {2, 4, 8}) {
      reduces.push_back(test::collective_call(gpus, bytes));
    }
  }
  for (double sequences = 1; sequences <= 512; sequences *= 2) {
    for (const double gpus : {1, 2, 4}) {
      samples.push_back(call_of(KernelFamily::host, "sample", {sequences, gpus}));
    }
  }
  const GpuSpec gpu = load_gpu("h100-sxm");
  check_found(reduces, {.start_up_s = 8e-6, .bandwidth_efficiency = 0.75}, gpu,
              {&RooflineConstants::start_up_s, &RooflineConstants::bandwidth_efficiency});
  check_found(samples, {.start_up_s = 2e-4, .per_unit_s = 5e-6}, gpu,
              {&RooflineConstants::start_up_s, &RooflineConstants::per_unit_s});
}

TEST_CASE("constants of no use to a family stay as they are") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  const RooflineConstants found =
      fit_roofline(test::timed(test::gemm_calls(), {.start_up_s = 5e-6}, gpu), gpu);
  CHECK(found.per_unit_s == 0);
  CHECK(found.overhang_tokens == 1);
}

TEST_CASE("efficiencies stay within 0 and 1, whatever was measured") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  test::Points points = test::timed(test::gemm_calls(), {.start_up_s = 1e-6}, gpu);
  for (const double factor : {0.01, 1e4}) {
    test::Points scaled = points;
    for (MeasuredKernel& point : scaled) {
      point.seconds *= factor;
    }
    const RooflineConstants found = fit_roofline(scaled, gpu);
    for (const double efficiency : {found.compute_efficiency, found.bandwidth_efficiency}) {
      CHECK(efficiency > 0);
      CHECK(efficiency <= 1);
    }
    CHECK(found.start_up_s > 0);
  }
}

TEST_CASE("one point, or points all alike, have a fit") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  const test::Points one = {test::measured(test::gemm_call(16, 4096, 4096), 2e-5)};
  CHECK(roofline_parts(one[0].call, fit_roofline(one, gpu), gpu).total_s() == Approx(2e-5).epsilon(0.01));
  const test::Points alike(5, one[0]);
  CHECK(roofline_parts(one[0].call, fit_roofline(alike, gpu), gpu).total_s() == Approx(2e-5).epsilon(0.01));
}

}  // namespace
}  // namespace inferometer
