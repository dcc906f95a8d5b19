// Tables of Vidur. Shapes follow by hand from the model's figures and the tensor parallel workers, as
// calibration/README.md says.

#include "tests/unit/calibration/measurement_test_support.hpp"

namespace inferometer {
namespace {

using test::calls_of;
using test::complaint_about;
using test::Lines;
using test::set_of;

}  // namespace

TEST_CASE("a row of mlp.csv is the operators of a layer", "[vidur]") {
  const Measurements set = set_of(
      "time_stats.emb.median,time_stats.input_layernorm.median,time_stats.attn_pre_proj.median,"
      "time_stats.attn_rope.median,time_stats.attn_post_proj.median,time_stats.post_attention_layernorm."
      "median,"
      "time_stats.mlp_up_proj.median,time_stats.mlp_act.median,time_stats.mlp_down_proj.median,"
      "time_stats.add.median,n_head,n_kv_head,n_embd,n_expanded_embd,vocab_size,use_gated_mlp,num_tokens,"
      "num_tensor_parallel_workers\n"
      "0.01,0.02,0.1,0.03,0.05,0,0.2,0.04,0.15,0.035,64,8,8192,28672,32768,True,256,4\n",
      "h100_mlp.csv");
  CHECK(set.header.gpu == "h100-sxm");
  CHECK(set.header.library == "vidur");
  CHECK(set.header.source == "microsoft/vidur");
  // Head size 8192 / 64 = 128. Of four workers each has 16 heads (2048 wide), 2 KV heads (256) and 7168 of
  // the 28672. Query, keys and values: 2048 + 2 * 256; rotated are 2048 + 256.
  CHECK(calls_of(set) == Lines{"elementwise embedding tokens=256 width=8192",
                               "elementwise norm tokens=256 width=8192", "gemm bf16 m=256 n=2560 k=8192",
                               "elementwise rope tokens=256 width=2304", "gemm bf16 m=256 n=8192 k=2048",
                               "gemm bf16 m=256 n=14336 k=8192", "elementwise silu_mul tokens=256 width=7168",
                               "gemm bf16 m=256 n=8192 k=7168", "elementwise add tokens=256 width=8192"});
  CHECK(set.points[0].seconds == 10e-6);
  CHECK(set.points[2].seconds == 100e-6);
  REQUIRE(set.notes.size() == 1);
  CHECK(set.notes[0].ends_with(": 1 row left out: a time of 0, which is less than half a microsecond"));
}

TEST_CASE("a layer without a gate has one projection up", "[vidur]") {
  const Measurements set = set_of(
      "time_stats.mlp_up_proj.median,time_stats.mlp_act.median,time_stats.mlp_gate.median,n_head,n_kv_head,n_"
      "embd,"
      "n_expanded_embd,use_gated_mlp,num_tokens,num_tensor_parallel_workers\n"
      "0.2,0.04,0.1,32,32,4096,16384,False,256,1\n",
      "a100.csv");
  CHECK(calls_of(set) == Lines{"gemm bf16 m=256 n=16384 k=4096"});
  REQUIRE(set.notes.size() == 2);
  CHECK(
      set.notes[0].ends_with(": 1 row left out: an activation without a gate, for which no variant stands"));
  CHECK(set.notes[1].ends_with(": columns not used: time_stats.mlp_gate.median"));
}

TEST_CASE("attention.csv has both phases in one table", "[vidur]") {
  const Measurements set = set_of(
      "time_stats.attn_decode.median,time_stats.attn_prefill.median,n_embd,n_q_head,n_kv_head,block_size,"
      "num_tensor_parallel_workers,max_model_len,batch_size,prefill_chunk_size,kv_cache_size,is_prefill,"
      "attention_backend\n"
      "0.015,,8192,64,8,16,2,4096,4,0,1023,False,AttentionBackend.FLASH_ATTENTION\n"
      ",0.05,8192,64,8,16,2,4096,1,512,1024,True,AttentionBackend.FLASHINFER\n",
      "a100_attention.csv");
  CHECK(set.header.gpu == "a100-80gb-sxm");
  CHECK(calls_of(set) ==
        Lines{"decode_attention bf16 batch=4 context=1024 heads=32 kv_heads=4 head_dim=128 window=0",
              "prefill_attention bf16 batch=1 tokens=512 past=1024 heads=32 kv_heads=4 head_dim=128 "
              "window=0"});
  REQUIRE(set.points.size() == 2);
  CHECK(set.points[1].seconds == 50e-6);
  CHECK(set.points[1].kernel == "AttentionBackend.FLASHINFER");
}

TEST_CASE("collectives within a node are taken, in bytes", "[vidur]") {
  const Measurements set = set_of(
      ",time_stats.all_reduce.median,rank,num_workers,size,collective,devices_per_node,max_devices_per_node\n"
      "0,0.04,0,4,2048,all_reduce,4,8\n"
      "1,0.05,1,4,2048,all_reduce,4,8\n"
      "2,0.07,0,16,2048,all_reduce,8,8\n"
      "3,0.07,0,4,2048,broadcast,4,8\n",
      "a100_dgx.csv");
  CHECK(calls_of(set) == Lines{"collective nccl_all_reduce gpus=4 bytes=2048",
                               "collective nccl_all_reduce gpus=4 bytes=2048"});
  REQUIRE(set.notes.size() == 2);
  CHECK(set.notes[0].ends_with(": 1 row left out: between nodes"));
  CHECK(set.notes[1].ends_with(": 1 row left out: the collective broadcast"));
}

TEST_CASE("CPU overheads are read in all three forms", "[vidur]") {
  // Without launch times.
  const Measurements first = set_of(
      ",schedule_mean,schedule_median,sampler_e2e_median,prepare_inputs_e2e_median,model_execution_e2e_"
      "median,"
      "process_model_outputs_median,model_name,batch_size,tensor_parallel_degree,ray_comm_time_mean\n"
      "0,9,0.04,0.65,0.14,29.4,0.31,codellama/CodeLlama-34b,8,2,2.5\n",
      "a100.csv");
  CHECK(calls_of(first) == Lines{"host schedule sequences=8 gpus=2", "host prepare_inputs sequences=8 gpus=2",
                                 "host sample sequences=8 gpus=2",
                                 "host process_outputs sequences=8 gpus=2"});
  CHECK(first.points[0].seconds == 40e-6);
  CHECK(first.points[3].seconds == 310e-6);
  CHECK(first.points[0].kernel == "codellama/CodeLlama-34b");
  REQUIRE(first.notes.size() == 1);
  CHECK(first.notes[0].ends_with(": model_execution_e2e_median not used: the GPU's time is in it"));

  // With them, and in capitals.
  const Measurements last = set_of(
      ",SCHEDULE_MEDIAN,SAMPLER_LAUNCH_MEDIAN,SAMPLER_E2E_MEDIAN,PREPARE_INPUTS_E2E_MEDIAN,"
      "MODEL_EXECUTION_LAUNCH_MEDIAN,PROCESS_MODEL_OUTPUTS_MEDIAN,model_name,batch_size,tensor_parallel_"
      "degree,"
      "RAY_COMM_TIME_MEDIAN\n"
      "0,0.16,0.8,0.88,0.29,0.05,0.62,meta-llama/Llama-2-7b-hf,16,1,0.15\n",
      "a100.csv");
  CHECK(calls_of(last).back() == "host execute sequences=16 gpus=1");
  CHECK(last.points.size() == 5);
  CHECK(last.points[4].seconds == 50e-6);
}

TEST_CASE("what is wrong in a table of Vidur's", "[vidur]") {
  const std::string header =
      "time_stats.mlp_up_proj.median,n_head,n_kv_head,n_embd,n_expanded_embd,use_gated_mlp,num_tokens,"
      "num_tensor_parallel_workers\n";
  CHECK(complaint_about(header + "0.2,32,32,4096,16384,yes,256,3\n", "h100.csv") ==
        "h100.csv:2:5: n_head 32 does not divide by the tensor parallel workers\n"
        "h100.csv:2:8: n_kv_head 32 does not divide by the tensor parallel workers\n"
        "h100.csv:2:16: n_expanded_embd 16384 does not divide by the tensor parallel workers\n"
        "h100.csv:2:22: expected use_gated_mlp to be True or False, found \"yes\"");
  CHECK(complaint_about("time_stats.attn_prefil.median,kv_cache_size\n", "h100.csv")
            .starts_with("h100.csv:1: no column \"time_stats.attn_prefill.median\"; did you mean "
                         "\"time_stats.attn_prefil.median\"?\n"));
}

}  // namespace inferometer
