// What benchmark tools write as JSON.

#include "tests/support/check_says.hpp"
#include "tests/unit/validation/reader_test_support.hpp"

using namespace inferometer;
using test::figure;
using test::refusal;
using test::runs_in;
using test::setting;

namespace {

// The keys around what a test is about.
std::string bench(const std::string& members) {
  return "{\"duration\": 94.5, \"completed\": 500, \"total_input_tokens\": 1023101, \"total_output_tokens\": "
         "64000,\n" +
         members + "}";
}

const std::string kAiperf = R"({"request_count": {"unit": "requests", "avg": 200.0},
 "request_throughput": {"unit": "requests/sec", "avg": 2.5},
 "request_latency": {"unit": "ms", "avg": 4000, "p50": 3900, "p99": 5000},
 "time_to_first_token": {"unit": "s", "avg": 0.055, "p90": 0.07},
 "inter_token_latency": {"unit": "ms", "avg": 12.5},
 "output_token_throughput": {"unit": "tokens/sec", "avg": 640},
 "input_sequence_length": {"unit": "tokens", "avg": 550.2, "std": 0},
 "output_sequence_length": {"unit": "tokens", "avg": 256, "std": 20},
 "input_config": {"endpoint": {"model_names": ["Qwen/Qwen3-0.6B"]}, "loadgen": {"concurrency": 10}}})";

}  // namespace

TEST_CASE("vllm bench serve: clients in a closed loop, figures by their names", "[validation]") {
  const auto runs =
      runs_in(bench(R"("date": "20250914-015043", "model_id": "openai/gpt-oss-120b", "num_prompts": 512,
    "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 32, "mean_ttft_ms": 138.07, "median_ttft_ms": 115.5,
    "p99_ttft_ms": 481, "mean_tpot_ms": 8.06, "mean_itl_ms": 7.4, "std_itl_ms": 1.2, "output_throughput": 3834,
    "request_throughput": 5.28, "total_token_throughput": 14658, "mean_e2el_ms": 0)"),
              "1p3d_conc32.json");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].name == "1p3d_conc32");
  CHECK(runs[0].engine.month == "2025-09");
  CHECK(setting(runs[0], "model") == "gpt-oss-120b");
  CHECK(setting(runs[0], "workload.generator") == "closed_loop");
  CHECK(setting(runs[0], "workload.clients") == "32");
  CHECK(setting(runs[0], "workload.requests") == "500");                                // that succeeded
  CHECK(setting(runs[0], "workload.prompt") == "{distribution: fixed, tokens: 2046}");  // 1023101 / 500
  CHECK(setting(runs[0], "workload.output") == "{distribution: fixed, tokens: 128}");
  CHECK(setting(runs[0], "hardware.gpu") == "(none)");
  CHECK(figure(runs[0], "mean_ttft_ms") == 138.07);
  CHECK(figure(runs[0], "p99_ttft_ms") == 481);
  CHECK(figure(runs[0], "mean_tpot_ms") == 8.06);
  CHECK(figure(runs[0], "total_token_throughput") == 14658);
  CHECK(figure(runs[0], "mean_e2el_ms") == -1);  // 0: not measured
  CHECK(runs[0].values.size() == 8);
  CHECK(std::count(runs[0].notes.begin(), runs[0].notes.end(), "12 of 512 requests failed") == 1);
}

TEST_CASE("vllm bench serve: a rate, bursts, all at once", "[validation]") {
  const auto poisson = runs_in(bench(R"("request_rate": 12.5, "burstiness": 1.0, "mean_ttft_ms": 1)"));
  CHECK(setting(poisson.at(0), "workload.generator") == "poisson");
  CHECK(setting(poisson.at(0), "workload.rate") == "12.5 req/s");
  const auto gamma = runs_in(bench(R"("request_rate": 12.5, "burstiness": 0.5, "mean_ttft_ms": 1)"));
  CHECK(setting(gamma.at(0), "workload.generator") == "gamma");
  CHECK(setting(gamma.at(0), "workload.burstiness") == "0.5");
  const auto burst = runs_in(bench(R"("request_rate": "inf", "max_concurrency": null, "mean_ttft_ms": 1)"));
  CHECK(setting(burst.at(0), "workload.generator") == "all_at_once");
}

TEST_CASE("vllm bench serve: lengths as recorded, or uniform where outputs end by themselves",
          "[validation]") {
  std::string lengths;
  for (int i = 0; i <= 40; ++i) {
    lengths += (i == 0 ? "" : ", ") + std::to_string(100 + i);
  }
  const auto recorded = runs_in(bench("\"output_lens\": [" + lengths + "], \"mean_ttft_ms\": 1"));
  check_says(setting(recorded.at(0), "workload.output"),
             {"quantiles", "probabilities: [0, 0.05,", "lengths: [100, 102,", ", 140]"});
  // 64001 / 500 is no whole number: no request was made to go on.
  const std::string by_themselves =
      R"({"duration": 1, "completed": 500, "total_input_tokens": 5000, "total_output_tokens": 64001, "mean_ttft_ms": 1})";
  CHECK(setting(runs_in(by_themselves).at(0), "workload.output") ==
        "{distribution: uniform, min: 1, max: 255}");
  CHECK(setting(runs_in(by_themselves, "in10_out150.json").at(0), "workload.output") ==
        "{distribution: uniform, min: 106, max: 150}");
}

TEST_CASE("SGLang's bench_serving: an object a line, lengths down to a share of those asked for",
          "[validation]") {
  const std::string line =
      R"({"backend": "sglang", "dataset_name": "random", "request_rate": 4.0, "random_input_len": 1000, )"
      R"("random_output_len": 500, "random_range_ratio": 0.5, "duration": 10, "completed": 100, )"
      R"("total_input_tokens": 75000, "total_output_tokens": 37500, "mean_e2e_latency_ms": 900.0, "mean_ttft_ms": 80.0})";
  const auto runs = runs_in(line + "\n" + line + "\n", "out.jsonl");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].name == "out line 1");
  CHECK(runs[1].name == "out line 2");
  CHECK(runs[0].engine.name == "sglang");
  CHECK(setting(runs[0], "workload.prompt") == "{distribution: uniform, min: 500, max: 1000}");
  CHECK(setting(runs[0], "workload.output") == "{distribution: uniform, min: 250, max: 500}");
  CHECK(figure(runs[0], "mean_e2el_ms") == 900);
  check_says(
      refusal(
          line +
          "\n{\"completed\": 0, \"duration\": 1, \"total_input_tokens\": 1, \"total_output_tokens\": 1}\n"),
      {"FILE:2:2: expected completed to be a whole number from 1, found 0"});
}

TEST_CASE("AIPerf's export: units, closed loop, lengths of the same mean and deviation", "[validation]") {
  const auto runs = runs_in(kAiperf);
  REQUIRE(runs.size() == 1);
  CHECK(setting(runs[0], "model") == "qwen3-0.6b");
  CHECK(setting(runs[0], "workload.clients") == "10");
  CHECK(setting(runs[0], "workload.requests") == "200");
  CHECK(setting(runs[0], "workload.prompt") == "{distribution: fixed, tokens: 550}");
  // sqrt(3) * 20 = 34.6
  CHECK(setting(runs[0], "workload.output") == "{distribution: uniform, min: 222, max: 290}");
  CHECK(figure(runs[0], "mean_ttft_ms") == Approx(55));
  CHECK(figure(runs[0], "p90_ttft_ms") == Approx(70));
  CHECK(figure(runs[0], "mean_tpot_ms") == 12.5);
  CHECK(figure(runs[0], "median_e2el_ms") == 3900);
  CHECK(figure(runs[0], "output_throughput") == 640);
  std::string wrong = kAiperf;
  wrong.replace(wrong.find("\"s\""), 3, "\"h\"");
  check_says(refusal(wrong),
             {"FILE:4:2: expected the unit of time_to_first_token to be ms, s, sec, us or ns, found \"h\""});
}

TEST_CASE("GuideLLM: a run for each benchmark, seconds of request_latency as ms", "[validation]") {
  const std::string metrics = R"("metrics": {"request_totals": {"successful": 120},
    "prompt_token_count": {"successful": {"mean": 1000, "std_dev": 0}},
    "output_token_count": {"successful": {"mean": 200, "std_dev": 0}},
    "time_to_first_token_ms": {"successful": {"mean": 44.5, "median": 40, "percentiles": {"p99": 99}}},
    "inter_token_latency_ms": {"successful": {"mean": 9.5}},
    "request_latency": {"successful": {"mean": 1.9}},
    "output_tokens_per_second": {"successful": {"mean": 800}}})";
  const auto with = [&](const std::string& strategy) {
    return "{\"config\": {\"strategy\": " + strategy + "}, " + metrics + "}";
  };
  const auto runs = runs_in("{\"args\": {\"model\": \"Qwen/Qwen3-8B\"}, \"benchmarks\": [" +
                            with(R"({"type_": "concurrent", "streams": 16})") + "," +
                            with(R"({"type_": "constant", "rate": 3.5})") + "," +
                            with(R"({"type_": "throughput"})") + "]}");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].name == "some 1 concurrent 16");
  CHECK(setting(runs[0], "model") == "qwen3-8b");
  CHECK(setting(runs[0], "workload.clients") == "16");
  CHECK(setting(runs[0], "workload.requests") == "120");
  CHECK(figure(runs[0], "mean_ttft_ms") == 44.5);
  CHECK(figure(runs[0], "p99_ttft_ms") == 99);
  CHECK(figure(runs[0], "mean_tpot_ms") == 9.5);
  CHECK(figure(runs[0], "mean_e2el_ms") == Approx(1900));
  CHECK(setting(runs[1], "workload.generator") == "constant");
  CHECK(setting(runs[1], "workload.rate") == "3.5 req/s");
  CHECK(setting(runs[2], "workload.generator") == "all_at_once");
  check_says(refusal("{\"benchmarks\": [" + with(R"({"type_": "sweep"})") + "]}"), {"found \"sweep\""});
  check_says(refusal("{\"benchmarks\": []}"),
             {"FILE:1:2: expected benchmarks to be a list with one or more"});
}

TEST_CASE("JSON that is no run, or none at all", "[validation]") {
  check_says(refusal("{\"a\": 1}"), {"FILE: no known keys; measured runs are"});
  check_says(refusal("{\"a\": "), {"FILE:1:"});
  check_says(refusal(bench("\"mean_ttft_ms\": -3")),
             {"FILE:2:1: expected mean_ttft_ms to be a number from 0, found \"-3\""});
  check_says(refusal(bench("\"mean_ttft_ms\": \"fast\"")), {"expected mean_ttft_ms to be a number from 0"});
  check_says(refusal(bench("\"mean_ttft_ms\": 0")), {"expected a figure, such as mean_ttft_ms, found none"});
  check_says(refusal(bench("\"request_rate\": \"fast\", \"mean_ttft_ms\": 1")),
             {"expected request_rate to be a number or \"inf\""});
}
