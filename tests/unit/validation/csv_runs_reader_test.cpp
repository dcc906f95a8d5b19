// Tables of tools, written by hand in their columns: what each row becomes as a scenario, and what is refused
// where.

#include "tests/support/check_says.hpp"
#include "tests/unit/validation/reader_test_support.hpp"

using namespace inferometer;
using test::figure;
using test::refusal;
using test::runs_in;
using test::setting;

namespace {

const std::string kSilicon =
    "id,silicon_data_source,backend,backend_version,model_path,system,precision,mode,isl,osl,gemm_quant_mode,"
    "batch_size,tp_size,pp_size,attention_dp_size,moe_ep_size,prefill_num_workers,prefill_tp_size,decode_num_"
    "workers,"
    "decode_tp_size,decode_batch_size,silicon_ttft_ms,silicon_tpot_ms\n";

const std::string kStages =
    "exp_id,dir,model,hardware,tp,max_num_seqs,max_num_batched_tokens,total_kv_blocks,system_prompt_len,"
    "question_len,"
    "output_len,n_prefix_groups,multi_turn,stage_index,rate_rps,duration_s,ttft_mean_ms,ttft_p99_ms,itl_mean_"
    "ms,"
    "e2e_mean_ms,blis_ttft_mean_ms\n";

const std::string kOffline =
    "trtllm_version,model,tp,pp,gpu,precision,isl,osl,num_requests,output_tokens_per_s\n";

}  // namespace

TEST_CASE("a row of AIPerf in aiconfigurator's table: clients in a closed loop, fixed lengths",
          "[validation]") {
  const auto runs =
      runs_in(kSilicon +
              "q1,source_file=/x/aic-auto-gap-analysis/data/h100_sxm/vllm/0.12.0/Qwen.csv; "
              "silicon_concurrency=16,vllm,0.12.0,Qwen/Qwen3-32B,h100_sxm,,agg,4096,128,,16,2.0,1,,1,,,,,,"
              "180.5,14.25\n");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].name == "q1");
  CHECK(runs[0].group == "aiconfigurator vllm 0.12.0");
  CHECK(runs[0].engine.name == "vllm");
  CHECK(runs[0].engine.version == "0.12.0");
  CHECK(setting(runs[0], "model") == "qwen3-32b");
  CHECK(setting(runs[0], "hardware.gpu") == "h100-sxm");
  CHECK(setting(runs[0], "hardware.tensor_parallel") == "2");
  CHECK(setting(runs[0], "hardware.pipeline_parallel") == "(none)");
  CHECK(setting(runs[0], "engine.quantization") == "none");
  CHECK(runs[0].settings.front() ==
        "workload.generator=closed_loop");  // before its keys, which it would drop
  CHECK(setting(runs[0], "workload.clients") == "16");
  CHECK(setting(runs[0], "workload.requests") == "800");  // fifty a client
  // As aiconfigurator's generator has it: 512 seats, 512 + 4096 + 1500 tokens a step, 4096 + 128 + 1500 a
  // request.
  CHECK(setting(runs[0], "engine.max_num_seqs") == "512");
  CHECK(setting(runs[0], "engine.max_num_batched_tokens") == "6108");
  CHECK(setting(runs[0], "engine.max_model_len") == "5724");
  CHECK(setting(runs[0], "workload.prompt") == "{distribution: fixed, tokens: 4096}");
  CHECK(setting(runs[0], "workload.output") == "{distribution: fixed, tokens: 128}");
  CHECK(figure(runs[0], "mean_ttft_ms") == 180.5);
  CHECK(figure(runs[0], "mean_tpot_ms") == 14.25);
}

TEST_CASE("a row of InferenceX: lengths uniform from 0.8 of the nominal, ten prompts a client",
          "[validation]") {
  const auto runs = runs_in(
      kSilicon +
      "m1,source_file=2026-04-06.csv; model=Llama; silicon_concurrency=4; measured=2025-10-29T00:00:00.000Z,"
      "vllm,,meta-llama/Llama-3.1-70B,h100_sxm,fp8,agg,1024,1001,fp8,4,4,1,1,1,,,,,,50,12\n");
  REQUIRE(runs.size() == 1);
  // 0.8 * 1024 = 819.2 and 0.8 * 1001 = 800.8: the next whole numbers.
  CHECK(setting(runs[0], "workload.prompt") == "{distribution: uniform, min: 820, max: 1024}");
  CHECK(setting(runs[0], "workload.output") == "{distribution: uniform, min: 801, max: 1001}");
  CHECK(setting(runs[0], "workload.requests") == "40");
  CHECK(setting(runs[0], "engine.quantization") == "fp8");
  CHECK(runs[0].engine.month == "2025-10");
  CHECK(runs[0].group == "aiconfigurator vllm 2025-10");
}

TEST_CASE("aiconfigurator's AIPerf sends fifty requests a client", "[validation]") {
  const auto runs =
      runs_in(kSilicon + "q,,vllm,0.12.0,Qwen/Qwen3-32B,h200_sxm,,agg,4096,128,,1,1,1,,1,,,,,,1,1\n");
  CHECK(setting(runs.at(0), "workload.requests") == "50");
  CHECK(setting(runs.at(0), "workload.clients") == "1");
}

TEST_CASE("experts and data-parallel attention become the hardware's keys, clients those of all ranks",
          "[validation]") {
  const auto runs = runs_in(
      kSilicon +
      "d,,sglang,0.5.5,deepseek-ai/DeepSeek-V3,h200_sxm,fp8_block,agg,1024,1024,fp8_block,8,1,1,8,8,,,,,,"
      "900,25\n");
  REQUIRE(runs.size() == 1);
  CHECK(setting(runs[0], "hardware.attention_data_parallel") == "8");
  CHECK(setting(runs[0], "hardware.expert_parallel") == "8");
  CHECK(setting(runs[0], "hardware.tensor_parallel") == "(none)");
  CHECK(setting(runs[0], "engine.quantization") == "fp8_block");
  CHECK(setting(runs[0], "workload.clients") == "64");  // 8 a rank
}

TEST_CASE("a disaggregated row is two pools", "[validation]") {
  const auto runs = runs_in(kSilicon +
                            "p,,trtllm,1.0.0,Qwen/Qwen3-32B,h100_sxm,fp8,disagg,4096,512,fp8,,,,,,2,1,1,4,32,"
                            "400,11\n");
  REQUIRE(runs.size() == 1);
  CHECK(setting(runs[0], "engine.policy") == "disaggregated");
  CHECK(runs[0].notes.size() == 1);  // that the pools batch as vLLM's
  CHECK(setting(runs[0], "cluster.pools.prefill.replicas") == "2");
  CHECK(setting(runs[0], "cluster.pools.prefill.tensor_parallel") == "(none)");
  CHECK(setting(runs[0], "cluster.pools.decode.replicas") == "1");
  CHECK(setting(runs[0], "cluster.pools.decode.tensor_parallel") == "4");
  CHECK(setting(runs[0], "workload.clients") == "32");
}

TEST_CASE("figures that cannot be are refused at their place, all of them together", "[validation]") {
  const std::string said =
      refusal(kSilicon +
              "a,,vllm,0.12.0,Qwen/Qwen3-32B,h100_sxm,,agg,4096,128,,8,1,1,,1,,,,,,0,14\n"
              "b,,vllm,0.12.0,Qwen/Qwen3-32B,h100_sxm,,agg,-5,128,,8,1,1,,1,,,,,,10,nan\n"
              "c,,vllm,0.12.0,Qwen/Qwen3-32B,h100_sxm,,static,4096,128,,8,1,1,,1,,,,,,10,-1\n"
              "d,,vllm\n");
  check_says(said, {"FILE:2:", "expected silicon_ttft_ms to be a number above 0, found \"0\"",
                    "expected isl to be a whole number from 1 to 1048576, found \"-5\"",
                    "expected silicon_tpot_ms to be a number above 0, found \"nan\"",
                    "FILE:4:41: expected mode to be agg or disagg, found \"static\"", "found \"-1\"",
                    "FILE:5:8: expected 23 fields as in the header, found 3"});
}

TEST_CASE("after twenty mistakes the rest of a file is not read", "[validation]") {
  std::string text = kOffline;
  for (int i = 0; i < 50; ++i) {
    text += "0.17,Llama-3.1-8B,1,1,H100,FP8,128,128,100,0\n";
  }
  const std::string said = refusal(text);
  CHECK(std::count(said.begin(), said.end(), '\n') + 1 == 20);
}

TEST_CASE("two runs of one name are refused", "[validation]") {
  const std::string row = "a,,vllm,0.12.0,Qwen/Qwen3-32B,h100_sxm,,agg,4096,128,,8,1,1,,1,,,,,,10,14\n";
  check_says(refusal(kSilicon + row + row),
             {"FILE:3: expected a name that no other run has, found \"a\" again"});
}

TEST_CASE("stages of inference-perf: Poisson arrivals for their duration, a shared prefix", "[validation]") {
  const auto runs =
      runs_in(kStages +
              "60,60-lite,meta-llama/"
              "Llama-3.1-70B-Instruct,H100,4,128,8192,30251,100,447,248,9,True,1,6.0,600,54.4,65.8,"
              "18.8,4624.5,71.9\n");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].name == "60-lite stage 1");
  CHECK(runs[0].engine.name == "vllm");
  CHECK(setting(runs[0], "engine.num_gpu_blocks") == "30251");
  CHECK(setting(runs[0], "engine.max_num_seqs") == "128");
  CHECK(setting(runs[0], "engine.max_num_batched_tokens") == "8192");
  CHECK(setting(runs[0], "workload.generator") == "poisson");
  CHECK(setting(runs[0], "workload.rate") == "6 req/s");
  CHECK(setting(runs[0], "workload.requests") == "3600");
  CHECK(setting(runs[0], "workload.shared_prefix.groups") == "9");
  CHECK(setting(runs[0], "workload.shared_prefix.prefix") == "{distribution: fixed, tokens: 100}");
  CHECK(setting(runs[0], "workload.prompt") == "{distribution: fixed, tokens: 447}");
  CHECK(figure(runs[0], "mean_ttft_ms") == 54.4);
  CHECK(figure(runs[0], "p99_ttft_ms") == 65.8);
  CHECK(figure(runs[0], "mean_itl_ms") == 18.8);
  CHECK(figure(runs[0], "mean_e2el_ms") == 4624.5);
  CHECK(runs[0].values.size() == 4);  // what another simulator said is no measurement
}

TEST_CASE("prompts of inference-perf come again: all but their last token is shared", "[validation]") {
  std::string header = kStages;
  header.insert(header.find("multi_turn"), "users_per_group,");
  const auto runs =
      runs_in(header +
              "60,60-lite,meta-llama/"
              "Llama-3.1-70B-Instruct,H100,4,128,8192,30251,100,447,248,9,5,True,1,6.0,600,54.4,65.8,"
              "18.8,4624.5,71.9\n");
  REQUIRE(runs.size() == 1);
  CHECK(setting(runs[0], "workload.shared_prefix.groups") == "45");
  CHECK(setting(runs[0], "workload.shared_prefix.prefix") == "{distribution: fixed, tokens: 546}");
  CHECK(setting(runs[0], "workload.prompt") == "{distribution: fixed, tokens: 1}");
}

TEST_CASE("a row of all stages counts only where its stages are not there", "[validation]") {
  const std::string before =
      "60,lite,meta-llama/Llama-3.1-70B-Instruct,H100,4,128,8192,30251,0,447,248,9,False,";
  const std::string all = before + "-1,2.5+6.0,600+600,53.7,75.9,18.3,4502,\n";
  const std::string stage = before + "0,2.5,600,51.9,88.1,17.0,4207,\n";
  const auto both = runs_in(kStages + all + stage);
  REQUIRE(both.size() == 1);
  CHECK(both[0].name == "lite stage 0");
  CHECK(both[0].notes.size() == 1);  // that the sum was left out
  const auto alone = runs_in(kStages + all);
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].name == "lite all stages");
  // 1500 and 3600 requests in 1200 s.
  CHECK(setting(alone[0], "workload.requests") == "5100");
  CHECK(setting(alone[0], "workload.rate") == "4.25 req/s");
  CHECK(setting(alone[0], "workload.shared_prefix.groups") == "(none)");
}

TEST_CASE("rates and durations that do not belong together are refused", "[validation]") {
  const std::string before =
      "60,lite,meta-llama/Llama-3.1-70B-Instruct,H100,4,128,8192,30251,0,447,248,9,False,";
  check_says(refusal(kStages + before + "-1,2.5+6.0,600,53.7,75.9,18.3,4502,\n"),
             {"expected as many durations as rates, 2, found 1"});
  check_says(refusal(kStages + before + "0,2.5+,600,53.7,75.9,18.3,4502,\n"),
             {"expected rate_rps to be numbers above 0 with + between, found \"2.5+\""});
  check_says(refusal(kStages + before + "0,2.5,600,,,,,\n"), {"expected a figure in ttft_mean_ms"});
}

TEST_CASE("offline throughput of TensorRT-LLM: all at once, weights and KV cache in fp8", "[validation]") {
  const auto runs = runs_in(kOffline +
                            "0.17,Llama-3.1-70B,4,1,H100-SXM-80GB,FP8,2048,128,3000,1234.5\n"
                            "0.17,Llama-3.1-8B,1,1,A100-SXM-80GB,FP16,128,128,30000,6000\n");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].engine.name == "trtllm");
  CHECK(runs[0].engine.version == "0.17");
  CHECK(setting(runs[0], "workload.generator") == "all_at_once");
  CHECK(setting(runs[0], "workload.requests") == "3000");
  CHECK(setting(runs[0], "engine.quantization") == "fp8");
  CHECK(setting(runs[0], "engine.kv_cache_dtype") == "fp8");
  CHECK(setting(runs[0], "hardware.tensor_parallel") == "4");
  CHECK(figure(runs[0], "output_throughput") == 1234.5);
  CHECK(setting(runs[1], "hardware.gpu") == "a100-80gb-sxm");
  CHECK(setting(runs[1], "engine.quantization") == "none");
  CHECK(setting(runs[1], "engine.kv_cache_dtype") == "(none)");
}

TEST_CASE("a model or GPU that is not built in is the scenario's to refuse", "[validation]") {
  const auto runs = runs_in(kOffline + "0.17,acme/Foo-7B,1,1,V100,FP16,128,128,30,6000\n");
  REQUIRE(runs.size() == 1);
  CHECK(setting(runs[0], "model") == "\"Foo-7B\"");
  CHECK(setting(runs[0], "hardware.gpu") == "\"V100\"");
  CHECK(runs[0].notes.size() == 2);
}

TEST_CASE("the format is told by the columns: near ones are named, others listed", "[validation]") {
  check_says(refusal("trtllm_version,model,gpu,isl,osl,num_request,output_tokens_per_s\n"),
             {"FILE:1: expected the column num_requests (TensorRT-LLM offline throughput), found none such",
              "did you mean \"num_request\"?"});
  check_says(refusal("a,b\n1,2\n"), {"FILE: no known columns; measured runs are aiconfigurator silicon (CSV)",
                                     "GuideLLM benchmarks (JSON)"});
  check_says(refusal(kOffline), {"expected runs (TensorRT-LLM offline throughput), found a header alone"});
  check_says(refusal("trtllm_version,model,gpu,isl,osl,num_requests,output_tokens_per_s,isl\n"),
             {"FILE:1:67: expected the column \"isl\" once in the header, found it twice"});
  CHECK(!refusal("").empty());
}
