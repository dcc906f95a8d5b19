// Features that corrections cut by, at places where a formula written out by hand says what they are.

#include <cmath>

#include "costmodel/kernels/kernel_roofline.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/costmodel/kernels/kernel_calls.hpp"

namespace inferometer {
namespace {

TEST_CASE("features are finite and as many for every call of a family") {
  const GpuSpec gpu = test::kernel_gpu();
  KernelCall windowed = test::prefill_call(2, 7, 100, 8, 2);
  windowed.axes[6] = 16;
  for (const KernelCall& call :
       {test::gemm_call(1, 1, 1), test::gemm_call(1e5, 3e5, 1e5), test::prefill_call(1, 1, 0, 1, 1), windowed,
        test::decode_call(1, 1, 1, 1), test::decode_call(256, 1e5, 64, 8),
        test::call_of(KernelFamily::moe, "fp8", {1, 1, 1, 1, 1, 1, 1, 0})}) {
    INFO(to_string(call));
    const KernelFeatures features = kernel_features(call, gpu);
    CHECK(features.count == feature_count(call.family));
    CHECK(features.count > 0);
    for (const double value : features.span()) {
      CHECK(std::isfinite(value));
    }
  }
  for (const KernelFamily family :
       {KernelFamily::elementwise, KernelFamily::collective, KernelFamily::host}) {
    CHECK(feature_count(family) == 0);
  }
}

TEST_CASE("waves: rounds of the whole GPU, and what of the last is idle") {
  const GpuSpec gpu = test::kernel_gpu();  // ten multiprocessors
  // 129 x 2,000 is 2 x 16 tiles of 128 x 128: 3.2 rounds, of which the fourth is idle by 0.8.
  const KernelFeatures features = kernel_features(test::gemm_call(129, 2000, 64), gpu);
  CHECK(features.values[10] == Approx(std::log(3.2)));
  CHECK(features.values[11] == Approx(std::log(4 / 3.2)));
}

TEST_CASE("a power of two holds itself and what lies above half of it") {
  const GpuSpec gpu = test::kernel_gpu();
  const auto exponent = [&](double m) { return kernel_features(test::gemm_call(m, 8, 8), gpu).values[7]; };
  CHECK(exponent(1) == 0);
  CHECK(exponent(16) == 4);
  CHECK(exponent(17) == 5);
  CHECK(exponent(32) == 5);
  CHECK(exponent(33) == 6);
}

TEST_CASE("experts: how few choices are, and what the first experts of a GPU would get of them") {
  const GpuSpec gpu = test::kernel_gpu();
  const auto features = [&](double tokens, double expert_parallel) {
    return kernel_features(
        test::call_of(KernelFamily::moe, "bf16", {tokens, 64, 32, 256, 8, 1, expert_parallel, 0}), gpu);
  };
  // 4 x 8 choices of 256 experts, dealt out in turn: 8 on each of four GPUs, which could hold all 32.
  CHECK(std::exp(features(4, 4).values[10]) == Approx(0.125));
  CHECK(std::exp(features(4, 4).values[11]) == Approx(4));
  // 16 experts a GPU hold 16, and 2 come.
  CHECK(std::exp(features(4, 16).values[11]) == Approx(8));
  // All experts reached: nothing to choose.
  CHECK(std::exp(features(512, 4).values[11]) == Approx(1));
}

TEST_CASE("a chunk with a past has the features of the prompts that attend as many pairs with as many rows") {
  const GpuSpec gpu = test::kernel_gpu();
  // 10 tokens after 5: 105 pairs; half a prompt of 20 tokens: 105 as well.
  const KernelFeatures chunk = kernel_features(test::prefill_call(4, 10, 5, 8, 2), gpu);
  CHECK(std::exp(chunk.values[0]) == Approx(2));
  CHECK(std::exp(chunk.values[1]) == Approx(20));
  const KernelFeatures prompts = kernel_features(test::prefill_call(2, 20, 0, 8, 2), gpu);
  for (const std::size_t f : {0, 1, 2, 3, 4, 5, 6, 8}) {
    CHECK(chunk.values[f] == Approx(prompts.values[f]).margin(1e-12));
  }
}

}  // namespace
}  // namespace inferometer
