// Profiles as files: the same bytes back, and every kind of file that is no profile.

#include <functional>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/unit/costmodel/kernels/kernel_calls.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

RegionError region(const std::string& name, double width) {
  RegionError error{.region = name, .points = 12, .bias = -0.01, .median = 0.02, .mean = 0.03, .p90 = 0.08};
  for (std::size_t i = 0; i < RegionError::kQuantiles; ++i) {
    error.log_ratio[i] = width * (static_cast<double>(i) - 10);
  }
  return error;
}

/// Trees that cut the first feature once.
RegressionTrees stump(KernelFamily family, double edge, int low, int high) {
  std::vector<std::vector<double>> edges(feature_count(family));
  edges[0] = {edge};
  return {edges, {0, RegressionTrees::leaf_code(low), RegressionTrees::leaf_code(high)}};
}

KernelFit gemm_fit() {
  KernelFit fit;
  fit.family = KernelFamily::gemm;
  fit.variant = "bf16";
  fit.roofline = {5.1e-6 / 3, 0, 0.7 / 3, 1, 1};
  fit.trees = stump(KernelFamily::gemm, 3.125, -1'200, 800);
  fit.range = {{1, 4096}, {128, 65536}, {128, 16384}};
  fit.regions = {region("m to 64", 0.01), region("m 65 to 512", 0.02)};
  fit.points = 100;
  return fit;
}

KernelFit experts_fit() {
  KernelFit fit;
  fit.family = KernelFamily::moe;
  fit.variant = "bf16";
  fit.trees = stump(KernelFamily::moe, 3.125, -1'200, 800);
  fit.slopes.assign(feature_count(KernelFamily::moe), 0.25);
  fit.slopes[2] = -0.00125;
  fit.range = {{1, 64}, {512, 512}, {64, 64}, {8, 8}, {2, 2}, {1, 1}, {1, 1}, {0, 1.2}};
  fit.points = 20;
  return fit;
}

KernelFit decode_fit() {
  KernelFit fit;
  fit.family = KernelFamily::decode_attention;
  fit.variant = "fp8_kv";
  fit.roofline = {8e-6, 2e-8, 0.3, 0.9, 1};
  fit.trees = stump(KernelFamily::decode_attention, 0.5, 100, 200);
  fit.trees_in_l2 = stump(KernelFamily::decode_attention, 0.25, 300, 400);
  fit.range = {{1, 256}, {1, 1e5}, {1, 64}, {1, 8}, {64, 128}, {0, 0}};
  fit.regions = {region("KV beyond L2", 0.01)};
  fit.points = 50;
  return fit;
}

KernelFit norm_fit() {
  KernelFit fit;
  fit.family = KernelFamily::elementwise;
  fit.variant = "norm";
  fit.range = {{1, 4096}, {4096, 8192}};
  fit.points = 7;
  return fit;
}

KernelFit reduce_fit() {
  KernelFit fit;
  fit.family = KernelFamily::collective;
  fit.variant = "all_reduce";
  fit.library = "nccl 2.29.2, \"quoted\"";
  fit.curves = {{2, {1024, 65536}, {0.1, -0.2}}, {4, {1024}, {0.3}}};
  fit.range = {{2, 4}, {1024, 65536}};
  fit.points = 3;
  return fit;
}

/// One fit of each kind: trees, trees within L2, neither, curves, trees over a trend. Numbers that are no
/// short decimals.
KernelProfile sample_profile() {
  return {.gpu = "h100-sxm",
          .library = "vllm",
          .date = "2026-11-30",
          .sources = {{"vllm 0.24.0", "who/what@095f58a5", "Apache-2.0, \"quoted\" \xC2\xA9 x"},
                      {"nccl 2.29.2", "who/what@095f58a5", ""}},
          .fits = {gemm_fit(), decode_fit(), norm_fit(), reduce_fit(), experts_fit()}};
}

KernelProfile read_text(const std::string& text) {
  return parse_kernel_profile(text, "p.json");
}

/// What is said about a text, after the file's name; "" when nothing is wrong.
std::string complaint_about(const std::string& text) {
  try {
    read_text(text);
  } catch (const ConfigError& error) {
    const std::string what = error.what();
    CHECK(what.starts_with("p.json: this is no profile of kernels: "));
    return what;
  }
  return "";
}

std::string complaint_after(const std::function<void(Json&)>& change) {
  Json json = Json::parse(to_json(sample_profile()));
  change(json);
  return complaint_about(json.dump());
}

/// What is said when the value there is another one.
std::string complaint_with(const std::string& pointer, const Json& value) {
  return complaint_after([&](Json& json) { json.at(Pointer(pointer)) = value; });
}

}  // namespace

TEST_CASE("a profile is read back to the same bytes") {
  const std::string text = to_json(sample_profile());
  CHECK(to_json(read_text(text)) == text);
  CHECK(to_json(sample_profile()) == text);
}

TEST_CASE("a text that is no UTF-8 is written so that it can be read") {
  KernelProfile profile = sample_profile();
  profile.sources[0].notice = "a\xFF z";
  CHECK(read_text(to_json(profile)).sources[0].notice == "a\xEF\xBF\xBD z");  // U+FFFD
}

TEST_CASE("times that are no short decimals are written the same after they were read") {
  KernelProfile profile = sample_profile();
  for (int i = 1; i < 200; ++i) {
    profile.fits[1].roofline.start_up_s = 1e-6 * i / 7;
    profile.fits[1].roofline.per_unit_s = 1e-8 / i;
    const std::string text = to_json(profile);
    CHECK(to_json(read_text(text)) == text);
  }
}

TEST_CASE("what is read back predicts and says the same") {
  const KernelProfile wrote = sample_profile();
  const KernelProfile read = read_text(to_json(wrote));
  CHECK(read.gpu == "h100-sxm");
  CHECK(read.library == "vllm");
  CHECK(read.date == "2026-11-30");
  REQUIRE(read.sources.size() == 2);
  CHECK(read.sources[0].notice == wrote.sources[0].notice);
  REQUIRE(read.fits.size() == wrote.fits.size());
  for (std::size_t i = 0; i < read.fits.size(); ++i) {
    CHECK(read.fits[i].points == wrote.fits[i].points);
    CHECK(read.fits[i].range.size() == info(wrote.fits[i].family).axes.size());
    CHECK(read.fits[i].regions.size() == wrote.fits[i].regions.size());
    CHECK(find_fit(read, wrote.fits[i].family, wrote.fits[i].variant) == &read.fits[i]);
  }
  CHECK(find_fit(read, KernelFamily::gemm, "fp8") == nullptr);
  CHECK(find_fit(read, KernelFamily::moe, "fp8") == nullptr);
  CHECK(read.fits[4].slopes == wrote.fits[4].slopes);
  CHECK(read.fits[3].library == wrote.fits[3].library);
  CHECK(read.fits[4].library.empty());
  const GpuSpec gpu = test::kernel_gpu();
  KernelCall decode = test::decode_call(4, 100, 8, 2), gemm = test::gemm_call(100, 256, 256);
  decode.variant = "fp8_kv";
  const KernelCall reduce = test::collective_call(2, 5000);
  const auto check_same = [&](std::size_t fit, const KernelCall& call) {
    CHECK(predicted_seconds(read.fits[fit], call, gpu) ==
          Approx(predicted_seconds(wrote.fits[fit], call, gpu)).epsilon(1e-11));
  };
  check_same(0, gemm);
  check_same(1, decode);
  check_same(3, reduce);
  check_same(4, test::call_of(KernelFamily::moe, "bf16", {16, 512, 64, 8, 2, 1, 1, 0}));
}

TEST_CASE("a profile without sources, fits or errors is one") {
  KernelProfile empty{.gpu = "h100-sxm", .library = "vllm", .date = "2026-11-30", .sources = {}, .fits = {}};
  CHECK(to_json(read_text(to_json(empty))) == to_json(empty));
}

TEST_CASE("a profile is read from its file, which errors name") {
  const test::TemporaryDirectory directory;
  const std::string text = to_json(sample_profile());
  CHECK(to_json(read_kernel_profile(directory.write("good.json", text))) == text);
  const std::string bad = directory.write("bad.json", "{}");
  CHECK_THROWS_WITH(read_kernel_profile(bad), bad + ": this is no profile of kernels: \"schema\" is missing");
  CHECK_THROWS_AS(read_kernel_profile("/no/such/profile.json"), ConfigError);
  CHECK_THROWS_AS(read_kernel_profile(directory.file("")), ConfigError);
}

TEST_CASE("a file says in its first bytes that it is a profile, also one of another version or cut off") {
  const test::TemporaryDirectory directory;
  const std::string text = to_json(sample_profile());
  CHECK(is_kernel_profile(directory.write("whole.json", text)));
  CHECK(is_kernel_profile(directory.write("cut.json", text.substr(0, 100))));
  CHECK(is_kernel_profile(directory.write("next.json", "{\"schema\": \"inferometer-profile/2\"}")));
  CHECK_FALSE(
      is_kernel_profile(directory.write("other.json", "{\"schema\": \"inferometer-measurements/1\"}")));
  CHECK_FALSE(is_kernel_profile(directory.write("empty.json", "")));
  CHECK_FALSE(is_kernel_profile(directory.file("")));
  CHECK_FALSE(is_kernel_profile("/no/such/profile.json"));
}

TEST_CASE("a text that is no JSON is no profile") {
  CHECK_FALSE(complaint_about("").empty());
  CHECK_FALSE(complaint_about("gpu: h100-sxm\n").empty());
  CHECK_FALSE(complaint_about("\xFF\xFE").empty());
  check_says(complaint_about("[]"), {"\"schema\" is missing"});
  check_says(complaint_about("7"), {"\"schema\" is missing"});
}

TEST_CASE("a profile cut off anywhere is refused") {
  const std::string text = to_json(sample_profile());
  // But for the line break at its end.
  for (std::size_t length = 0; length + 1 < text.size(); length += 7) {
    INFO(length);
    CHECK_FALSE(complaint_about(text.substr(0, length)).empty());
  }
  CHECK_FALSE(complaint_about(text.substr(0, text.size() - 2)).empty());
  CHECK_FALSE(complaint_about(text + "{}").empty());
}

TEST_CASE("another schema is named beside the one that is read") {
  check_says(complaint_with("/schema", "inferometer-profile/2"),
             {"inferometer-profile/2", "inferometer-profile/1"});
  check_says(complaint_with("/schema", 1), {"\"schema\" is no text"});
}

TEST_CASE("a missing member is named") {
  const auto check_missing = [](const std::string& parent, const std::string& name) {
    INFO(parent + "/" + name);
    check_says(complaint_after([&](Json& json) {
                 Json& object = parent.empty() ? json : json.at(Pointer(parent));
                 CHECK(object.erase(name) == 1);
               }),
               {"\"" + name + "\" is missing"});
  };
  for (const char* name : {"schema", "gpu", "library", "date", "sources", "fits"}) {
    check_missing("", name);
  }
  for (const char* name : {"library", "source", "notice"}) {
    check_missing("/sources/1", name);
  }
  for (const char* name : {"family", "variant", "points", "range", "roofline", "errors"}) {
    check_missing("/fits/0", name);
  }
  for (const char* name :
       {"start_up_us", "per_unit_us", "compute_efficiency", "bandwidth_efficiency", "overhang_tokens"}) {
    check_missing("/fits/2/roofline", name);
  }
  for (const char* name : {"region", "points", "bias", "median", "mean", "p90", "log_ratio"}) {
    check_missing("/fits/0/errors/1", name);
  }
  check_missing("/fits/0/range", "k");
  check_missing("/fits/0/trees", "edges");
  check_missing("/fits/1/trees_in_l2", "codes");
  check_missing("/fits/3", "curves");
  check_missing("/fits/3/curves/0", "bytes");
}

TEST_CASE("values of another kind are refused") {
  check_says(complaint_with("/gpu", 5), {"\"gpu\" is no text"});
  check_says(complaint_with("/fits", "none"), {"\"fits\" is no list"});
  check_says(complaint_with("/fits/3/library", 7), {"\"library\" is no text"});
  check_says(complaint_with("/fits/0/points", "many"), {"\"points\" is no number"});
  check_says(complaint_with("/fits/0/trees/edges/0", 5), {"\"edges\" are no lists"});
  check_says(complaint_with("/fits/0/trees/edges/0", Json::array({"a"})), {"\"edges\" is no number"});
  check_says(complaint_with("/fits/0/trees", 5), {"\"edges\" is missing"});
  check_says(complaint_with("/fits/1/trees_in_l2", nullptr), {"\"edges\" is missing"});
  check_says(complaint_with("/fits/0/roofline", Json::array()), {"\"start_up_us\" is missing"});
}

TEST_CASE("constants of a roofline outside their range are refused") {
  for (const char* name : {"compute_efficiency", "bandwidth_efficiency"}) {
    for (const double value : {0.0, -0.5, 1.2, 1e-7}) {
      check_says(complaint_with(std::string("/fits/0/roofline/") + name, value),
                 {std::string("\"") + name + "\" is ", "allowed"});
    }
    CHECK(complaint_with(std::string("/fits/0/roofline/") + name, 1).empty());
  }
  check_says(complaint_with("/fits/0/roofline/start_up_us", -1), {"\"start_up_us\" is -1"});
  check_says(complaint_with("/fits/0/roofline/per_unit_us", 1e7), {"\"per_unit_us\""});
  check_says(complaint_with("/fits/0/roofline/overhang_tokens", 0.5), {"\"overhang_tokens\" is 0.5"});
  check_says(complaint_with("/fits/0/points", 0), {"\"points\" is 0"});
}

TEST_CASE("families, variants and ranges that are none are refused") {
  check_says(complaint_with("/fits/0/family", "gem"), {"\"gem\" is no family"});
  check_says(complaint_with("/fits/0/variant", "norm"), {"\"norm\" is no variant of gemm"});
  check_says(complaint_with("/fits/0/range/m", Json::array({1})), {"range of \"m\""});
  check_says(complaint_with("/fits/0/range/m", Json::array({-5, 1})), {"range of \"m\""});
  check_says(complaint_with("/fits/0/range/m", Json::array({2, 1})), {"range of \"m\""});
  check_says(complaint_with("/fits/0/range/m", Json::array({1, 2, 3})), {"range of \"m\""});
}

TEST_CASE("a family and variant that occurs twice is refused") {
  check_says(complaint_after([](Json& json) { json["fits"].push_back(json["fits"][0]); }),
             {"gemm bf16 occurs twice"});
}

TEST_CASE("trees that are none, or of other features, are refused") {
  check_says(complaint_with("/fits/0/trees/codes", "gAA"), {"no regression trees", "cut off"});
  check_says(complaint_with("/fits/0/trees/codes", "gA"), {"three characters"});
  check_says(complaint_with("/fits/0/trees/codes", "gA!"), {"character 3 "});
  check_says(complaint_with("/fits/0/trees/edges/0", Json::array()), {"an edge that is not there"});
  check_says(complaint_with("/fits/0/trees/edges/0", Json::array({2, 1})), {"ascend"});
  check_says(complaint_after([](Json& json) { json["fits"][0]["trees"]["edges"].push_back(Json::array()); }),
             {"trees of gemm cut 15 features; it has 14"});
  check_says(complaint_after([](Json& json) { json["fits"][1]["trees_in_l2"]["edges"].erase(16); }),
             {"trees of decode_attention cut"});
}

TEST_CASE("slopes that are not one a feature, or beyond all measure, are refused") {
  const std::string complaint = "\"slopes\" are one for each feature that the trees cut, and small";
  check_says(complaint_after([](Json& json) { json["fits"][4]["slopes"].erase(0); }), {complaint});
  check_says(complaint_after([](Json& json) { json["fits"][4]["slopes"].push_back(0); }), {complaint});
  check_says(complaint_after([](Json& json) { json["fits"][4].erase("trees"); }), {complaint});
  check_says(complaint_after([](Json& json) {
               // A range of 10 and a slope of 21: 105 at its ends.
               json["fits"][4]["trees"]["edges"][1] = Json::array({0, 10});
               json["fits"][4]["slopes"][1] = 21;
             }),
             {complaint});
  check_says(complaint_with("/fits/4/slopes", 5), {"\"slopes\""});
  check_says(complaint_with("/fits/4/slopes/0", "steep"), {"\"slopes\" is no number"});
}

TEST_CASE("curves out of order, of unequal lists or of no knots are refused") {
  const auto check_curve = [](const char* pointer, const Json& value) {
    INFO(pointer << " " << value.dump());
    CHECK_FALSE(complaint_with(pointer, value).empty());
  };
  check_curve("/fits/3/curves/0/bytes", Json::array({65536, 1024}));
  check_curve("/fits/3/curves/0/bytes", Json::array({1024, 1024}));
  check_curve("/fits/3/curves/0/bytes", Json::array({0, 1024}));
  check_curve("/fits/3/curves/0/bytes", Json::array({1024}));
  check_curve("/fits/3/curves/1", Json{{"gpus", 4}, {"bytes", Json::array()}, {"log_ratio", Json::array()}});
  check_curve("/fits/3/curves/0/gpus", 1);
  check_says(complaint_with("/fits/3/curves/0/gpus", 5), {"in order of their GPUs"});
  check_says(complaint_with("/fits/3/curves/1/gpus", 2), {"in order of their GPUs"});
  check_says(complaint_with("/fits/3/curves", Json::array()), {"at least one"});
}

TEST_CASE("quantiles of an error ascend, and are 21") {
  const auto check_quantiles = [](const std::function<void(Json&)>& change) {
    check_says(complaint_after([&](Json& json) { change(json["fits"][0]["errors"][0]["log_ratio"]); }),
               {"\"log_ratio\" of an error takes 21 numbers, ascending, none beyond 100"});
  };
  check_quantiles([](Json& list) { list.erase(0); });
  check_quantiles([](Json& list) { list.push_back(9); });
  check_quantiles([](Json& list) { list[0] = 0.5; });
  check_quantiles([](Json& list) { list[0] = -101; });
  check_quantiles([](Json& list) { list[20] = 1e308; });
}

TEST_CASE("corrections beyond all measure are refused") {
  // e^1000 is no time.
  CHECK_FALSE(complaint_with("/fits/3/curves/0/log_ratio/0", 1000).empty());
  CHECK_FALSE(complaint_with("/fits/3/curves/0/log_ratio/0", -1000).empty());
  CHECK_FALSE(complaint_after([](Json& json) {
                std::string codes;
                for (int tree = 0; tree < 200; ++tree) {
                  codes += "AAB";  // the leaf -2^17 + 1: 65,535 units
                }
                json["fits"][0]["trees"]["codes"] = codes;
              }).empty());
}

}  // namespace inferometer
