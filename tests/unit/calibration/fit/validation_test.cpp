// Rows of a validation worked by hand: a profile of a known roofline against times a known factor off.

#include "calibration/fit/validation.hpp"

#include <cmath>
#include <numeric>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/calibration/fit/synthetic_kernels.hpp"

namespace inferometer {
namespace {

using test::measured;
using test::Points;

constexpr RooflineConstants kRoofline{
    .start_up_s = 6e-6, .compute_efficiency = 0.6, .bandwidth_efficiency = 0.8};

const GpuSpec& h100() {
  static const GpuSpec gpu = load_gpu("h100-sxm");
  return gpu;
}

/// Intervals of a region: log(measured / predicted) from -width at 5 % to width at 95 %.
RegionError interval(const std::string& region, double width) {
  RegionError error;
  error.region = region;
  error.points = 21;
  for (std::size_t i = 0; i < RegionError::kQuantiles; ++i) {
    error.log_ratio[i] = width / 9 * (static_cast<double>(i) - 10);
  }
  return error;
}

KernelFit fit_of(KernelFamily family, const std::string& variant, std::vector<RegionError> regions = {}) {
  KernelFit fit;
  fit.family = family;
  fit.variant = variant;
  fit.roofline = kRoofline;
  fit.regions = std::move(regions);
  fit.points = 21;
  return fit;
}

/// vLLM's GEMMs on the H100, for m to 1,000 and n and k to 10,000.
KernelProfile gemm_profile() {
  KernelProfile profile{
      .gpu = "h100-sxm",
      .library = "vllm",
      .date = "2026-11-30",
      .sources = {{"vllm 0.24.0", "who/what", ""}, {"nccl 2.29.2", "who/what", ""}},
      .fits = {fit_of(KernelFamily::gemm, "bf16", {interval("m to 64", 0.1), interval("m 65 to 512", 0.5)})}};
  profile.fits[0].range = {{1, 1000}, {1, 10'000}, {1, 10'000}};
  return profile;
}

/// A point whose predicted time is `ratio` of the measured one.
MeasuredKernel off_by(const KernelCall& call, double ratio, const std::string& file = "", int line = 0) {
  MeasuredKernel point = measured(call, roofline_parts(call, kRoofline, h100()).total_s() / ratio);
  point.where = {file, line};
  return point;
}

Measurements set_of(Points points, const std::string& library = "vllm", const std::string& gpu = "h100-sxm") {
  Measurements set;
  set.header.gpu = gpu;
  set.header.library = library;
  set.points = std::move(points);
  return set;
}

const ValidationRow& row_of(const Validation& validation, KernelFamily family, const std::string& region) {
  for (const ValidationRow& row : validation.rows) {
    if (row.family == family && row.error.region == region) {
      return row;
    }
  }
  throw std::runtime_error("no row " + region);
}

/// Four of m to 64, two of m 65 to 512; the last lies outside the fitted range.
Measurements six_gemms() {
  return set_of({off_by(test::gemm_call(1, 512, 512), 1.05), off_by(test::gemm_call(2, 512, 512), 0.97),
                 off_by(test::gemm_call(4, 512, 512), 1.25, "x.csv", 7),
                 off_by(test::gemm_call(8, 512, 512), 1), off_by(test::gemm_call(512, 512, 512), 0.8),
                 off_by(test::gemm_call(512, 512, 20'000), 1.25)});
}

TEST_CASE("rows: the sum of a family and variant, then its regions by name") {
  const Validation validation = validate(gemm_profile(), {six_gemms()});
  REQUIRE(validation.rows.size() == 3);
  CHECK(validation.rows[0].error.region == "all");
  CHECK(validation.rows[1].error.region == "m 65 to 512");
  CHECK(validation.rows[2].error.region == "m to 64");
  CHECK(validation.rows[0].error.points == 6);
  CHECK(validation.rows[1].error.points == 2);
  CHECK(validation.rows[2].error.points == 4);
  CHECK(validation.notes.empty());
  for (const ValidationRow& row : validation.rows) {
    CHECK(row.family == KernelFamily::gemm);
    CHECK(row.variant == "bf16");
  }
  // +5, -3, +25, 0, -20 and +25 %.
  CHECK(validation.rows[0].error.bias == Approx(0.32 / 6));
  CHECK(validation.rows[0].error.mean == Approx(0.78 / 6));
  CHECK(validation.rows[0].error.median == Approx((0.05 + 0.20) / 2));
}

TEST_CASE("the worst point is the farthest by factor, above or below, and says where it is from") {
  const ValidationRow row = row_of(validate(gemm_profile(), {six_gemms()}), KernelFamily::gemm, "m to 64");
  CHECK(row.worst == test::gemm_call(4, 512, 512));
  CHECK(row.worst_error == Approx(0.25));
  CHECK(to_string(row.worst_where) == "x.csv:7");
  // Half is farther off than 1.9 times.
  const Measurements pair =
      set_of({off_by(test::gemm_call(1, 512, 512), 0.5), off_by(test::gemm_call(2, 512, 512), 1.9)});
  CHECK(row_of(validate(gemm_profile(), {pair}), KernelFamily::gemm, "all").worst_error == Approx(-0.5));
}

TEST_CASE("points outside the fitted range are counted") {
  const Validation validation = validate(gemm_profile(), {six_gemms()});
  CHECK(row_of(validation, KernelFamily::gemm, "all").extrapolated == 1);
  CHECK(row_of(validation, KernelFamily::gemm, "m to 64").extrapolated == 0);
}

TEST_CASE("the chart counts points by predicted / measured - 1") {
  Points points;
  // Just within each of the eleven columns: below -30 %, ..., -2 to 2 %, ..., above 30 %.
  for (const double ratio : {0.69, 0.71, 0.81, 0.91, 0.951, 1.0, 1.03, 1.06, 1.12, 1.22, 1.4}) {
    for (std::size_t i = 0; i <= points.size() / 2; ++i) {
      points.push_back(off_by(test::gemm_call(1 + static_cast<double>(points.size()), 512, 512), ratio));
    }
  }
  const ValidationRow row = row_of(validate(gemm_profile(), {set_of(points)}), KernelFamily::gemm, "all");
  REQUIRE(row.chart.size() == 11);
  // As many as were put in: 1 at first, then half of what is there and one more.
  std::int64_t before = 0;
  for (std::size_t i = 0; i < row.chart.size(); ++i) {
    std::int64_t expected = 0;
    for (std::int64_t put = before; expected <= put / 2; ++put) {
      ++expected;
    }
    CHECK(row.chart[i] == expected);
    before += row.chart[i];
  }
  CHECK(before == row.error.points);
}

TEST_CASE("covered: measured times within the interval of their own region") {
  const Validation validation = validate(gemm_profile(), {six_gemms()});
  // m to 64 allows e^-0.1 to e^0.1 of the prediction: 1 / 1.25 is e^-0.22. m 65 to 512 allows e^-0.5 to
  // e^0.5.
  CHECK(row_of(validation, KernelFamily::gemm, "m to 64").covered_90 == Approx(3.0 / 4));
  CHECK(row_of(validation, KernelFamily::gemm, "m 65 to 512").covered_90 == Approx(1));
  CHECK(row_of(validation, KernelFamily::gemm, "all").covered_90 == Approx(5.0 / 6));
}

TEST_CASE("covered: nothing is, where a profile gives no interval") {
  KernelProfile profile = gemm_profile();
  profile.fits[0].regions.clear();
  CHECK(row_of(validate(profile, {six_gemms()}), KernelFamily::gemm, "all").covered_90 == 0);
}

TEST_CASE("decode attention within the cache has a row of its own and is not in the sum") {
  KernelProfile profile = gemm_profile();
  profile.fits = {fit_of(KernelFamily::decode_attention, "bf16", {interval("KV beyond L2", 0.1)})};
  // 512 bytes a token: 100,000 tokens are beyond 50 MB, 1,000 within.
  const MeasuredKernel beyond = off_by(test::decode_call(1, 100'000, 1, 1), 1.02);
  const MeasuredKernel within = off_by(test::decode_call(1, 1'000, 1, 1), 2);
  const Validation both = validate(profile, {set_of({beyond, within})});
  REQUIRE(both.rows.size() == 3);
  CHECK(both.rows[0].error.region == "all");
  CHECK(both.rows[0].error.points == 1);
  CHECK(both.rows[0].error.mean == Approx(0.02));
  CHECK(row_of(both, KernelFamily::decode_attention, "KV within L2").error.mean == Approx(1));
  const Validation cached = validate(profile, {set_of({within})});
  REQUIRE(cached.rows.size() == 1);
  CHECK(cached.rows[0].error.region == "KV within L2");
}

TEST_CASE("families without regions have one row") {
  KernelProfile profile = gemm_profile();
  profile.fits = {fit_of(KernelFamily::elementwise, "norm")};
  const Validation validation = validate(
      profile, {set_of({off_by(test::call_of(KernelFamily::elementwise, "norm", {64, 4096}), 1.1)})});
  REQUIRE(validation.rows.size() == 1);
  CHECK(validation.rows[0].error.region == "all");
}

TEST_CASE("of other GPUs nothing is compared, a note says how much was left out") {
  const Validation validation = validate(
      gemm_profile(), {six_gemms(), set_of({off_by(test::gemm_call(1, 512, 512), 3)}, "vllm", "h200-sxm")});
  CHECK(row_of(validation, KernelFamily::gemm, "all").error.points == 6);
  REQUIRE(validation.notes.size() == 1);
  check_says(validation.notes[0], {"1 points of h200-sxm", "left out", "h100-sxm"});
}

TEST_CASE("kernels of another library are compared only where there are none of the profile's own") {
  const Measurements other = set_of({off_by(test::gemm_call(1, 512, 512), 3)}, "tensorrt-llm");
  const Validation both = validate(gemm_profile(), {six_gemms(), other});
  CHECK(row_of(both, KernelFamily::gemm, "all").error.points == 6);
  REQUIRE(both.notes.size() == 1);
  check_says(both.notes[0], {"1 points are of tensorrt-llm", "vllm", "left out"});
  const Validation alone = validate(gemm_profile(), {other});
  CHECK(row_of(alone, KernelFamily::gemm, "all").error.points == 1);
  CHECK(row_of(alone, KernelFamily::gemm, "all").error.mean == Approx(2));
  REQUIRE(alone.notes.size() == 1);
  CHECK(alone.notes[0].find("left out") == std::string::npos);
}

TEST_CASE("kernels that a profile borrowed are compared, but none that its own library has") {
  KernelProfile profile = gemm_profile();
  profile.fits.push_back(fit_of(KernelFamily::collective, "all_gather", {interval("to 64 KiB", 0.1)}));
  profile.fits.back().curves = {{2, {1024}, {0}}};
  // The lender has measured GEMMs, too: of its own, and not what this profile is about.
  const Measurements lender = set_of(
      {off_by(test::collective_call(2, 4096, "all_gather"), 1.1), off_by(test::gemm_call(1, 512, 512), 3)},
      "nccl");
  const Validation validation = validate(profile, {six_gemms(), lender});
  CHECK(row_of(validation, KernelFamily::collective, "all").error.points == 1);
  CHECK(row_of(validation, KernelFamily::gemm, "all").error.points == 6);
  REQUIRE(validation.notes.size() == 1);
  check_says(validation.notes[0], {"1 points of gemm bf16", "nccl", "left out"});
}

TEST_CASE("kernels that a profile does not know are left out with a note") {
  Measurements set = six_gemms();
  set.points.push_back(off_by(test::gemm_call(1, 512, 512, "fp8"), 1));
  const Validation validation = validate(gemm_profile(), {set});
  CHECK(row_of(validation, KernelFamily::gemm, "all").error.points == 6);
  REQUIRE(validation.notes.size() == 1);
  check_says(validation.notes[0], {"1 points of gemm fp8", "no fit"});
}

TEST_CASE("nothing to compare is a mistake that says what there was") {
  const auto complaint = [](const std::vector<Measurements>& measured) {
    try {
      validate(gemm_profile(), measured);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  check_says(complaint({}), {"nothing to compare", "vllm on h100-sxm"});
  check_says(complaint({set_of({off_by(test::gemm_call(1, 512, 512), 1)}, "vllm", "h200-sxm")}),
             {"nothing to compare", "1 points of h200-sxm"});
  check_says(complaint({set_of({off_by(test::gemm_call(1, 512, 512, "int8"), 1)})}), {"gemm int8", "no fit"});
}

TEST_CASE("held out: refitted to the measurements, whatever the profile says of them") {
  // A profile ten times too fast; times that a roofline explains.
  KernelProfile profile = gemm_profile();
  profile.fits[0].roofline.start_up_s = 0.6e-6;
  const Measurements set = set_of(test::timed(test::gemm_calls(), kRoofline, h100()));
  CHECK(row_of(validate(profile, {set}), KernelFamily::gemm, "m to 64").error.median > 0.5);
  for (const SplitBy split : {SplitBy::shape, SplitBy::point}) {
    const Validation refitted = validate_held_out(profile, {set}, split, 4);
    const ValidationRow& all = row_of(refitted, KernelFamily::gemm, "all");
    CHECK(all.error.points == 84);
    CHECK(all.error.median < 0.03);
  }
}

TEST_CASE("held out: duplicates count once") {
  Points points = test::timed(test::gemm_calls(), kRoofline, h100());
  const Points copy = points;
  points.insert(points.end(), copy.begin(), copy.end());
  const Validation validation = validate_held_out(gemm_profile(), {set_of(points)}, SplitBy::shape, 3);
  CHECK(row_of(validation, KernelFamily::gemm, "all").error.points == 84);
}

TEST_CASE("as JSON: a list of rows with the same names and figures") {
  const Validation validation = validate(gemm_profile(), {six_gemms()});
  const nlohmann::json list = nlohmann::json::parse(validation_json(validation));
  REQUIRE(list.size() == 3);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const RegionError& error = validation.rows[i].error;
    CHECK(list[i].size() == 9);
    CHECK(list[i]["family"] == "gemm");
    CHECK(list[i]["dtype"] == "bf16");
    CHECK(list[i]["region"] == error.region);
    CHECK(list[i]["n"] == error.points);
    CHECK(list[i]["bias"] == error.bias);
    CHECK(list[i]["median"] == error.median);
    CHECK(list[i]["mean"] == error.mean);
    CHECK(list[i]["p90"] == error.p90);
    CHECK(list[i]["covered_90"] == validation.rows[i].covered_90);
  }
}

}  // namespace
}  // namespace inferometer
