#include "calibration/measure/split_by_use.hpp"

#include "calibration/sweep/design_sweep.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

TEST_CASE("a measured sweep is parted by shape, under the headers it had, and no point is lost") {
  Measurements set;
  set.header.gpu = "h100-sxm";
  set.header.library = "inferometer";
  for (double n = 128; n <= 8192; n += 128) {
    for (const double m : {1.0, 64.0}) {
      MeasuredKernel point;
      point.call = {KernelFamily::gemm, "bf16", {m, n, 4096}};
      point.seconds = 1e-5;
      set.points.push_back(point);
    }
  }
  const SplitMeasurements parts = split_by_use({set});
  REQUIRE(parts.fit.size() == 1);
  REQUIRE(parts.held_out.size() == 1);
  CHECK(parts.fit[0].header == set.header);
  CHECK(parts.held_out[0].header == set.header);
  CHECK(parts.fit[0].points.size() + parts.held_out[0].points.size() == set.points.size());
  // 64 shapes, of which one in eight is held out on average; both points of a shape go the same way.
  CHECK(parts.held_out[0].points.size() >= 2);
  CHECK(parts.held_out[0].points.size() <= 32);
  for (const MeasuredKernel& point : parts.held_out[0].points) {
    CHECK(use_of(point.call) == PointUse::held_out);
  }
  for (const MeasuredKernel& point : parts.fit[0].points) {
    CHECK(use_of(point.call) == PointUse::fit);
  }
}

}  // namespace
}  // namespace inferometer
