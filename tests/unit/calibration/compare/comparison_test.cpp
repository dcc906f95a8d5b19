// Comparisons worked by hand: profiles of a known roofline, and measurements with known ratios.

#include "calibration/compare/comparison.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "calibration/compare/representative_calls.hpp"
#include "costmodel/kernels/kernel_work.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/costmodel/kernels/kernel_calls.hpp"

namespace inferometer {
namespace {

using test::collective_call;
using test::decode_call;
using test::gemm_call;

const GpuSpec& h100() {
  static const GpuSpec gpu = load_gpu("h100-sxm");
  return gpu;
}

/// No start-up: a share of the datasheet's roofs, everywhere.
KernelProfile profile_at(double efficiency, double most_rows, const std::string& library = "vllm") {
  KernelFit fit;
  fit.family = KernelFamily::gemm;
  fit.variant = "bf16";
  fit.roofline = {.compute_efficiency = efficiency, .bandwidth_efficiency = efficiency};
  fit.range = {{1, most_rows}, {1, 65'536}, {1, 65'536}};
  return {.gpu = "h100-sxm", .library = library, .date = "2026-11-30", .sources = {}, .fits = {fit}};
}

struct Point {
  KernelCall call;
  double seconds;
};

Measurements set_of(const std::vector<Point>& points, const std::string& gpu = "h100-sxm",
                    const std::string& version = "1.0") {
  Measurements set;
  set.header.gpu = gpu;
  set.header.library = "vllm";
  set.header.library_version = version;
  for (const Point& point : points) {
    MeasuredKernel measured;
    measured.call = point.call;
    measured.seconds = point.seconds;
    set.points.push_back(measured);
  }
  return set;
}

KernelTimes times_of(const std::string& name, const std::vector<Point>& points) {
  return {name, std::vector{set_of(points)}};
}

const ComparisonRow& row(const Comparison& comparison, const std::string& region,
                         const std::string& variant = "bf16") {
  const auto found =
      std::find_if(comparison.rows.begin(), comparison.rows.end(),
                   [&](const ComparisonRow& one) { return one.region == region && one.variant == variant; });
  REQUIRE(found != comparison.rows.end());
  return *found;
}

std::string complaint_of(const std::function<void()>& doing) {
  try {
    doing();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("two profiles: half the efficiency takes twice as long") {
  const KernelTimes a("one", profile_at(0.5, 1e6)), b("other", profile_at(0.25, 1e6, "tensorrt-llm"));
  const Comparison comparison = compare(a, b);
  REQUIRE(comparison.rows.size() == 4);
  CHECK(comparison.notes.empty());
  for (const ComparisonRow& one : comparison.rows) {
    CAPTURE(one.region);
    CHECK(one.ratio_median == Approx(2));
    CHECK(one.ratio_p10 == Approx(2));
    CHECK(one.ratio_p90 == Approx(2));
    CHECK(one.farthest_b_seconds == Approx(2 * one.farthest_a_seconds));
  }
  // Few rows are bound by bandwidth, many by compute: rates are those shares of the datasheet.
  const ComparisonRow& few = row(comparison, "m to 64");
  CHECK(few.unit == RateUnit::gigabytes);
  CHECK(few.a_rate == Approx(0.5 * h100().hbm_bandwidth.count() / 1e9));
  CHECK(few.b_rate == Approx(0.25 * h100().hbm_bandwidth.count() / 1e9));
  const ComparisonRow& many = row(comparison, "m above 512");
  CHECK(many.unit == RateUnit::teraflops);
  CHECK(many.a_rate == Approx(0.5 * h100().bf16_peak.count() / 1e12));
  CHECK(many.b_rate == Approx(0.25 * h100().bf16_peak.count() / 1e12));
  // Eight layers; m = 1 to 64, 128 to 512, 1,024 to 16,384.
  CHECK(few.calls == 8 * 7);
  CHECK(row(comparison, "m 65 to 512").calls == 8 * 3);
  CHECK(many.calls == 8 * 5);
  CHECK(row(comparison, "all").calls == 8 * 15);
}

TEST_CASE("profiles are compared no farther than both were fitted") {
  const KernelTimes narrow("narrow", profile_at(0.5, 64)), wide("wide", profile_at(0.25, 512));
  const Comparison comparison = compare(narrow, wide);
  REQUIRE(comparison.rows.size() == 2);
  CHECK(comparison.rows[1].region == "m to 64");
  CHECK(comparison.notes ==
        std::vector<std::string>{"gemm bf16: 24 of 120 calls beyond the range of A's profile",
                                 "gemm bf16: 40 of 120 calls beyond the range of both profiles"});
  CHECK(compare(wide, narrow).notes.front() == "gemm bf16: 24 of 120 calls beyond the range of B's profile");
}

// Ratios 1.0, 1.1, ... 2.0 of eleven calls: the k-th is the (k / 10)-quantile.
TEST_CASE("two sets of measurements: over the calls of both") {
  std::vector<Point> a, b;
  for (int i = 0; i <= 10; ++i) {
    a.push_back({gemm_call(1 + i, 4096, 4096), 10e-6});
    b.push_back({gemm_call(1 + i, 4096, 4096), (10 + i) * 1e-6});
  }
  a.push_back({gemm_call(50, 4096, 4096), 1e-6});  // of A alone
  b.push_back({gemm_call(51, 4096, 4096), 1e-6});  // of B alone
  b.push_back({gemm_call(52, 4096, 4096), 1e-6});
  b.push_back({gemm_call(16, 4096, 4096, "fp8"), 1e-6});
  const Comparison comparison = compare(times_of("a", a), times_of("b", b));
  REQUIRE(comparison.rows.size() == 2);
  const ComparisonRow& all = comparison.rows.front();
  CHECK(all.region == "all");
  CHECK(all.calls == 11);
  CHECK(all.ratio_median == Approx(1.5));
  CHECK(all.ratio_p10 == Approx(1.1));
  CHECK(all.ratio_p90 == Approx(1.9));
  CHECK(all.farthest == gemm_call(11, 4096, 4096));
  CHECK(all.farthest_a_seconds == 10e-6);
  CHECK(all.farthest_b_seconds == Approx(20e-6));
  // The median of A is the sixth call, m = 6: 2 (4096 x 4096 + 2 x 6 x 4096) bytes in 10 us.
  CHECK(all.a_rate == Approx(2 * (4096.0 * 4096 + 2 * 6 * 4096) / 10e-6 / 1e9));
  CHECK(comparison.notes == std::vector<std::string>{"gemm bf16: 2 of 14 calls not measured by A",
                                                     "gemm bf16: 1 of 14 calls not measured by B",
                                                     "gemm fp8: only B has it"});
}

TEST_CASE("a call that is faster differs as much as one that is slower") {
  const Comparison comparison =
      compare(times_of("a", {{gemm_call(1, 64, 64), 10e-6}, {gemm_call(2, 64, 64), 10e-6}}),
              times_of("b", {{gemm_call(1, 64, 64), 2e-6}, {gemm_call(2, 64, 64), 40e-6}}));
  CHECK(row(comparison, "all").farthest == gemm_call(1, 64, 64));  // a fifth is farther than four times
}

TEST_CASE("a call that was measured several times takes its median") {
  const Comparison comparison = compare(
      times_of("a",
               {{gemm_call(1, 64, 64), 9e-6}, {gemm_call(1, 64, 64), 1e-6}, {gemm_call(1, 64, 64), 2e-6}}),
      times_of("b", {{gemm_call(1, 64, 64), 6e-6}}));
  CHECK(row(comparison, "all").calls == 1);
  CHECK(row(comparison, "all").ratio_median == Approx(3));
}

TEST_CASE("a profile predicts what was measured") {
  const KernelCall small = gemm_call(16, 4096, 4096), large = gemm_call(4096, 4096, 4096);
  // Half the roofs, and measurements at all of them: the profile takes twice as long.
  const KernelTimes profile("p", profile_at(0.5, 1024));
  const KernelTimes measured =
      times_of("m", {{small, datasheet_seconds(kernel_work(small), h100())}, {large, 1e-3}});
  const Comparison forth = compare(profile, measured), back = compare(measured, profile);
  CHECK(row(forth, "all").calls == 1);
  CHECK(row(forth, "all").ratio_median == Approx(0.5));
  CHECK(row(back, "all").ratio_median == Approx(2));
  CHECK(forth.notes == std::vector<std::string>{"gemm bf16: 1 of 2 calls beyond the range of A's profile"});
  CHECK(back.notes == std::vector<std::string>{"gemm bf16: 1 of 2 calls beyond the range of B's profile"});
}

// 2 x 2 bytes x 8 heads x 128 of a token: 4 KiB. The H100's 50 MB hold 12,207 of them.
TEST_CASE("decode attention within L2 has its own row and no part in all") {
  REQUIRE(h100().l2_cache.count() / 4096 == 12'207);
  const KernelCall within = decode_call(1, 12'207, 32, 8), beyond = decode_call(1, 12'208, 32, 8);
  const Comparison comparison = compare(times_of("a", {{within, 1e-5}, {beyond, 1e-5}}),
                                        times_of("b", {{within, 3e-5}, {beyond, 2e-5}}));
  REQUIRE(comparison.rows.size() == 3);
  CHECK(row(comparison, "all").ratio_median == Approx(2));
  CHECK(row(comparison, "KV beyond L2").ratio_median == Approx(2));
  CHECK(row(comparison, "KV within L2").ratio_median == Approx(3));
}

// An all-reduce sends 2 (g - 1) / g of its bytes from each GPU.
TEST_CASE("collectives are rated by what a GPU sends and host work not at all") {
  const KernelCall host = test::call_of(KernelFamily::host, "schedule", {8, 1});
  const std::vector<Point> points = {{collective_call(4, 1e6), 10e-6}, {host, 1e-3}};
  const Comparison comparison = compare(times_of("a", points), times_of("b", points));
  const ComparisonRow& reduce = row(comparison, "all", "all_reduce");
  CHECK(reduce.unit == RateUnit::gigabytes);
  CHECK(reduce.a_rate == Approx(1.5e6 / 10e-6 / 1e9));
  CHECK(row(comparison, "all", "schedule").unit == RateUnit::none);
}

TEST_CASE("what cannot be compared is refused") {
  const Point point{gemm_call(1, 64, 64), 1e-6};
  const KernelTimes a = times_of("a", {point});
  check_says(complaint_of([&] {
               compare(a, times_of("b", {{gemm_call(2, 64, 64), 1e-6}}));
             }),
             {"nothing to compare: no call is known to both a and b", "1 of 2 calls not measured by A",
              "1 of 2 calls not measured by B"});
  check_says(complaint_of([&] {
               KernelTimes("dir", std::vector{set_of({point}), set_of({point}, "h200-sxm")});
             }),
             {"dir: holds measurements of several GPUs, h100-sxm and h200-sxm; name files of one"});
  check_says(complaint_of([&] {
               KernelTimes("dir", std::vector{set_of({point}), set_of({point}, "h100-sxm", "2.0")});
             }),
             {"dir: holds gemm bf16 of several libraries, vllm 1.0 and vllm 2.0; name files of one"});
  check_says(complaint_of([] { KernelTimes("dir", std::vector{set_of({})}); }),
             {"dir: holds no measured point to compare"});
}

TEST_CASE("several libraries are fine where each measured kinds of its own") {
  const Point gemm{gemm_call(1, 64, 64), 1e-6}, reduce{collective_call(2, 1e6), 1e-5};
  const KernelTimes both("dir", std::vector{set_of({gemm}), set_of({reduce}, "h100-sxm", "2.0")});
  CHECK(both.description() == "vllm 1.0 and vllm 2.0 measured on h100-sxm");
  CHECK(compare(both, both).rows.size() == 4);
}

TEST_CASE("representative calls: none twice and all of the kind and of sizes from 1 on") {
  for (const KernelFamilyInfo& family : kernel_families()) {
    CAPTURE(family.name);
    const std::string variant(family.variants.front());
    const std::vector<KernelCall> calls = representative_calls(family.family, variant);
    CHECK(calls.size() >= 20);
    std::set<std::string> texts;
    for (const KernelCall& call : calls) {
      CHECK(call.family == family.family);
      CHECK(call.variant == variant);
      CHECK(call.axes[0] >= 1);
      texts.insert(to_string(call));
    }
    CHECK(texts.size() == calls.size());
  }
}

TEST_CASE("shipped profiles know representative calls of all that they share") {
  const auto side = [](const std::string& gpu) {
    return KernelTimes(gpu, *shipped_kernel_profile(gpu, "vllm"));
  };
  const KernelTimes a = side("a100-80gb-sxm"), h = side("h100-sxm");
  const Comparison comparison = compare(a, h);
  const auto of_h = h.kinds();
  for (const KernelKind& kind : a.kinds()) {
    if (std::find(of_h.begin(), of_h.end(), kind) == of_h.end()) {
      continue;  // latent attention of vLLM was measured on the A100 alone
    }
    CAPTURE(kind.second);
    CHECK(std::any_of(comparison.rows.begin(), comparison.rows.end(), [&](const ComparisonRow& one) {
      return one.family == kind.first && one.variant == kind.second && one.calls >= 20;
    }));
  }
}

TEST_CASE("the comparison as JSON") {
  const KernelTimes a = times_of("a", {{gemm_call(1, 64, 64), 1e-6}}),
                    b = times_of("b", {{gemm_call(1, 64, 64), 2e-6}});
  const auto json = nlohmann::json::parse(comparison_json(a, b, compare(a, b)));
  CHECK(json["a"]["description"] == "vllm 1.0 measured on h100-sxm");
  CHECK(json["b"]["name"] == "b");
  REQUIRE(json["rows"].size() == 2);
  const auto& all = json["rows"][0];
  CHECK(all["family"] == "gemm");
  CHECK(all["dtype"] == "bf16");
  CHECK(all["n"] == 1);
  CHECK(all["rate_unit"] == "GB/s");
  CHECK(all["ratio_median"] == 2);
  CHECK(all["farthest"]["call"] == "gemm bf16 m=1 n=64 k=64");
  CHECK(all["farthest"]["b_seconds"] == 2e-6);
  CHECK(json["notes"].empty());
}

}  // namespace
}  // namespace inferometer
