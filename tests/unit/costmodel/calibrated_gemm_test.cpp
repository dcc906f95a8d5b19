#include "costmodel/calibrated_gemm.hpp"

#include <cmath>
#include <utility>
#include <vector>

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
  explicit Priced(std::vector<double> measured_rows)
      : profile(samples::profile_of({cut_fit(std::move(measured_rows))})), gemm(kernels, product()) {}

  static KernelFit cut_fit(std::vector<double> measured_rows) {
    KernelFit fit = samples::gemm_fit();
    fit.rows = std::move(measured_rows);
    fit.trees = samples::cut_at(samples::gemm_rows, 200, 0.1, 0.3);
    return fit;
  }

  GpuSpec gpu = samples::measured_gpu();
  KernelProfile profile;
  Roofline roofline{gpu, samples::round_profile(), CostLevel::roofline, in_one_node(1)};
  CalibratedKernels kernels{profile, gpu, roofline, std::nullopt};
  CalibratedGemm gemm;
};

double compute_s(double rows) {
  return 2 * rows * kInputs * kOutputs / (1e15 * 0.5);
}
double bandwidth_s(double rows) {
  return 2 * (kInputs * kOutputs + rows * kInputs + rows * kOutputs) / (1e12 * 0.8);
}

TEST_CASE("products: at a measured number of rows the formula times the measured factor") {
  const std::vector<double> measured{1, 2, 77, 128, 129, 256, 257, 512, 8192};
  const Priced priced(measured);
  for (const double m : measured) {
    CAPTURE(m);
    const double factor = std::exp(m <= 200 ? 0.1 : 0.3);
    const RooflineParts parts = priced.gemm.parts(static_cast<std::int64_t>(m));
    CHECK(parts.start_up_s == Approx(4e-6 * factor));
    CHECK(parts.compute_s == Approx(compute_s(m) * factor));
    CHECK(parts.bandwidth_s == Approx(bandwidth_s(m) * factor));
  }
}

TEST_CASE(
    "products: the logarithm of the factor is straight between measured numbers of rows, level beyond") {
  const Priced priced({8, 129, 256, 512});
  for (std::int64_t rows = 129; rows <= 256; ++rows) {
    CAPTURE(rows);
    const double log_factor = 0.1 + 0.2 * static_cast<double>(rows - 129) / 127;
    CHECK(priced.gemm.parts(rows).start_up_s == Approx(4e-6 * std::exp(log_factor)));
  }
  for (const std::int64_t rows : {1, 7, 8, 9, 128}) {
    CHECK(priced.gemm.parts(rows).start_up_s == Approx(4e-6 * std::exp(0.1)));
  }
  for (const std::int64_t rows : {257, 400, 512, 513, 100'000}) {
    CHECK(priced.gemm.parts(rows).start_up_s == Approx(4e-6 * std::exp(0.3)));
  }
}

TEST_CASE("products: a profile that does not say what was measured is asked for each number of rows") {
  const Priced priced({});
  CHECK(priced.gemm.parts(200).start_up_s == Approx(4e-6 * std::exp(0.1)));
  CHECK(priced.gemm.parts(201).start_up_s == Approx(4e-6 * std::exp(0.3)));
}

}  // namespace
}  // namespace inferometer
