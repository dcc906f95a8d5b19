// Which measurements go into a profile, and what is said when that is not clear.

#include "calibration/fit/fit_profile.hpp"

#include "base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/calibration/fit/synthetic_kernels.hpp"

namespace inferometer {
namespace {

using test::measured;

Measurements set_of(const std::string& gpu, const std::string& library, test::Points points,
                    const std::string& version = "") {
  Measurements set;
  set.header.gpu = gpu;
  set.header.library = library;
  set.header.library_version = version;
  set.header.source = "who/what";
  set.points = std::move(points);
  return set;
}

test::Points gemms() {
  return {measured(test::gemm_call(1, 512, 512), 6e-6), measured(test::gemm_call(1, 1024, 512), 7e-6),
          measured(test::gemm_call(1, 2048, 512), 8e-6)};
}
test::Points gathers() {
  return {measured(test::collective_call(2, 4096, "all_gather"), 1e-5),
          measured(test::collective_call(2, 8192, "all_gather"), 1.1e-5)};
}

KernelProfile fitted(const std::vector<Measurements>& measured, const ProfileRequest& request) {
  return fit_profile(measured, request, [](KernelFamily, const std::string&, std::size_t) {});
}

ProfileRequest request_of(const std::string& gpu, const std::string& library) {
  return {.gpu = gpu, .library = library, .borrowed = {}, .date = "2026-11-30", .notice = "free", .folds = 2};
}

std::string complaint_about(const std::vector<Measurements>& measured, const ProfileRequest& request) {
  try {
    fitted(measured, request);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("the only GPU and library need not be named") {
  const KernelProfile profile = fitted({set_of("h100-sxm", "vllm", gemms(), "0.24.0")}, request_of("", ""));
  CHECK(profile.gpu == "h100-sxm");
  CHECK(profile.library == "vllm");
  CHECK(profile.date == "2026-11-30");
  REQUIRE(profile.sources.size() == 1);
  CHECK(profile.sources[0].library == "vllm 0.24.0");
  CHECK(profile.sources[0].source == "who/what");
  CHECK(profile.sources[0].notice == "free");
  REQUIRE(profile.fits.size() == 1);
  CHECK(profile.fits[0].points == 3);
}

TEST_CASE("sets of one library are put together, and each fit is announced") {
  std::vector<std::string> announced;
  const KernelProfile profile = fit_profile(
      {set_of("h100-sxm", "vllm", gemms()),
       set_of("h100-sxm", "vllm", {measured(test::gemm_call(9, 512, 512), 7e-6)}),
       set_of("h100-sxm", "vllm", gathers())},
      request_of("", ""), [&](KernelFamily family, const std::string& variant, std::size_t points) {
        announced.push_back(std::string(to_string(family)) + " " + variant + " " + std::to_string(points));
      });
  CHECK(announced == std::vector<std::string>{"gemm bf16 4", "collective all_gather 2"});
  CHECK(profile.sources.size() == 1);
  CHECK(profile.fits.size() == 2);
}

TEST_CASE("several GPUs or libraries are to be chosen from, and are named") {
  const std::vector<Measurements> measured = {set_of("h100-sxm", "vllm", gemms()),
                                              set_of("h200-sxm", "tensorrt-llm", gemms())};
  check_says(complaint_about(measured, request_of("", "")),
             {"several GPUs", "h100-sxm", "h200-sxm", "--gpu"});
  check_says(complaint_about(measured, request_of("h100-sxm", "")),
             {"several library", "vllm", "tensorrt-llm", "--library"});
  check_says(complaint_about(measured, request_of("h100-sxm", "vlm")), {"\"vlm\"", "did you mean \"vllm\""});
  check_says(complaint_about(measured, request_of("h100-sxn", "vllm")), {"\"h100-sxn\"", "h100-sxm"});
  CHECK(fitted(measured, request_of("h200-sxm", "tensorrt-llm")).fits.size() == 1);
}

TEST_CASE("of a lender only the borrowed family is taken") {
  ProfileRequest request = request_of("", "");
  request.borrowed = {{"nccl", KernelFamily::collective}};
  test::Points lent = gathers();
  lent.push_back(measured(test::gemm_call(64, 512, 512), 1e-5));
  const KernelProfile profile =
      fitted({set_of("h100-sxm", "vllm", gemms()), set_of("h100-sxm", "nccl", lent, "2.29.2")}, request);
  CHECK(profile.library == "vllm");
  REQUIRE(profile.sources.size() == 2);
  CHECK(profile.sources[1].library == "nccl 2.29.2");
  REQUIRE(find_fit(profile, KernelFamily::gemm, "bf16") != nullptr);
  CHECK(find_fit(profile, KernelFamily::gemm, "bf16")->points == 3);
  CHECK(find_fit(profile, KernelFamily::gemm, "bf16")->library.empty());
  REQUIRE(find_fit(profile, KernelFamily::collective, "all_gather") != nullptr);
  CHECK(find_fit(profile, KernelFamily::collective, "all_gather")->library == "nccl 2.29.2");
}

TEST_CASE("a family of which some points are of the own library is not called borrowed") {
  ProfileRequest request = request_of("", "");
  request.borrowed = {{"nccl", KernelFamily::collective}};
  const Measurements own = set_of("h100-sxm", "vllm", gathers()),
                     lent = set_of("h100-sxm", "nccl", gathers());
  for (const std::vector<Measurements>& measured : {std::vector{own, lent}, std::vector{lent, own}}) {
    CHECK(fitted(measured, request).fits.at(0).library.empty());
  }
}

TEST_CASE("nothing to fit is said, and why") {
  check_says(complaint_about({}, request_of("", "")), {"nothing to fit", "no measurements were read"});
  check_says(complaint_about({set_of("h100-sxm", "vllm", gemms()), set_of("h200-sxm", "sglang", gemms())},
                             request_of("h100-sxm", "sglang")),
             {"nothing to fit", "sglang", "h100-sxm"});
}

TEST_CASE("the same measurements give the same profile") {
  test::Points points = test::with_outliers(
      test::timed(test::gemm_calls(), {.start_up_s = 6e-6, .compute_efficiency = 0.5}, load_gpu("h100-sxm")));
  const std::vector<Measurements> measured = {set_of("h100-sxm", "vllm", points)};
  const std::string text = to_json(fitted(measured, request_of("", "")));
  CHECK(to_json(fitted(measured, request_of("", ""))) == text);
}

}  // namespace
}  // namespace inferometer
