#include "costmodel/calibrated_gemm.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/sample_kernels.hpp"

namespace inferometer {
namespace {

constexpr double kInputs = 500;
constexpr double kOutputs = 1000;

Operator product() {
  Operator part{.name = "product", .family = OperatorFamily::gemm};
  part.call = KernelCall{.family = KernelFamily::gemm, .variant = "bf16", .axes = {1, kOutputs, kInputs}};
  return part;
}

/// A product by a profile whose correction is one thing up to 200 rows and another beyond.
struct Priced {
  explicit Priced(std::int64_t max_rows)
      : profile(samples::profile_of({cut_fit()})), gemm(kernels, product(), max_rows) {}

  static KernelFit cut_fit() {
    KernelFit fit = samples::gemm_fit();
    fit.trees = samples::cut_at(samples::gemm_rows, 200, 0.1, 0.3);
    return fit;
  }

  GpuSpec gpu = samples::measured_gpu();
  KernelProfile profile;
  Roofline roofline{gpu, samples::round_profile(), CostLevel::roofline, 1};
  CalibratedKernels kernels{profile, gpu, roofline, std::nullopt};
  CalibratedGemm gemm;
};

double compute_s(double rows) {
  return 2 * rows * kInputs * kOutputs / (1e15 * 0.5);
}
double bandwidth_s(double rows) {
  return 2 * (kInputs * kOutputs + rows * kInputs + rows * kOutputs) / (1e12 * 0.8);
}

TEST_CASE("products: at a knot the formula times the measured factor") {
  const Priced priced(1024);
  // Every row up to 128, then the first and the last of each 64.
  for (const std::int64_t rows : {1, 2, 77, 127, 128, 129, 192, 193, 256, 257, 512, 513, 1024}) {
    CAPTURE(rows);
    const auto m = static_cast<double>(rows);
    const double factor = std::exp(rows <= 200 ? 0.1 : 0.3);
    const RooflineParts parts = priced.gemm.parts(rows);
    CHECK(parts.start_up_s == Approx(4e-6 * factor));
    CHECK(parts.compute_s == Approx(compute_s(m) * factor));
    CHECK(parts.bandwidth_s == Approx(bandwidth_s(m) * factor));
  }
}

TEST_CASE("products: the logarithm of the factor is straight from 64 j + 1 to 64 j + 64") {
  const Priced priced(1024);
  for (std::int64_t rows = 193; rows <= 256; ++rows) {
    CAPTURE(rows);
    const double log_factor = 0.1 + 0.2 * static_cast<double>(rows - 193) / 63;
    CHECK(priced.gemm.parts(rows).start_up_s == Approx(4e-6 * std::exp(log_factor)));
  }
  for (std::int64_t rows = 129; rows <= 192; ++rows) {
    CHECK(priced.gemm.parts(rows).start_up_s == Approx(4e-6 * std::exp(0.1)));
  }
}

TEST_CASE("products: the size of the table changes nothing") {
  const Priced one(1), odd(130), large(8192);
  for (std::int64_t rows = 1; rows <= 9000; rows += rows < 600 ? 1 : 61) {
    CAPTURE(rows);
    const RooflineParts expected = large.gemm.parts(rows);
    for (const Priced* other : {&one, &odd}) {
      const RooflineParts parts = other->gemm.parts(rows);
      CHECK(parts.start_up_s == expected.start_up_s);
      CHECK(parts.compute_s == expected.compute_s);
      CHECK(parts.bandwidth_s == expected.bandwidth_s);
    }
  }
}

}  // namespace
}  // namespace inferometer
