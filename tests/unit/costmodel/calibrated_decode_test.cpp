#include "costmodel/calibrated_decode.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "costmodel/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sample_kernels.hpp"

namespace inferometer {
namespace {

constexpr std::int64_t kMaxBatch = 64;

/// Decode attention of Llama-3-8B: 32 layers of 32 heads over 8 KV heads of 128.
struct Priced {
  explicit Priced(const KernelFit& fit, std::int64_t max_batch = kMaxBatch)
      : profile(samples::profile_of({fit})),
        decode(kernels, decode_attention(samples::llama_3_8b(), 1, 1, 1, false), max_batch) {}

  [[nodiscard]] StepCost cost(std::int64_t batch, std::int64_t context, bool beside_prefill = false) const {
    StepCost sum;
    decode.add(batch, context, beside_prefill, sum);
    return sum;
  }
  [[nodiscard]] std::int64_t ps(std::int64_t batch, std::int64_t context) const {
    return cost(batch, context).total().count();
  }

  GpuSpec gpu = samples::measured_gpu();
  KernelProfile profile;
  Roofline roofline{gpu, samples::round_profile(), CostLevel::roofline, in_one_node(1)};
  CalibratedKernels kernels{profile, gpu, roofline, std::nullopt};
  CalibratedDecode decode;
};

/// 10 us, 20 ns for each sequence and KV head, then the higher of 4 x 32 x 128 FLOP a key at 0.4 of 1000
/// TFLOPS and 2 x 2 x 8 x 128 B a key (and the queries and outputs) at 0.9 of 1 TB/s; 32 layers.
double formula_s(double batch, double context) {
  const double compute = batch * context * 4 * 32 * 128 / 0.4e15;
  const double bandwidth = (batch * context * 4 * 8 * 128 + 4 * batch * 32 * 128) / 0.9e12;
  return 32 * (10e-6 + 20e-9 * batch * 8 + std::max(compute, bandwidth));
}

bool within_picoseconds(std::int64_t ps, double seconds, std::int64_t most) {
  return std::abs(ps - static_cast<std::int64_t>(std::ceil(seconds * 1e12))) <= most;
}

TEST_CASE("decode attention: at knots what the kernel was predicted to take") {
  KernelFit fit = samples::decode_fit();
  fit.trees = samples::cut_at(samples::decode_context, 300, -0.2, 0.1);
  const Priced priced(fit);
  for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64}) {
    for (std::int64_t context = 1; context <= 65'536; context *= 2) {
      CAPTURE(batch, context);
      const double factor = std::exp(context <= 300 ? -0.2 : 0.1);
      const double seconds = formula_s(static_cast<double>(batch), static_cast<double>(context)) * factor;
      CHECK(within_picoseconds(priced.ps(batch, batch * context), seconds, 2));
      KernelCall call = *decode_attention(samples::llama_3_8b(), 1, batch, batch * context, false).call;
      CHECK(32 * predicted_seconds(fit, call, priced.gpu) == Approx(seconds));
    }
  }
}

TEST_CASE("decode attention: between powers of two of the batch the correction follows its logarithm") {
  KernelFit fit = samples::decode_fit();
  fit.trees = samples::cut_at(samples::decode_batch, 20, 0.1, 0.3);
  const Priced priced(fit);
  for (const std::int64_t batch : {17, 20, 24, 31}) {
    CAPTURE(batch);
    const double log_factor = 0.1 + 0.2 * std::log2(static_cast<double>(batch) / 16);
    CHECK(within_picoseconds(priced.ps(batch, batch * 1024),
                             formula_s(static_cast<double>(batch), 1024) * std::exp(log_factor), 2));
  }
}

TEST_CASE("decode attention: straight in the total context between knots") {
  KernelFit fit = samples::decode_fit();
  fit.trees = samples::cut_at(samples::decode_context, 3000, 0.0, 0.2);
  const Priced priced(fit);
  for (const std::int64_t batch : {1, 7, 32}) {
    for (const std::int64_t mean : {512, 2048}) {
      const std::int64_t from = batch * mean;
      const std::int64_t at_from = priced.ps(batch, from);
      const std::int64_t slope = (priced.ps(batch, 2 * from) - at_from) / from;
      for (const std::int64_t beyond : {std::int64_t{1}, from / 3, from / 2, from - 1}) {
        CAPTURE(batch, mean, beyond);
        CHECK(priced.ps(batch, from + beyond) == at_from + slope * beyond);
        StepLine line;
        priced.decode.add_growth(batch, from + beyond, 1, line);
        CHECK(line.growth.total().count() == slope);
        CHECK(line.steps == from - beyond);  // until the mean has doubled
      }
    }
  }
}

TEST_CASE("decode attention: never falls with the context, whatever was fitted") {
  RandomStream random(3, "profiles");
  for (int i = 0; i < 20; ++i) {
    KernelFit fit = samples::decode_fit();
    const double cut = std::exp(12 * random.uniform());
    fit.trees =
        samples::cut_at(samples::decode_context, cut, 0.0, -1e-4 * static_cast<double>(random.below(20'000)));
    const Priced priced(fit, 8);
    const std::int64_t batch = 1 + static_cast<std::int64_t>(random.below(12));  // beyond the table, too
    std::int64_t last = 0;
    for (std::int64_t context = batch; context < 5'000'000; context += 1 + context / 17) {
      const std::int64_t now = priced.ps(batch, context);
      CAPTURE(cut, batch, context);
      REQUIRE(now >= last);
      last = now;
    }
  }
}

TEST_CASE("decode attention: the launch is paid once, by the chunks of the step where there are any") {
  const Priced priced(samples::decode_fit());
  for (const std::int64_t batch : {1, 5, 64}) {
    const StepCost alone = priced.cost(batch, batch * 700);
    const StepCost beside = priced.cost(batch, batch * 700, true);
    CHECK(within_picoseconds((alone.total() - beside.total()).count(), 32 * 10e-6, 1));
    CHECK(alone.latency - beside.latency == alone.total() - beside.total());
    CHECK(within_picoseconds(beside.latency.count(), 32 * 20e-9 * 8 * static_cast<double>(batch), 2));
  }
}

TEST_CASE("decode attention: a launch takes at most what the shortest attention does") {
  KernelFit fit = samples::decode_fit();
  fit.trees = samples::everywhere(-1.0);  // all in all 0.37 of the constants' time
  const Priced priced(fit);
  const StepCost shortest = priced.cost(1, 1);
  CHECK(shortest.total() < microseconds(320));
  CHECK(priced.cost(1, 1, true).total() == Duration());
  for (const std::int64_t batch : {2, 33}) {
    CHECK(priced.cost(batch, batch * 3000).total() - priced.cost(batch, batch * 3000, true).total() ==
          shortest.total());
    CHECK(within_picoseconds(priced.ps(batch, batch * 2048),
                             formula_s(static_cast<double>(batch), 2048) * std::exp(-1.0), 2));
  }
}

TEST_CASE("decode attention: extrapolated in whole beyond the measured batch or context, else not at all") {
  const Priced priced(samples::decode_fit(), 128);
  CHECK(priced.cost(64, 64 * 4096).extrapolated == Duration());
  CHECK(priced.cost(1, 1).extrapolated == Duration());  // shorter than the shortest: start-up was measured
  for (const auto& [batch, context] :
       {std::pair<std::int64_t, std::int64_t>{65, 100}, {1, 8192}, {128, 16384}}) {
    const StepCost cost = priced.cost(batch, batch * context);
    CHECK(cost.extrapolated == cost.total());
    StepLine line;
    priced.decode.add_growth(batch, batch * context, batch, line);
    CHECK(line.growth.extrapolated == line.growth.total());
    CHECK(line.growth.total() > Duration());
  }
}

TEST_CASE("decode attention: the size of the table changes nothing") {
  KernelFit fit = samples::decode_fit();
  fit.trees = samples::cut_at(samples::decode_batch, 20, 0.1, 0.3);
  const Priced small(fit, 3), large(fit, 256);
  RandomStream random(5, "shapes");
  for (int i = 0; i < 500; ++i) {
    const std::int64_t batch = 1 + static_cast<std::int64_t>(random.below(300));
    const std::int64_t context = batch + static_cast<std::int64_t>(random.below(3'000'000));
    CAPTURE(batch, context);
    CHECK(small.cost(batch, context) == large.cost(batch, context));
  }
}

}  // namespace
}  // namespace inferometer
