// The published measurements, where they are on this machine: counts and figures read off the files by hand.

#include <cstdio>
#include <filesystem>

#include "tests/unit/validation/reader_test_support.hpp"

using namespace inferometer;
using test::figure;
using test::setting;

namespace {

const std::string kMeasured = INFEROMETER_SHARED_DATA "/measured/";

bool is_missing(const std::string& path) {
  if (std::filesystem::exists(path)) {
    return false;
  }
  std::printf("skipped: no %s on this machine\n", path.c_str());
  return true;
}

void check_names_are_known(const std::vector<MeasuredRun>& runs) {
  for (const MeasuredRun& run : runs) {
    INFO(run.source);
    CHECK(setting(run, "model") != "(none)");
    CHECK(setting(run, "model").front() != '"');  // quoted: not built in
    CHECK(setting(run, "hardware.gpu").front() != '"');
    CHECK(!run.values.empty());
  }
}

}  // namespace

TEST_CASE("aiconfigurator's 318 rows", "[validation][shared]") {
  const std::string path = kMeasured + "silicon_h100_shared.csv";
  if (is_missing(path)) {
    return;
  }
  const auto runs = read_measured_runs(path);
  REQUIRE(runs.size() == 318);
  check_names_are_known(runs);
  CHECK(figure(runs[0], "mean_tpot_ms") == 18.6519943125);
  const auto is_of_x = [](const MeasuredRun& run) { return run.engine.month == "2025-10"; };
  CHECK(std::count_if(runs.begin(), runs.end(), is_of_x) == 45);
}

TEST_CASE("97 rows of TensorRT-LLM's offline throughput", "[validation][shared]") {
  const std::string path = kMeasured + "trtllm_offline_shared.csv";
  if (is_missing(path)) {
    return;
  }
  const auto runs = read_measured_runs(path);
  REQUIRE(runs.size() == 97);
  check_names_are_known(runs);
  CHECK(figure(runs[0], "output_throughput") == 28836.77);
}

TEST_CASE("nine rows of vLLM 0.15.1 are six stages and three sums of them", "[validation][shared]") {
  const std::string path = kMeasured + "vllm_0.15.1_runs_shared.csv";
  if (is_missing(path)) {
    return;
  }
  const auto runs = read_measured_runs(path);
  REQUIRE(runs.size() == 6);
  check_names_are_known(runs);
  CHECK(runs[0].name == "60-llama-3-1-70b-tp4-general-lite-4-1 stage 0");
  CHECK(runs[0].engine.version == "0.15.1");  // of the file's name alone
  CHECK(runs[0].group == "vllm 0.15.1 staged rates");
}

TEST_CASE("two folders of vLLM 0.11 with requests one by one", "[validation][shared]") {
  const std::string path = kMeasured + "vllm_0.11_requests";
  if (is_missing(path)) {
    return;
  }
  const auto runs = read_measured_runs(path);
  REQUIRE(runs.size() == 2);
  check_names_are_known(runs);
  CHECK(runs[0].name == "jan20-codellama-train-1");
  CHECK(runs[0].requests.size() == 280);
  CHECK(runs[1].requests.size() == 282);
  CHECK(runs[1].engine.version == "0.11");
  CHECK(figure(runs[1], kLoneTtft) > 30);  // a prompt of 1500 tokens took 35.5 ms alone
  CHECK(figure(runs[1], kLoneTtft) < 80);
}

TEST_CASE("18 files of disaggregated SGLang, and everything of the folder", "[validation][shared]") {
  const std::string path = kMeasured + "sglang_disaggregation_h200";
  if (is_missing(path)) {
    return;
  }
  const auto runs = read_measured_runs(path);
  REQUIRE(runs.size() == 18);
  check_names_are_known(runs);
  CHECK(runs[0].engine.name == "sglang");
  CHECK(setting(runs[0], "hardware.gpu") == "h200-sxm");
  CHECK(read_measured_runs(kMeasured).size() == 318 + 97 + 6 + 2 + 18);
}
