// What the runs behind an uncertainty interval draw.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "costmodel/calibrated_kernels.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_specs.hpp"

namespace inferometer {
namespace {

/// Matrix products without a correction, whose log errors are spread evenly over 0 to 20.
KernelProfile even_errors() {
  RegionError error;
  error.region = "m to 64";
  for (std::size_t i = 0; i < RegionError::kQuantiles; ++i) {
    error.log_ratio[i] = static_cast<double>(i);
  }
  KernelFit fit;
  fit.variant = "bf16";
  fit.regions = {error};
  return {"round", "by hand", "2026-01-01", {}, {fit}};
}

class Draws {
 public:
  double draw(std::optional<std::uint64_t> run, std::string_view operator_name, double rows) const {
    const CalibratedKernels kernels(profile_, gpu_, roofline_, run);
    return at(kernels, operator_name, rows);
  }
  double at(const CalibratedKernels& kernels, std::string_view operator_name, double rows) const {
    const KernelCall call{KernelFamily::gemm, "bf16", {rows, 4096, 4096}};
    return kernels.correction(operator_name, kernels.choose(call), call);
  }
  CalibratedKernels kernels(std::uint64_t run) const { return {profile_, gpu_, roofline_, run}; }

 private:
  KernelProfile profile_ = even_errors();
  GpuSpec gpu_ = samples::round_gpu();
  Roofline roofline_{gpu_, samples::round_profile(), CostLevel::roofline, in_one_node(1)};
};

TEST_CASE("nothing is drawn unless a run is named") {
  CHECK(Draws().draw(std::nullopt, "qkv projection", 8) == 0);
}

TEST_CASE("a run draws one error for each operator and region") {
  const Draws draws;
  const double drawn = draws.draw(1, "qkv projection", 1);
  CHECK(draws.draw(1, "qkv projection", 64) == drawn);
  CHECK(draws.draw(1, "qkv projection", 65) != drawn);
  CHECK(draws.draw(1, "output projection", 1) != drawn);
  CHECK(draws.draw(2, "qkv projection", 1) != drawn);
}

TEST_CASE("what is drawn does not depend on what was asked before") {
  const Draws draws;
  const CalibratedKernels forwards = draws.kernels(5);
  const CalibratedKernels backwards = draws.kernels(5);
  const double first = draws.at(forwards, "a", 8);
  const double second = draws.at(forwards, "b", 600);
  CHECK(draws.at(backwards, "b", 600) == second);
  CHECK(draws.at(backwards, "a", 8) == first);
  CHECK(draws.at(forwards, "a", 8) == first);
}

// Even over 0 to 20: mean 10, standard deviation 5.8; of 2000 draws the mean is within 4 * 5.8 / sqrt(2000).
// The errors are 0 to 20, evenly, of which 1 to 19 are drawn.
TEST_CASE("draws are spread as the errors were between their 5 and 95 % quantiles") {
  const Draws draws;
  double sum = 0;
  int below_two = 0;
  for (std::uint64_t run = 1; run <= 2000; ++run) {
    const double drawn = draws.draw(run, "qkv projection", 8);
    CHECK(drawn >= 1);
    CHECK(drawn < 19);
    sum += drawn;
    below_two += drawn < 2 ? 1 : 0;
  }
  CHECK(std::abs(sum / 2000 - 10) < 0.47);  // 4 * 18 / sqrt(12 * 2000)
  // An eighteenth is 111, give or take 4 * sqrt(105).
  CHECK(std::abs(below_two - 111) < 41);
}

}  // namespace
}  // namespace inferometer
