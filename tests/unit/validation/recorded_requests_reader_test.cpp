// Requests one by one, beside exp-config.yaml.

#include "tests/support/check_says.hpp"
#include "tests/unit/validation/reader_test_support.hpp"

using namespace inferometer;
using test::figure;
using test::setting;

namespace {

const std::string kConfig =
    "model: codellama/CodeLlama-34b-Instruct-hf\ntensor_parallelism: 2\nmax_model_len: 8192\n"
    "max_num_batched_tokens: 4096\nmax_num_seqs: 256\napp: train\n";
const std::string kHead = "arrival_s,prompt_tokens,completion_tokens,ttft_s,e2e_s,queue_s\n";

// Without a configuration there is no such file.
std::string refusal_of(const std::string& config, const std::string& requests) {
  const test::TemporaryDirectory folder;
  if (!config.empty()) {
    static_cast<void>(folder.write("exp-config.yaml", config));
  }
  const std::string path = folder.write("requests.csv", requests);
  try {
    read_measured_runs(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("recorded requests: replayed as they came, figures worked out of them", "[validation]") {
  const test::TemporaryDirectory folder;
  static_cast<void>(folder.write("exp-config.yaml", kConfig));
  // The second comes while the first runs (0 to 2 s), the third exactly when the second is done (at 4 s), the
  // fourth alone.
  const std::string path = folder.write("requests.csv", kHead +
                                                            "0,100,11,0.5,2,0\n"
                                                            "1,200,21,0.2,3,0\n"
                                                            "4,50,1,0.1,0.1,0\n"
                                                            "9,60,5,0.3,0.7,0\n");
  for (const std::string& given : {path, std::filesystem::path(path).parent_path().string()}) {
    const auto runs = read_measured_runs(given);
    REQUIRE(runs.size() == 1);
    const MeasuredRun& run = runs[0];
    CHECK(setting(run, "model") == "codellama-34b");
    CHECK(setting(run, "hardware.tensor_parallel") == "2");
    CHECK(setting(run, "engine.max_num_batched_tokens") == "4096");
    CHECK(setting(run, "engine.max_model_len") == "8192");
    CHECK(setting(run, "workload.generator") == "(none)");
    REQUIRE(run.requests.size() == 4);
    CHECK(run.requests[1].arrival_s == 1);
    CHECK(run.requests[1].prompt_tokens == 200);
    CHECK(run.requests[1].output_tokens == 21);
    CHECK(!run.requests[2].itl_ms_mean);
    // Alone: the first, third and fourth, of 500, 100 and 300 ms.
    CHECK(figure(run, kLoneTtft) == Approx(300));
    CHECK(figure(run, "mean_ttft_ms") == Approx((500 + 200 + 100 + 300) / 4.0));
    // Gaps of 1.5 s / 10 = 150 ms, 2.8 s / 20 = 140 ms and 0.4 s / 4 = 100 ms.
    CHECK(figure(run, "mean_tpot_ms") == Approx((150 + 140 + 100) / 3.0));
    CHECK(figure(run, "mean_itl_ms") == Approx((1500 + 2800 + 400) / 34.0));
    CHECK(figure(run, "mean_e2el_ms") == Approx((2000 + 3000 + 100 + 700) / 4.0));
  }
}

TEST_CASE("a request that comes a moment before the end of another is not alone", "[validation]") {
  const test::TemporaryDirectory folder;
  static_cast<void>(folder.write("exp-config.yaml", kConfig));
  const auto runs =
      read_measured_runs(folder.write("requests.csv", kHead + "0,100,11,0.5,2,0\n1.999,9,3,0.1,2,0\n"));
  CHECK(figure(runs.at(0), kLoneTtft) == Approx(500));
}

TEST_CASE("recorded requests: mistakes", "[validation]") {
  check_says(refusal_of(kConfig, kHead + "0,100,11,3,2,0\n"),
             {"requests.csv:2:12: expected e2e_s to be at least ttft_s, 3, found 2"});
  check_says(refusal_of(kConfig, kHead + "-1,100,0,1,2,0\n"),
             {"requests.csv:2:1: expected arrival_s to be a number from 0, found \"-1\"",
              "requests.csv:2:8: expected completion_tokens to be a whole number from 1"});
  check_says(refusal_of("tensor_parallelism: 1\n", kHead + "0,100,11,1,2,0\n"), {"expected the key model"});
  check_says(refusal_of(kConfig + "total_kv_blocks: none\n", kHead + "0,100,11,1,2,0\n"),
             {"exp-config.yaml:7:18: expected total_kv_blocks to be a whole number from 1, found \"none\""});
  check_says(refusal_of("", kHead + "0,100,11,1,2,0\n"), {"expected exp-config.yaml beside it"});
}
