// Predictions of a fit put together by hand: constants, trees, curves, range and regions.

#include "costmodel/kernels/kernel_fit.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/unit/costmodel/kernels/kernel_calls.hpp"

namespace inferometer {
namespace {

using test::call_of;
using test::collective_call;
using test::decode_call;
using test::gemm_call;

/// Trees of that many units everywhere.
RegressionTrees level(std::int64_t units) {
  return {{}, {RegressionTrees::leaf_code(units)}};
}

KernelFit all_reduce_fit() {
  KernelFit fit;
  fit.family = KernelFamily::collective;
  fit.variant = "all_reduce";
  fit.curves = {{2, {1e4, 1e6}, {0.2, 0.6}}, {8, {1e4, 1e5, 1e6}, {-0.3, 0.1, 0.2}}};
  return fit;
}

TEST_CASE("a roofline: start-up, what each unit takes, and the higher of the fitted roofs") {
  const GpuSpec gpu = test::kernel_gpu();  // 1e15 FLOP/s, 1e12 B/s, 1e11 B/s of link
  const RooflineConstants constants{.start_up_s = 5e-6,
                                    .per_unit_s = 1e-8,
                                    .compute_efficiency = 0.5,
                                    .bandwidth_efficiency = 0.8,
                                    .overhang_tokens = 1};
  const RooflineParts product = roofline_parts(gemm_call(1000, 2000, 500), constants, gpu);
  CHECK(product.start_up_s == 5e-6);  // units have none
  CHECK(product.compute_s == Approx(2e9 / 0.5e15));
  CHECK(product.bandwidth_s == Approx(2.0 * (2000 * 500 + 1000 * 500 + 1000 * 2000) / 0.8e12));
  CHECK(product.total_s() == Approx(5e-6 + 8.75e-6));  // memory
  const RooflineParts decode = roofline_parts(decode_call(3, 10, 8, 2), constants, gpu);
  CHECK(decode.start_up_s == Approx(5e-6 + 6e-8));  // six sequences x KV heads
  const RooflineParts host = roofline_parts(call_of(KernelFamily::host, "sample", {7, 1}), constants, gpu);
  CHECK(host.total_s() == Approx(5e-6 + 7e-8));
  const RooflineParts reduce = roofline_parts(collective_call(4, 1e6), constants, gpu);
  CHECK(reduce.total_s() == Approx(5e-6 + 1.5e6 / 0.8e11));
}

TEST_CASE("a roofline of prefill attention: half of the overhang less one key more a query") {
  const GpuSpec gpu = test::kernel_gpu();
  RooflineConstants constants;
  const KernelCall call = test::prefill_call(2, 10, 5, 4, 2);
  const double pairs = 10 * 5 + 55;
  CHECK(roofline_parts(call, constants, gpu).compute_s == Approx(4 * 2 * 4 * 128 * pairs / 1e15));
  constants.overhang_tokens = 129;
  CHECK(roofline_parts(call, constants, gpu).compute_s == Approx(4 * 2 * 4 * 128 * (pairs + 640) / 1e15));
}

TEST_CASE("a prediction is the roofline times e to the sum of the trees") {
  const GpuSpec gpu = test::kernel_gpu();
  KernelFit fit;
  fit.roofline.start_up_s = 1e-6;
  const KernelCall call = gemm_call(100, 100, 100);
  const double roofline = 1e-6 + 60'000 / 1e12;
  CHECK(predicted_seconds(fit, call, gpu) == Approx(roofline).epsilon(1e-12));
  fit.trees = level(2'500);
  CHECK(log_correction(fit, call, gpu) == Approx(0.25));
  CHECK(predicted_seconds(fit, call, gpu) == Approx(roofline * std::exp(0.25)).epsilon(1e-12));
}

TEST_CASE("trees cut calls by their features: here GEMMs by the logarithm of their rows") {
  const GpuSpec gpu = test::kernel_gpu();
  KernelFit fit;
  std::vector<std::vector<double>> edges(feature_count(KernelFamily::gemm));
  edges[0] = {std::log(64.5)};
  fit.trees = {edges, {0, RegressionTrees::leaf_code(1'000), RegressionTrees::leaf_code(2'000)}};
  CHECK(log_correction(fit, gemm_call(64, 128, 128), gpu) == Approx(0.1));
  CHECK(log_correction(fit, gemm_call(65, 128, 128), gpu) == Approx(0.2));
}

TEST_CASE("decode attention within L2 has trees of its own, or those of the others") {
  const GpuSpec gpu = test::kernel_gpu();  // 1 MB of L2
  KernelFit fit;
  fit.family = KernelFamily::decode_attention;
  fit.trees = level(1'000);
  // 2 x 2 B x 128 a token and head: 1,953 tokens are 999,936 bytes, one more is above.
  const KernelCall within = decode_call(1, 1953, 1, 1), beyond = decode_call(1, 1954, 1, 1);
  CHECK(fits_in_l2(within, gpu));
  CHECK_FALSE(fits_in_l2(beyond, gpu));
  CHECK_FALSE(fits_in_l2(gemm_call(1, 1, 1), gpu));
  CHECK_FALSE(fits_in_l2(test::prefill_call(1, 1, 0, 1, 1), gpu));
  CHECK(log_correction(fit, within, gpu) == Approx(0.1));
  fit.trees_in_l2 = level(3'000);
  CHECK(log_correction(fit, within, gpu) == Approx(0.3));
  CHECK(log_correction(fit, beyond, gpu) == Approx(0.1));
}

TEST_CASE("a curve is straight in log bytes between its knots and level beyond") {
  const GpuSpec gpu = test::kernel_gpu();
  const KernelFit fit = all_reduce_fit();
  const auto at = [&](double gpus, double bytes) {
    return log_correction(fit, collective_call(gpus, bytes), gpu);
  };
  CHECK(at(2, 1) == Approx(0.2));
  CHECK(at(2, 1e4) == Approx(0.2));
  CHECK(at(2, 1e5) == Approx(0.4));  // half way from 1e4 to 1e6
  CHECK(at(2, std::pow(10, 4.5)) == Approx(0.3));
  CHECK(at(2, 1e6) == Approx(0.6));
  CHECK(at(2, 1e9) == Approx(0.6));
  CHECK(at(8, std::pow(10, 4.25)) == Approx(-0.2));
  CHECK(at(8, std::pow(10, 5.5)) == Approx(0.15));
}

TEST_CASE("the curve is that of the smallest group that holds the GPUs, else of the largest") {
  const GpuSpec gpu = test::kernel_gpu();
  const KernelFit fit = all_reduce_fit();
  CHECK(log_correction(fit, collective_call(4, 1e5), gpu) == Approx(0.1));
  CHECK(log_correction(fit, collective_call(8, 1e5), gpu) == Approx(0.1));
  CHECK(log_correction(fit, collective_call(16, 1e5), gpu) == Approx(0.1));
}

TEST_CASE("extrapolation is the factor of the axis that lies farthest outside") {
  KernelFit fit;
  fit.range = {{16, 1024}, {128, 4096}, {64, 4096}};
  CHECK(extrapolation(fit, gemm_call(16, 128, 4096)) == 1);
  CHECK(extrapolation(fit, gemm_call(2048, 4096, 64)) == 2);
  CHECK(extrapolation(fit, gemm_call(4, 128, 64)) == 4);
  CHECK(extrapolation(fit, gemm_call(8, 4096 * 3, 64)) == 3);
  CHECK(extrapolation(fit, gemm_call(1025, 128, 64)) == 1025.0 / 1024);
}

TEST_CASE("extrapolation of an axis that is 0, as a window or a past may be, has no bounds") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  KernelFit fit;
  fit.family = KernelFamily::decode_attention;
  fit.range = {{1, 64}, {1, 1024}, {8, 8}, {8, 8}, {128, 128}, {0, 0}};
  CHECK(extrapolation(fit, decode_call(1, 1024, 8, 8)) == 1);
  KernelCall windowed = decode_call(1, 1024, 8, 8);
  windowed.axes[5] = 512;
  CHECK(extrapolation(fit, windowed) == kInfinity);
  fit.range[5] = {128, 1024};
  CHECK(extrapolation(fit, windowed) == 1);
  CHECK(extrapolation(fit, decode_call(1, 1024, 8, 8)) == kInfinity);
}

TEST_CASE("regions: borders belong to the smaller part") {
  const GpuSpec gpu = test::kernel_gpu();
  const auto region = [&](const KernelCall& call) { return region_of(call, gpu); };
  CHECK(region(gemm_call(64, 1, 1)) == "m to 64");
  CHECK(region(gemm_call(65, 1, 1)) == "m 65 to 512");
  CHECK(region(gemm_call(512, 1, 1)) == "m 65 to 512");
  CHECK(region(gemm_call(513, 1, 1)) == "m above 512");
  CHECK(region(test::prefill_call(8, 256, 0, 1, 1)) == "tokens to 256");
  CHECK(region(test::prefill_call(8, 257, 0, 1, 1)) == "tokens 257 to 2048");
  CHECK(region(test::prefill_call(8, 2048, 0, 1, 1)) == "tokens 257 to 2048");
  CHECK(region(test::prefill_call(8, 2049, 0, 1, 1)) == "tokens above 2048");
  CHECK(region(decode_call(1, 1953, 1, 1)) == "KV within L2");
  CHECK(region(decode_call(1, 1954, 1, 1)) == "KV beyond L2");
  const auto moe = [&](double tokens) {
    return region(call_of(KernelFamily::moe, "bf16", {tokens, 1, 1, 2, 1, 1, 1, 0}));
  };
  CHECK(moe(64) == "tokens to 64");
  CHECK(moe(65) == "tokens 65 to 512");
  CHECK(moe(513) == "tokens above 512");
  CHECK(region(collective_call(2, 65'536)) == "to 64 KiB");
  CHECK(region(collective_call(2, 65'537)) == "64 KiB to 4 MiB");
  CHECK(region(collective_call(2, 4'194'304)) == "64 KiB to 4 MiB");
  CHECK(region(collective_call(2, 4'194'305)) == "above 4 MiB");
  CHECK(region(call_of(KernelFamily::elementwise, "norm", {1, 1})) == "all");
  CHECK(region(call_of(KernelFamily::host, "sample", {1, 1})) == "all");
}

}  // namespace
}  // namespace inferometer
