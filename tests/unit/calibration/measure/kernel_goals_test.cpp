// Goals of kernels from records made by hand: rates and shares are worked out in the comments.

#include "calibration/measure/kernel_goals.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "costmodel/kernels/kernel_work.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

/// A point that is measured at so many FLOP/s.
MeasuredKernel at_flops(const KernelCall& call, double flops_per_second) {
  MeasuredKernel point;
  point.call = call;
  point.seconds = kernel_work(call).flops / flops_per_second;
  return point;
}

MeasuredKernel at_bytes(const KernelCall& call, double bytes_per_second) {
  MeasuredKernel point;
  point.call = call;
  point.seconds = kernel_work(call).hbm_bytes / bytes_per_second;
  return point;
}

Measurements set_on(const std::string& gpu, std::vector<MeasuredKernel> points) {
  Measurements set;
  set.header.gpu = gpu;
  set.points = std::move(points);
  return set;
}

KernelCall gemm(double m, double n = 8192, double k = 8192, const char* variant = "bf16") {
  return {KernelFamily::gemm, variant, {m, n, k}};
}

KernelCall prompt(double tokens, double past = 0, double head_dim = 128, double window = 0) {
  return {KernelFamily::prefill_attention, "bf16", {1, tokens, past, 32, 8, head_dim, window}};
}

/// 2 (keys and values) x 2 bytes x 8 heads x 128 = 4,096 bytes a token and sequence.
KernelCall decode(double batch, double context, const char* variant = "bf16") {
  return {KernelFamily::decode_attention, variant, {batch, context, 32, 8, 128, 0}};
}

KernelCall elements(const char* variant, double tokens) {
  return {KernelFamily::elementwise, variant, {tokens, 4096}};
}

// 4 bytes x 65,536 x 4,096 = 1.07 GB.
const KernelCall kCopy = elements("copy", 65536);

TEST_CASE("decode attention stands beside the device's copy") {
  const std::vector<KernelGoal> goals = kernel_goals(
      set_on("h100-sxm", {at_bytes(kCopy, 3e12), at_bytes(decode(64, 4096), 2.4e12),
                          at_bytes(decode(64, 2048), 2.7e12), at_bytes(decode(64, 1024), 1.8e12)}));
  REQUIRE(goals.size() == 2);
  const KernelGoal& goal = goals[0];
  CHECK(goal.family == KernelFamily::decode_attention);
  CHECK(goal.variant == "bf16");
  CHECK(goal.calls == 3);
  CHECK(goal.call == decode(64, 4096));
  CHECK(goal.is_bytes);
  CHECK(goal.achieved == Approx(2.4e12));
  CHECK(*goal.yardstick == Approx(3e12));
  CHECK(*goal.share() == Approx(0.8));
  CHECK(*goal.lowest_share == Approx(0.6));
  CHECK(*goal.goal_share == 0.85);
  CHECK(*goal.is_met() == false);
  // The copy itself is its own measure.
  CHECK(goals[1].variant == "copy");
  CHECK(goals[1].achieved == Approx(3e12));
  CHECK_FALSE(goals[1].yardstick);
  CHECK_FALSE(goals[1].is_met());
}

TEST_CASE("decode attention counts from more than 200 MB of keys and values on") {
  // 4,096 bytes x 48,828 = 199.9995 MB; x 48,829 = 200.0036 MB.
  const auto goals_at = [](double batch) {
    return kernel_goals(set_on("h100-sxm", {at_bytes(decode(batch, 1), 3e12)}));
  };
  CHECK(goals_at(48828).empty());
  CHECK(goals_at(48829).size() == 1);
}

TEST_CASE("a goal is met at its share and missed below") {
  const auto met_at = [](double share) {
    return *kernel_goals(
                set_on("h100-sxm", {at_bytes(kCopy, 3e12), at_bytes(decode(64, 4096), share * 3e12)}))
                .front()
                .is_met();
  };
  CHECK(met_at(0.8501));
  CHECK_FALSE(met_at(0.8499));
}

TEST_CASE("the copy that counts is the largest and over 64 MB") {
  // 4 bytes x 4,096 x 3,906 = 63.996 MB; x 3,907 = 64.012 MB.
  const Measurements small =
      set_on("h100-sxm", {at_bytes(elements("copy", 3906), 9e12), at_bytes(decode(64, 4096), 2.4e12)});
  CHECK_FALSE(kernel_goals(small).front().yardstick);
  const Measurements both =
      set_on("h100-sxm", {at_bytes(elements("copy", 3907), 2e12), at_bytes(kCopy, 3e12),
                          at_bytes(elements("copy", 8192), 4e12), at_bytes(decode(64, 4096), 2.4e12)});
  CHECK(*kernel_goals(both).front().yardstick == Approx(3e12));
}

TEST_CASE("small kernels stand beside the copy at their largest sizes") {
  const std::vector<KernelGoal> goals = kernel_goals(
      set_on("a100-80gb-sxm",
             {at_bytes(kCopy, 1.5e12), at_bytes(elements("norm", 65536), 1.3e12),
              at_bytes(elements("norm", 1024), 0.1e12), at_bytes(elements("silu_mul", 65536), 0.9e12)}));
  REQUIRE(goals.size() == 3);
  CHECK(goals[1].variant == "norm");
  CHECK(goals[1].calls == 1);
  CHECK(*goals[1].share() == Approx(1.3 / 1.5));
  CHECK(*goals[1].goal_share == 0.8);
  CHECK(*goals[1].is_met());
  CHECK(goals[2].variant == "silu_mul");
  CHECK_FALSE(*goals[2].is_met());
}

TEST_CASE("prefill attention stands beside FlashAttention at its length") {
  const auto goal_at = [](const char* gpu, double tokens) {
    return kernel_goals(set_on(gpu, {at_flops(prompt(tokens), 100e12)})).front();
  };
  CHECK(*goal_at("h100-sxm", 4096).yardstick == Approx(516e12));
  CHECK(*goal_at("h100-sxm", 8192).yardstick == Approx(573e12));
  CHECK(*goal_at("h100-sxm", 16384).yardstick == Approx(609e12));
  CHECK(*goal_at("h200-sxm", 8192).yardstick == Approx(573e12));
  CHECK(goal_at("h200-sxm", 8192).yardstick_name == "FlashAttention 3");
  CHECK(*goal_at("a100-80gb-sxm", 4096).yardstick == Approx(158e12));
  CHECK(*goal_at("a100-80gb-sxm", 16384).yardstick == Approx(176e12));
  CHECK(goal_at("a100-80gb-sxm", 4096).yardstick_name == "FlashAttention 2");
  // Half-way in the logarithm: (516 + 573) / 2 and (573 + 609) / 2, of lengths that are whole nearly there.
  CHECK(*goal_at("h100-sxm", std::round(4096 * std::sqrt(2.0))).yardstick == Approx(544.5e12).epsilon(1e-4));
  CHECK(*goal_at("h100-sxm", std::round(8192 * std::sqrt(2.0))).yardstick == Approx(591e12).epsilon(1e-4));
  CHECK_FALSE(goal_at("b200-sxm", 8192).yardstick);
  CHECK(*goal_at("a100-80gb-sxm", 8192).share() == Approx(100.0 / 169));
  CHECK(*goal_at("a100-80gb-sxm", 8192).goal_share == 0.6);
}

TEST_CASE("only whole prompts of 4k to 16k with heads of 128 are comparable") {
  for (const KernelCall& call :
       {prompt(4095), prompt(16385), prompt(8192, 1), prompt(8192, 0, 64), prompt(8192, 0, 128, 4096)}) {
    CAPTURE(to_string(call));
    CHECK(kernel_goals(set_on("h100-sxm", {at_flops(call, 100e12)})).empty());
  }
}

TEST_CASE("the prompt in the middle is the middle by its share and not by its rate") {
  // Shares of 300/516 = 0.581, 310/573 = 0.541 and 350/609 = 0.575: the middle is the last.
  const KernelGoal goal =
      kernel_goals(set_on("h100-sxm", {at_flops(prompt(4096), 300e12), at_flops(prompt(8192), 310e12),
                                       at_flops(prompt(16384), 350e12)}))
          .front();
  CHECK(goal.call == prompt(16384));
  CHECK(*goal.share() == Approx(350.0 / 609));
  CHECK(*goal.lowest_share == Approx(310.0 / 573));
}

TEST_CASE("matrix products stand beside the published median without a goal") {
  const auto yardstick_on = [](const char* gpu, const char* variant) {
    return kernel_goals(set_on(gpu, {at_flops(gemm(4096, 8192, 8192, variant), 250e12)})).front();
  };
  CHECK(*yardstick_on("a100-80gb-sxm", "bf16").yardstick == Approx(265e12));
  CHECK(*yardstick_on("h100-sxm", "bf16").yardstick == Approx(784e12));
  CHECK(*yardstick_on("h200-sxm", "bf16").yardstick == Approx(778e12));
  CHECK_FALSE(yardstick_on("l40s", "bf16").yardstick);
  CHECK_FALSE(yardstick_on("h100-sxm", "fp8").yardstick);
  CHECK(*yardstick_on("a100-80gb-sxm", "bf16").share() == Approx(250.0 / 265));
  CHECK_FALSE(yardstick_on("a100-80gb-sxm", "bf16").is_met());
}

TEST_CASE("small matrix products do not count") {
  // 2 x 745 x 8192^2 = 99.99 GFLOP, 2 x 746 x 8192^2 = 100.13 GFLOP.
  CHECK(kernel_goals(set_on("h100-sxm", {at_flops(gemm(745), 700e12)})).empty());
  CHECK(kernel_goals(set_on("h100-sxm", {at_flops(gemm(746), 700e12)})).size() == 1);
}

TEST_CASE("without a call of a size that counts there is no goal") {
  CHECK(kernel_goals(set_on("h100-sxm", {})).empty());
  MeasuredKernel host;
  host.call = {KernelFamily::host, "schedule", {8, 1}};
  host.seconds = 1e-3;
  CHECK(kernel_goals(set_on("h100-sxm", {host})).empty());
}

TEST_CASE("the table has a line a goal and missed goals a sentence") {
  // Decode at 0.62 of the copy: 0.85 / 0.62 - 1 = 37.1 % slower. Prefill of 8,192 at 343.8 = 0.6 x 573: met.
  const std::vector<KernelGoal> goals =
      kernel_goals(set_on("h100-sxm", {at_bytes(kCopy, 3e12), at_bytes(decode(64, 4096), 1.86e12),
                                       at_flops(prompt(8192), 344e12), at_flops(gemm(4096), 700e12)}));
  CHECK(
      goal_table(goals) ==
      R"(family             variant  beside                calls       achieved      yardstick   share  lowest    goal  met
gemm               bf16     the published median      1  700.0 TFLOP/s  784.0 TFLOP/s  89.3 %  89.3 %
prefill_attention  bf16     FlashAttention 3          1  344.0 TFLOP/s  573.0 TFLOP/s  60.0 %  60.0 %  60.0 %  yes
decode_attention   bf16     the device's copy         1      1860 GB/s      3000 GB/s  62.0 %  62.0 %  85.0 %   no
elementwise        copy     nothing known             1      3000 GB/s
)");
  CHECK(
      missed_goals(goals) ==
      std::vector<std::string>{"decode_attention bf16 reaches 1860 GB/s, 62.0 % of the device's copy (goal "
                               "85.0 %): a profile from this kernel makes the GPU look 37.1 % slower than it "
                               "is at decode_attention"});
}

}  // namespace
}  // namespace inferometer
