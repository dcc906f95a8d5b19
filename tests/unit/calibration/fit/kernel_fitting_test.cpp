// What a fit sees of the points, what it predicts where it has seen them, and what is kept from it.

#include "calibration/fit/kernel_fitting.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "costmodel/kernels/kernel_work.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/calibration/fit/synthetic_kernels.hpp"

namespace inferometer {
namespace {

using test::call_of;
using test::measured;
using test::Points;

/// Roofline of the H100 with a launch of 6 us.
constexpr RooflineConstants kTruth{
    .start_up_s = 6e-6, .per_unit_s = 2e-8, .compute_efficiency = 0.6, .bandwidth_efficiency = 0.8};

const GpuSpec& h100() {
  static const GpuSpec gpu = load_gpu("h100-sxm");
  return gpu;
}

/// The time of a call among prepared points; 0 when it is not there.
double seconds_of(const Points& points, const KernelCall& call) {
  const auto found = std::find_if(points.begin(), points.end(),
                                  [&](const MeasuredKernel& point) { return point.call == call; });
  return found == points.end() ? 0 : found->seconds;
}

TEST_CASE("points of equal calls become one with their median time, in order of first appearance") {
  const KernelCall a = test::gemm_call(1, 128, 128), b = test::gemm_call(2, 128, 128);
  const Points points = prepared(
      Points{measured(b, 9e-6), measured(a, 1e-6), measured(b, 3e-6), measured(a, 2e-6), measured(b, 4e-6)},
      h100());
  REQUIRE(points.size() == 2);
  CHECK(points[0].call == b);
  CHECK(points[0].seconds == 4e-6);
  CHECK(points[1].call == a);
  CHECK(points[1].seconds == Approx(1.5e-6));  // of an even number, between the middle two
}

// Decode attention of one sequence and one KV head of 128: 512 bytes a token, warm at a tenth of the time a
// byte takes from memory. L2 of the H100: 50 MB, 97,656 tokens; 0.8 of it: 78,125.
constexpr double kBytesAToken = 512;
constexpr double kColdSecondsAByte = 1 / (3.35e12 * 0.8);
constexpr double kWarmSecondsAByte = kColdSecondsAByte / 4;

Points warm_and_cold() {
  Points points;
  const auto add = [&](double batch, double context) {
    const KernelCall call = test::decode_call(batch, context, 1, 1);
    const double bytes = batch * context * kBytesAToken;
    const double a_byte = fits_in_l2(call, h100()) ? kWarmSecondsAByte : kColdSecondsAByte;
    points.push_back(measured(call, 8e-6 + bytes * a_byte));
  };
  for (const double context : {16.0, 128.0, 1024.0, 4096.0, 16384.0, 65536.0, 78'125.0, 78'126.0, 97'656.0,
                               97'657.0, 131072.0, 262144.0, 524288.0, 1048576.0, 2097152.0}) {
    add(1, context);
  }
  return points;
}

TEST_CASE("decode attention out of the cache gets the time that memory takes longer") {
  const Points points = prepared(warm_and_cold(), h100());
  for (const double context : {16.0, 16384.0, 78'125.0}) {
    const double bytes = context * kBytesAToken;
    CHECK(seconds_of(points, test::decode_call(1, context, 1, 1)) ==
          Approx(8e-6 + bytes * kColdSecondsAByte).epsilon(0.02));
  }
  for (const double context : {97'657.0, 2097152.0}) {
    CHECK(seconds_of(points, test::decode_call(1, context, 1, 1)) ==
          8e-6 + context * kBytesAToken * kColdSecondsAByte);
  }
}

TEST_CASE("decode attention that is partly in the cache, from 0.8 of it to the whole, is left out") {
  const Points all = warm_and_cold();
  const Points points = prepared(all, h100());
  CHECK(seconds_of(points, test::decode_call(1, 78'125, 1, 1)) > 0);
  CHECK(seconds_of(points, test::decode_call(1, 78'126, 1, 1)) == 0);
  CHECK(seconds_of(points, test::decode_call(1, 97'656, 1, 1)) == 0);
  CHECK(seconds_of(points, test::decode_call(1, 97'657, 1, 1)) > 0);
  CHECK(points.size() == all.size() - 2);
}

TEST_CASE("decode attention all within the cache, or all beyond it, stays as measured") {
  for (const std::vector<double>& contexts : {std::vector{16.0, 1024.0, 65536.0}, std::vector{1e6, 2e6}}) {
    Points points;
    for (const double context : contexts) {
      points.push_back(measured(test::decode_call(1, context, 1, 1), 1e-5 * context));
    }
    const Points same = prepared(points, h100());
    REQUIRE(same.size() == points.size());
    for (std::size_t i = 0; i < same.size(); ++i) {
      CHECK(same[i].seconds == points[i].seconds);
    }
  }
}

TEST_CASE("decode attention with a flushed cache stays as measured, small ones too, and is judged") {
  Points points = warm_and_cold();
  for (MeasuredKernel& point : points) {
    point.statistics.cache = CacheState::cold;
  }
  const Points same = prepared(points, h100());
  REQUIRE(same.size() == points.size());
  for (const MeasuredKernel& point : points) {
    CHECK(seconds_of(same, point.call) == point.seconds);
  }
  CHECK(fit_kernel(points, h100()).trees_in_l2.tree_count() == 0);
  CHECK(cross_validate(points, h100(), SplitBy::point, 3).size() == points.size());
}

TEST_CASE("time out of the cache that is no shorter is not shortened") {
  Points points = warm_and_cold();
  for (MeasuredKernel& point : points) {
    if (fits_in_l2(point.call, h100())) {
      point.seconds = 8e-6 + kv_bytes(point.call) * 2 * kColdSecondsAByte;
    }
  }
  const KernelCall call = test::decode_call(1, 16384, 1, 1);
  CHECK(seconds_of(prepared(points, h100()), call) == seconds_of(points, call));
}

TEST_CASE("a fit predicts what it has seen, and knows its range") {
  const Points points = test::timed(test::gemm_calls(), kTruth, h100());
  const KernelFit fit = fit_kernel(points, h100());
  CHECK(fit.family == KernelFamily::gemm);
  CHECK(fit.variant == "bf16");
  CHECK(fit.points == 84);
  REQUIRE(fit.range.size() == 3);
  CHECK(fit.range[0].low == 1);
  CHECK(fit.range[0].high == 16384);
  CHECK(fit.range[2].low == 128);
  CHECK(fit.range[2].high == 8192);
  CHECK(fit.regions.empty());
  for (const MeasuredKernel& point : points) {
    CHECK(predicted_seconds(fit, point.call, h100()) == Approx(point.seconds).epsilon(0.02));
  }
}

TEST_CASE("a fit learns what a roofline cannot say: half the speed above 512 rows") {
  std::vector<KernelCall> calls;
  for (const double m : {64, 128, 256, 512, 1024, 2048, 4096}) {
    for (double n = 1024; n <= 16384; n += 1024) {
      calls.push_back(test::gemm_call(m, n, 4096));
    }
  }
  Points points = test::timed(calls, kTruth, h100());
  for (MeasuredKernel& point : points) {
    point.seconds *= point.call.axes[0] > 512 ? 2 : 1;
  }
  const KernelFit fit = fit_kernel(points, h100());
  double error = 0;
  for (const MeasuredKernel& point : points) {
    const double one = std::abs(predicted_seconds(fit, point.call, h100()) / point.seconds - 1);
    CHECK(one < 0.15);  // some share a leaf of the few that trees may have with points of other speed
    error += one / static_cast<double>(points.size());
  }
  CHECK(error < 0.01);
}

TEST_CASE("collectives have a curve a number of GPUs, within 2 % of every point") {
  Points points;
  for (const double gpus : {8, 2}) {
    for (double bytes = 1024; bytes <= 1e9; bytes *= 2) {
      points.push_back(
          measured(test::collective_call(gpus, bytes), (bytes < 1e5 ? 1e-5 : 1.5e-5) + gpus * bytes * 1e-12));
    }
  }
  std::reverse(points.begin(), points.end());  // curves ascend, whatever the order of the points
  const KernelFit fit = fit_kernel(points, h100());
  REQUIRE(fit.curves.size() == 2);
  CHECK(fit.curves[0].gpus == 2);
  CHECK(fit.curves[1].gpus == 8);
  for (const SizeCurve& curve : fit.curves) {
    CHECK(std::is_sorted(curve.bytes.begin(), curve.bytes.end()));
    CHECK(curve.bytes.front() == 1024);
    CHECK(curve.bytes.back() == 536'870'912);
    CHECK(curve.bytes.size() < points.size() / 2);
    CHECK(curve.bytes.size() == curve.log_ratio.size());
  }
  CHECK(fit.trees.tree_count() == 0);
  for (const MeasuredKernel& point : points) {
    CHECK(std::abs(std::log(predicted_seconds(fit, point.call, h100()) / point.seconds)) <= 0.02 + 1e-12);
  }
}

TEST_CASE("a curve keeps the knots it bends at, and no others") {
  // A ratio that falls from 64 KiB on: straight on both sides in log(bytes), whatever the constants below it.
  Points points;
  const double bend = 65'536;
  for (double bytes = 1024; bytes <= bend * 64; bytes *= 2) {
    const KernelCall call = test::collective_call(2, bytes);
    points.push_back(measured(call, 1e-5 * std::pow(std::max(bytes, bend) / bend, 0.5)));
  }
  const KernelFit fit = fit_kernel(points, h100());
  REQUIRE(fit.curves.size() == 1);
  CHECK(std::count(fit.curves[0].bytes.begin(), fit.curves[0].bytes.end(), bend) == 1);
  for (const MeasuredKernel& point : points) {
    CHECK(std::abs(std::log(predicted_seconds(fit, point.call, h100()) / point.seconds)) <= 0.02 + 1e-12);
  }
}

TEST_CASE("one size, or two, of a collective make a curve") {
  for (const std::vector<double>& sizes : {std::vector{4096.0}, std::vector{4096.0, 8192.0}}) {
    Points points;
    for (const double bytes : sizes) {
      points.push_back(measured(test::collective_call(2, bytes), 1e-5));
    }
    CHECK(fit_kernel(points, h100()).curves.at(0).bytes == sizes);
  }
}

TEST_CASE("what was corrected for the cache does not teach the fit of the rest") {
  const Points cold_and_warm = prepared(warm_and_cold(), h100());
  Points cold;
  std::copy_if(cold_and_warm.begin(), cold_and_warm.end(), std::back_inserter(cold),
               [](const MeasuredKernel& point) { return !fits_in_l2(point.call, h100()); });
  const KernelFit both = fit_kernel(cold_and_warm, h100()), alone = fit_kernel(cold, h100());
  CHECK(both.trees.codes() == alone.trees.codes());
  CHECK(both.trees_in_l2.tree_count() > 0);
  CHECK(alone.trees_in_l2.tree_count() == 0);
}

/// Points of many shapes, each with a factor of its own that only its points can teach.
Points shapes_with_secrets() {
  testing::Dice dice(3, "secrets");
  Points points;
  for (int shape = 0; shape < 20; ++shape) {
    const double n = 128.0 * static_cast<double>(dice.between(1, 100));
    const double k = 128.0 * static_cast<double>(dice.between(1, 100));
    const double secret = static_cast<double>(dice.between(100, 400)) / 100;
    for (const double m : {1, 8, 32, 64, 256}) {
      const KernelCall call = test::gemm_call(m, n, k);
      points.push_back(measured(call, secret * roofline_parts(call, kTruth, h100()).total_s()));
    }
  }
  return prepared(points, h100());
}

double mean_error_of(const std::vector<HeldOut>& held_out) {
  double sum = 0;
  for (const HeldOut& one : held_out) {
    sum += std::abs(one.predicted_s / one.point->seconds - 1);
  }
  return sum / static_cast<double>(held_out.size());
}

TEST_CASE("held out by shape, no point of a shape is known, held out by point, others of it are") {
  const Points points = shapes_with_secrets();
  const double by_shape = mean_error_of(cross_validate(points, h100(), SplitBy::shape, 3));
  const double by_point = mean_error_of(cross_validate(points, h100(), SplitBy::point, 3));
  // A factor of 1 to 4 that nothing tells of cannot be guessed within a fifth on average; known ones are.
  CHECK(by_shape > 0.2);
  CHECK(by_point < 0.1);
}

TEST_CASE("every point is held out once, whatever the number of folds") {
  const Points points = shapes_with_secrets();
  for (const SplitBy split : {SplitBy::shape, SplitBy::point}) {
    for (const int folds : {2, 3}) {
      std::set<const MeasuredKernel*> seen;
      for (const HeldOut& one : cross_validate(points, h100(), split, folds)) {
        seen.insert(one.point);
        CHECK(one.predicted_s > 0);
      }
      CHECK(seen.size() == points.size());
    }
  }
}

/// Shapes by the axes of the key, for families whose shape is not that of a GEMM: predictions change when
/// other points of a shape do, unless they are held out with it.
void check_held_out_together(const Points& points, const std::vector<std::size_t>& shape_axes,
                             SplitBy split = SplitBy::shape) {
  const auto shape_of = [&](const KernelCall& call) {
    std::vector<double> shape;
    for (const std::size_t axis : shape_axes) {
      shape.push_back(call.axes[axis]);
    }
    return shape;
  };
  // All points of the first shape ten times slower: nobody who predicts them may notice.
  Points changed = points;
  for (MeasuredKernel& point : changed) {
    point.seconds *= shape_of(point.call) == shape_of(points[0].call) ? 10 : 1;
  }
  const std::vector<HeldOut> before = cross_validate(points, h100(), split, 4);
  const std::vector<HeldOut> after = cross_validate(changed, h100(), split, 4);
  REQUIRE(before.size() == after.size());
  std::int64_t of_the_shape = 0, others_that_noticed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    REQUIRE(before[i].point->call == after[i].point->call);
    if (shape_of(before[i].point->call) == shape_of(points[0].call)) {
      ++of_the_shape;
      CHECK(before[i].predicted_s == after[i].predicted_s);
    } else {
      others_that_noticed += before[i].predicted_s != after[i].predicted_s ? 1 : 0;
    }
  }
  CHECK(of_the_shape > 0);
  CHECK(others_that_noticed > 0);
}

TEST_CASE("shapes of a family are held out whole") {
  const auto of = [](const std::vector<KernelCall>& calls) { return test::timed(calls, kTruth, h100()); };
  std::vector<KernelCall> prefills, decodes, experts, split_experts, norms;
  for (const double heads : {4, 8, 16, 32, 64}) {
    for (const double kv_heads : {1, 4}) {
      for (const double size : {1, 2, 4, 8, 16, 32}) {
        prefills.push_back(test::prefill_call(size, 128 * size, 0, heads, kv_heads));
        // 2 x 2 B x 128 a token and KV head, 64 sequences and more of 4,096 tokens: beyond any cache.
        decodes.push_back(test::decode_call(64 * size, 4096, heads, kv_heads));
        experts.push_back(
            call_of(KernelFamily::moe, "bf16", {size, 256 * heads, 1024, 8, kv_heads, 1, 1, 0}));
        split_experts.push_back(
            call_of(KernelFamily::moe, "bf16", {size, 256 * heads, 1024, 8, 2, kv_heads, 4 / kv_heads, 0}));
        norms.push_back(call_of(KernelFamily::elementwise, "norm", {64 * heads, 512 * size}));
      }
    }
  }
  check_held_out_together(of(prefills), {3, 4});
  check_held_out_together(of(decodes), {2, 3});
  check_held_out_together(of(experts), {1, 2, 3, 4, 5, 6});
  check_held_out_together(of(split_experts), {1, 2, 3, 4, 5, 6});
  check_held_out_together(of(split_experts), {1, 2, 3, 4}, SplitBy::model);
  check_held_out_together(of(prefills), {3, 4}, SplitBy::model);
  check_held_out_together(prepared(of(norms), h100()), {0});
  check_held_out_together(of(test::gemm_calls()), {1, 2});
}

TEST_CASE("decode attention within the cache is not predicted by a cross-validation") {
  const Points points = prepared(test::timed(test::decode_calls(), kTruth, h100()), h100());
  const std::vector<HeldOut> held_out = cross_validate(points, h100(), SplitBy::point, 3);
  CHECK_FALSE(held_out.empty());
  CHECK(held_out.size() < points.size());
  for (const HeldOut& one : held_out) {
    CHECK_FALSE(fits_in_l2(one.point->call, h100()));
  }
}

TEST_CASE("one shape alone has a fit, and no error on unseen shapes") {
  const Points points =
      test::timed({test::gemm_call(1, 512, 512), test::gemm_call(64, 512, 512)}, kTruth, h100());
  const KernelFit fit = fit_with_errors(points, h100(), 5);
  CHECK(fit.points == 2);
  CHECK(fit.regions.empty());
}

TEST_CASE("errors of a fit are those of its cross-validation by shape, region by region") {
  const Points points = shapes_with_secrets();
  const KernelFit fit = fit_with_errors(points, h100(), 3);
  std::map<std::string, std::vector<TimePair>> pairs;
  for (const HeldOut& one : cross_validate(points, h100(), SplitBy::shape, 3)) {
    pairs[std::string(region_of(one.point->call, h100()))].push_back({one.predicted_s, one.point->seconds});
  }
  REQUIRE(fit.regions.size() == 2);
  for (const RegionError& region : fit.regions) {
    const RegionError expected = region_error(region.region, pairs.at(region.region));
    CHECK(region.points == expected.points);
    CHECK(region.median == expected.median);
    CHECK(region.log_ratio == expected.log_ratio);
  }
}

}  // namespace
}  // namespace inferometer
