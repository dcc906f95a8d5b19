#include "calibration/sweep/point_cost.hpp"

#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

// 1000 TFLOPS, 1 TB/s, 10 MB of L2.
GpuSpec round_gpu() {
  GpuSpec gpu;
  gpu.bf16_peak = FlopsPerSecond(1e15);
  gpu.hbm_bandwidth = BytesPerSecond(1e12);
  gpu.l2_cache = Bytes(10'000'000);
  gpu.pcie_per_direction = BytesPerSecond(1e11);
  return gpu;
}

TEST_CASE("a run takes 5 us and the higher roof at three quarters of its peak") {
  // 2 x 3000^3 = 5.4e10 FLOPs: 54 us at the peak; 5.4e7 bytes: 54 us as well at 1 TB/s.
  const KernelCall square{KernelFamily::gemm, "bf16", {3000, 3000, 3000}};
  CHECK(expected_run_seconds(square, round_gpu()) == Approx(5e-6 + 54e-6 / 0.75));
  // 1000 x 1000 elements, read and written: 4 MB.
  const KernelCall copy{KernelFamily::elementwise, "copy", {1000, 1000}};
  CHECK(expected_run_seconds(copy, round_gpu()) == Approx(5e-6 + 4e-6 / 0.75));
}

TEST_CASE("a point takes its overhead, the filling of its buffers, and 18 runs with a flushed cache") {
  const KernelCall copy{KernelFamily::elementwise, "copy", {1000, 1000}};
  const double run_s = 5e-6 + 4e-6 / 0.75;
  const double flush_s = 20e6 / 0.75e12;
  CHECK(expected_point_seconds(copy, round_gpu()) ==
        Approx(4e-3 + 4e6 / 0.5e12 + 18 * (run_s + flush_s + 30e-6)));
}

TEST_CASE("a matrix product also tries the algorithms of its library: 22 more runs") {
  const KernelCall square{KernelFamily::gemm, "bf16", {3000, 3000, 3000}};
  const double run_s = 5e-6 + 54e-6 / 0.75;
  const double flush_s = 20e6 / 0.75e12;
  CHECK(expected_point_seconds(square, round_gpu()) ==
        Approx(4e-3 + 54e6 / 0.5e12 + 40 * (run_s + flush_s + 30e-6)));
}

}  // namespace
}  // namespace inferometer
