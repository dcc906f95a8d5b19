// Our own CSV.

#include "tests/support/check_says.hpp"
#include "tests/unit/validation/reader_test_support.hpp"

using namespace inferometer;
using test::figure;
using test::refusal;
using test::runs_in;
using test::setting;

TEST_CASE("our own CSV: clients, a rate, or all at once", "[validation]") {
  const auto runs = runs_in(
      "run,engine,version,model,gpu,tensor_parallel,quantization,concurrency,rate,input,output,requests,"
      "prefix,"
      "prefix_groups,engine.block_size,mean_ttft_ms,output_throughput,median_lone_ttft_ms\n"
      "a,vllm,0.15.1,meta-llama/Llama-3.1-8B,H100,2,fp8,32,,1024,128,,,,,55.5,,\n"
      "b,sglang,0.5.5,qwen3-32b,H200,,,,4.5,400-600,200,900,100,3,32,70,1500,\n"
      "c,,,qwen3-32b,,,,,,512,64-64,2000,,,,,,41\n");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].group == "vllm 0.15.1");
  CHECK(setting(runs[0], "workload.clients") == "32");
  CHECK(setting(runs[0], "workload.requests") == "320");
  CHECK(setting(runs[0], "hardware.tensor_parallel") == "2");
  CHECK(setting(runs[0], "engine.quantization") == "fp8");
  CHECK(figure(runs[0], "mean_ttft_ms") == 55.5);
  CHECK(runs[0].values.size() == 1);
  CHECK(setting(runs[1], "workload.rate") == "4.5 req/s");
  CHECK(setting(runs[1], "workload.requests") == "900");
  CHECK(setting(runs[1], "workload.prompt") == "{distribution: uniform, min: 400, max: 600}");
  CHECK(setting(runs[1], "workload.shared_prefix.groups") == "3");
  CHECK(setting(runs[1], "engine.block_size") == "32");
  CHECK(setting(runs[2], "workload.generator") == "all_at_once");
  CHECK(setting(runs[2], "workload.output") == "{distribution: fixed, tokens: 64}");
  CHECK(setting(runs[2], "hardware.gpu") == "(none)");
  CHECK(figure(runs[2], "median_lone_ttft_ms") == 41);
}

TEST_CASE("our own CSV: what contradicts itself or is not known is refused", "[validation]") {
  const std::string head = "run,model,concurrency,rate,input,output,requests,mean_ttft_ms\n";
  check_says(refusal(head + "a,qwen3-32b,8,2,1,1,,5\n"),
             {"FILE:2:15: expected a rate or a concurrency, found both"});
  check_says(refusal(head + "a,qwen3-32b,,,1,1,,5\n"),
             {"expected a concurrency, a rate, or requests that come all at once"});
  check_says(refusal(head + "a,qwen3-32b,8,,1,1,,\n"), {"FILE:2:1: expected a figure, such as mean_ttft_ms"});
  check_says(refusal(head + "a,qwen3-32b,8,,600-400,1,,5\n"),
             {"FILE:2:16: expected input to be a number of tokens"});
  check_says(refusal(head + ",qwen3-32b,8,,1,1,,5\n"), {"FILE:2:1: expected run, found nothing"});
  check_says(refusal("run,model,concurency,input,output,mean_ttft_ms\na,qwen3-32b,8,1,1,5\n"),
             {"unknown column \"concurency\"; did you mean \"concurrency\"?"});
  check_says(
      refusal("run,engine,model,concurrency,input,output,mean_ttft_ms\na,vlm,qwen3-32b,8,1,1,5\n"),
      {"FILE:2:3: expected engine to be vllm, sglang or trtllm, found \"vlm\"; did you mean \"vllm\"?"});
}

TEST_CASE("the help on our own CSV names every column that is read", "[validation]") {
  check_says(own_csv_help(), {"  run ", "  concurrency ", "  prefix_groups ", "mean_ttft_ms",
                              "median_lone_ttft_ms", "path.to.key"});
}
