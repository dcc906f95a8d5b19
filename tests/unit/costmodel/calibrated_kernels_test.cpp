#include "costmodel/calibrated_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "costmodel/feed_forward.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_kernels.hpp"

namespace inferometer {
namespace {

struct Kernels {
  explicit Kernels(KernelProfile with, std::optional<std::uint64_t> resample = std::nullopt)
      : profile(std::move(with)), kernels(profile, gpu, roofline, resample) {}

  GpuSpec gpu = samples::measured_gpu();
  KernelProfile profile;
  Roofline roofline{gpu, samples::round_profile(), CostLevel::roofline, in_one_node(2)};
  CalibratedKernels kernels;
};

Operator named(const std::vector<Operator>& list, std::string_view name) {
  return *std::find_if(list.begin(), list.end(), [name](const Operator& part) { return part.name == name; });
}

Operator gemm_of(std::int64_t rows) {
  return named(token_operators(samples::llama_3_8b(), 1, rows), "o projection");
}

TEST_CASE("kernels: an elementwise operator takes the measured start-up and bandwidth for its own bytes") {
  const Kernels with(samples::profile_of({samples::elementwise_fit("silu_mul")}));
  const Operator silu = named(token_operators(samples::llama_3_8b(), 1, 9000), "silu x up");
  const RoofTimes times = with.kernels.time(silu);
  CHECK(times.start_up == microseconds(2));
  CHECK(times.compute == Duration());
  // 3 x 2 B x 9000 x 14336 at 0.4 of 1 TB/s.
  CHECK(times.bandwidth == picoseconds(6LL * 9000 * 14336 * 10 / 4));
  // Neither the width nor the tokens were measured, but the shape is not asked for.
  CHECK_FALSE(with.kernels.is_extrapolated(silu));
  CHECK(with.kernels.extrapolations(silu).empty());
}

TEST_CASE(
    "kernels: a norm stands in for one with residual, NCCL for an all-reduce, where these were not "
    "measured") {
  const Kernels with(
      samples::profile_of({samples::elementwise_fit("norm"), samples::collective_fit("nccl_all_reduce")}));
  const std::vector<Operator> operators = token_operators(samples::llama_3_8b(), 2, 10);
  // 4 x 2 B x 10 x 4096 at 0.4 of 1 TB/s.
  CHECK(with.kernels.time(named(operators, "norm + residual")).bandwidth ==
        picoseconds(8LL * 10 * 4096 * 10 / 4));
  const KernelCall reduce = *named(operators, "all-reduce").call;
  CHECK(with.kernels.choose(reduce).measured_variant == "nccl_all_reduce");
  const Kernels both(samples::profile_of(
      {samples::collective_fit("nccl_all_reduce"), samples::collective_fit("all_reduce")}));
  CHECK(both.kernels.choose(reduce).measured_variant == "all_reduce");
}

TEST_CASE("kernels: a collective follows its curve, straight in the logarithm of its bytes") {
  const Kernels with(samples::profile_of({samples::collective_fit("all_reduce")}));
  // Two GPUs send as many bytes as the array has, at half of 100 GB/s, after 5 us.
  const auto formula_s = [](double bytes, double factor) { return (5e-6 + bytes / 50e9) * factor; };
  ModelSpec model = samples::llama_3_8b();
  model.hidden = 500;  // 1000 B a token
  const auto time_s = [&](std::int64_t tokens) {
    const RoofTimes times = with.kernels.time(named(token_operators(model, 2, tokens), "all-reduce"));
    CHECK(times.total() == times.communication);
    return to_seconds(times.communication);
  };
  CHECK(time_s(1) == Approx(formula_s(1e3, 1.5)));
  CHECK(time_s(1000) == Approx(formula_s(1e6, 2)));
  CHECK(time_s(5000) == Approx(formula_s(5e6, 2)));
  // A third of the way from 1 kB to 1 MB: 10 kB.
  CHECK(time_s(10) == Approx(formula_s(1e4, 1.5 * std::pow(2 / 1.5, 1.0 / 3))));
}

/// 64 experts of width 1000 and 500 columns, 4 a token.
ModelSpec model_with_experts(double skew) {
  ModelSpec model = samples::llama_3_8b();
  model.hidden = 1000;
  model.moe.emplace();
  model.moe->experts = 64;
  model.moe->experts_per_token = 4;
  model.moe->ffn = 500;
  model.moe->skew = skew;
  return model;
}

TEST_CASE("kernels: experts have the FLOPs and bytes of their step and the factor of the measured call") {
  KernelFit fit = samples::moe_fit();
  fit.rows = {1, 16, 64, 4096};
  fit.trees = samples::cut_at(samples::moe_tokens, 20, 0.1, 0.34);
  const Kernels with(samples::profile_of({fit}));
  const auto check = [&](std::int64_t tokens, double log_factor) {
    INFO(tokens << " tokens");
    const RoofTimes times = with.kernels.time(routed_experts(model_with_experts(0), 1, tokens));
    const auto t = static_cast<double>(tokens);
    const double factor = std::exp(log_factor);
    // Independent choices reach 64 (1 - (60/64)^T) experts; dealt out in turn, 4 T of 64 would be.
    const double reached = 64 * (1 - std::pow(60.0 / 64, t));
    const double bytes = 2 * 3 * reached * 1000 * 500 + 4 * t * 1000 + 6 * 4 * t * 500;
    constexpr double kRoundedUp = 1e-12;
    CHECK(to_seconds(times.start_up) == Approx(30e-6 * factor).margin(kRoundedUp));
    CHECK(to_seconds(times.compute) ==
          Approx(6 * 4 * t * 1000 * 500 / (0.4 * 1e15) * factor).margin(kRoundedUp));
    CHECK(to_seconds(times.bandwidth) == Approx(bytes / (0.5 * 1e12) * factor).margin(kRoundedUp));
  };
  check(1, 0.1);
  check(16, 0.1);
  check(28, 0.1 + 0.24 * 12 / 48);  // a quarter of the way from 16 to 64
  check(64, 0.34);
  check(9000, 0.34);
}

TEST_CASE("kernels: experts of uneven popularity are looked up by their tokens") {
  // 4 GPUs; evenly, the fullest of them stands for more tokens than there are.
  const ModelSplit split(4, 1, 4);
  CHECK(routed_experts(model_with_experts(1), split, 100).call->axes[0] == 100);
  const double even = routed_experts(model_with_experts(0), split, 100).call->axes[0];
  CHECK(even == Approx(100 + std::sqrt(2 * 100 * std::log(4.0))));
}

TEST_CASE("kernels: what no profile knows is the roofline's") {
  const Kernels with(samples::profile_of({}));
  for (const Operator& part :
       step_operators(samples::llama_3_8b(), 2, {.decodes = 3, .decode_context = 90, .sampled_rows = 3})) {
    CHECK(with.kernels.time(part).total() == with.roofline.time(part).total());
    CHECK_FALSE(with.kernels.is_extrapolated(part));
  }
}

TEST_CASE("kernels: attention within the chunks' kernel leaves out the launch and nothing else") {
  KernelFit fit = samples::decode_fit();
  const auto beside_and_alone = [&fit] {
    const Kernels with(samples::profile_of({fit}));
    const auto total = [&](bool beside) {
      return with.kernels.time(decode_attention(samples::llama_3_8b(), 1, 4, 4000, beside)).total();
    };
    return std::pair(total(true), total(false));
  };
  const auto [beside, alone] = beside_and_alone();
  CHECK(alone - beside == microseconds(10));  // 20 ns for each of 32 sequences x KV heads remain
  fit.trees = samples::everywhere(-1.0);
  const auto [beside_fast, alone_fast] = beside_and_alone();
  // One sequence over one token: 10.16 us and 4 x 8 x 128 + 4 x 32 x 128 B at 0.9 TB/s, times 1 / e.
  CHECK(to_seconds(alone_fast - beside_fast) == Approx((10.16e-6 + 20480 / 0.9e12) * std::exp(-1.0)));
}

TEST_CASE("kernels: a format that was not measured has the factors of bf16 and the roofline of its own") {
  KernelFit fit = samples::gemm_fit();
  fit.trees = samples::everywhere(0.25);
  Kernels with(samples::profile_of({fit}));
  with.gpu.fp8_peak = FlopsPerSecond(2e15);
  ModelSpec model = samples::llama_3_8b();
  model.weight_format = "fp8";
  const Operator product = named(token_operators(model, 1, 100), "o projection");
  const RoofTimes times = with.kernels.time(product);
  const double factor = std::exp(0.25);
  CHECK(to_seconds(times.compute) == Approx(2.0 * 100 * 4096 * 4096 / (2e15 * 0.5) * factor));
  CHECK(to_seconds(times.bandwidth) ==
        Approx((4096.0 * 4096 + 100 * 4096 + 2 * 100 * 4096) / 0.8e12 * factor));
  CHECK(with.kernels.choose(*product.call).is_scaled);
  CHECK(with.kernels.choose(*product.call).measured_variant == "bf16");
  CHECK(with.kernels.is_extrapolated(product));
  CHECK(with.kernels.extrapolations(product).empty());  // but within the range of sizes
  const Kernels measured(samples::profile_of({samples::gemm_fit(), samples::gemm_fit("fp8")}));
  CHECK_FALSE(measured.kernels.choose(*product.call).is_scaled);
  CHECK_FALSE(measured.kernels.is_extrapolated(product));
}

TEST_CASE("kernels: how far outside of what was measured") {
  const Kernels with(samples::whole_profile());
  const Operator head = named(row_operators(samples::llama_3_8b(), 1, 16384), "lm_head");
  const std::vector<Extrapolation> beyond = with.kernels.extrapolations(head);
  REQUIRE(beyond.size() == 2);
  CHECK(beyond[0].axis == "m");
  CHECK(beyond[0].factor() == 2);
  CHECK(beyond[1].kernel == "lm_head");
  CHECK(beyond[1].value == 128256);
  CHECK(beyond[1].measured == 65536);
  CHECK(to_text(beyond[1]) == "lm_head with n = 128256, 2 times above the largest measured (65536)");
  CHECK(to_text({"attention", "window", 4096, 0}) ==
        "attention with window = 4096, above the largest measured (0)");
  CHECK(to_text({"o projection", "k", 16, 64}) ==
        "o projection with k = 16, 4 times below the smallest measured (64)");
  CHECK(with.kernels.extrapolations(gemm_of(8192)).empty());
  CHECK(with.kernels.extrapolations(gemm_of(8193)).size() == 1);
  // Attention shorter than the shortest measured is none, longer than the longest is.
  const auto decode = [&](std::int64_t batch, std::int64_t context) {
    return with.kernels.extrapolations(
        decode_attention(samples::llama_3_8b(), 1, batch, batch * context, false));
  };
  CHECK(decode(64, 1).empty());
  CHECK(decode(64, 4096).empty());
  CHECK(decode(65, 4097).size() == 2);
  // Chunks are as many prompts as are as much work: 1 token after 2000 is 1 / 4001 of one of 4001 tokens.
  const std::vector<ChunkShape> inside{{1, 2000}}, outside{{1, 2100}};
  CHECK(with.kernels.extrapolations(prefill_attention(samples::llama_3_8b(), 1, inside)).empty());
  CHECK(with.kernels.extrapolations(prefill_attention(samples::llama_3_8b(), 1, outside)).size() == 1);
}

/// An error whose log ratio is `slope` times the share of measurements below it.
RegionError error_of(std::string region, double slope) {
  RegionError error;
  error.region = std::move(region);
  for (std::size_t i = 0; i < RegionError::kQuantiles; ++i) {
    error.log_ratio[i] = slope * static_cast<double>(i) / (RegionError::kQuantiles - 1);
  }
  return error;
}

TEST_CASE("kernels: a resampled run draws one factor for each operator and region") {
  KernelFit fit = samples::gemm_fit();
  fit.regions = {error_of("m 65 to 512", 0.3), error_of("m to 64", 0.5)};
  const KernelProfile profile = samples::profile_of({fit});
  const Kernels plain(profile), drawn(profile, 7);
  const auto log_factor = [&](std::int64_t rows) {
    const RoofTimes base = plain.kernels.time(gemm_of(rows));
    return std::log(to_seconds(drawn.kernels.time(gemm_of(rows)).total()) / to_seconds(base.total()));
  };
  // Between the 5 and 95 % quantiles.
  const auto drawn_share = [](const std::string& region) {
    return 0.05 + 0.9 * RandomStream(7, "uncertainty/7/o projection/" + region).uniform();
  };
  CHECK(log_factor(1) == Approx(0.5 * drawn_share("m to 64")).epsilon(1e-5));
  CHECK(log_factor(64) == Approx(log_factor(1)).epsilon(1e-5));
  CHECK(log_factor(65) == Approx(0.3 * drawn_share("m 65 to 512")).epsilon(1e-5));
  CHECK(log_factor(512) == Approx(log_factor(65)).epsilon(1e-5));
  // A region without measurements left out of the fit has the first one's errors, by a draw of its own.
  CHECK(log_factor(513) == Approx(0.3 * drawn_share("m above 512")).epsilon(1e-5));
}

}  // namespace
}  // namespace inferometer
