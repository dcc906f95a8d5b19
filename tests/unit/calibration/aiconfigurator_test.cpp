// Tables of aiconfigurator. Rows are written by hand; what they mean follows from the description of the
// tables in calibration/README.md.

#include "tests/unit/calibration/measurement_test_support.hpp"

namespace inferometer {
namespace {

using test::calls_of;
using test::complaint_about;
using test::Lines;
using test::set_of;
using test::sets_of;

const std::string kH100 = "# framework=VLLM;version=0.24.0;device=NVIDIA H100 80GB HBM3;";

}  // namespace

TEST_CASE("constant columns of the first line hold for all rows", "[aiconfigurator]") {
  const Measurements set = set_of(kH100 +
                                  "op_name=gemm\n"
                                  "kernel_source,gemm_dtype,m,n,k,latency\n"
                                  "linear,bfloat16,16,4096,4096,0.0125\n"
                                  "cutlass,fp8,128,8192,1024,0.25\n");
  CHECK(set.header.gpu == "h100-sxm");
  CHECK(set.header.device == "NVIDIA H100 80GB HBM3");
  CHECK(set.header.library == "vllm");
  CHECK(set.header.library_version == "0.24.0");
  CHECK(set.header.source == "ai-dynamo/aiconfigurator");
  CHECK(calls_of(set) == Lines{"gemm bf16 m=16 n=4096 k=4096", "gemm fp8 m=128 n=8192 k=1024"});
  CHECK(set.points[0].seconds == 12.5e-6);
  CHECK(set.points[1].seconds == 250e-6);
  CHECK(set.points[1].kernel == "cutlass");
  CHECK(set.points[1].where.line == 4);
  CHECK(set.suspects.empty());
  CHECK(set.notes.empty());
}

TEST_CASE("a plain header may change the framework from row to row", "[aiconfigurator]") {
  const auto sets = sets_of(
      "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n"
      "TRTLLM,1.0.0,NVIDIA A100-SXM4-80GB,gemm,torch_flow,bfloat16,1,4096,4096,0.02\n"
      "SGLang,0.5,NVIDIA H200,gemm,triton,bfloat16,1,4096,4096,0.02\n"
      "TRTLLM,1.0.0,NVIDIA A100-SXM4-80GB,gemm,torch_flow,sq,1,4096,4096,0.02\n");
  REQUIRE(sets.size() == 2);
  CHECK(sets[0].header.library == "tensorrt-llm");
  CHECK(sets[0].header.gpu == "a100-80gb-sxm");
  CHECK(calls_of(sets[0]) == Lines{"gemm bf16 m=1 n=4096 k=4096", "gemm int8 m=1 n=4096 k=4096"});
  CHECK(sets[1].header.library == "sglang");
  CHECK(sets[1].header.gpu == "h200-sxm");
  CHECK(calls_of(sets[1]) == Lines{"gemm bf16 m=1 n=4096 k=4096"});
}

TEST_CASE("every known format of weights has its variant", "[aiconfigurator]") {
  std::string text = kH100 + "op_name=gemm\ngemm_dtype,m,n,k,latency\n";
  for (const char* format : {"bfloat16", "float16", "fp8", "fp8_static", "fp8_block", "sq", "int8_wo",
                             "int4_wo", "nvfp4", "w4a16_mxfp4", "w4a8_mxfp4_mxfp8", "w4afp8"}) {
    text += format + std::string(",1,64,64,0.01\n");
  }
  const Measurements set = set_of(text);
  Lines variants;
  for (const MeasuredKernel& point : set.points) {
    variants.push_back(point.call.variant);
  }
  CHECK(variants == Lines{"bf16", "bf16", "fp8", "fp8", "fp8_block", "int8", "int8_weights", "int4_weights",
                          "fp4", "mxfp4_weights", "mxfp4"});
  REQUIRE(set.notes.size() == 1);
  CHECK(set.notes[0].ends_with("t.csv: 1 row left out: no variant stands for w4afp8"));
}

TEST_CASE("attention of a prompt has past tokens, and as many KV heads as heads where 0 stands",
          "[aiconfigurator]") {
  const Measurements set = set_of(kH100 +
                                  "op_name=context_attention;beam_width=1\n"
                                  "kernel_source,batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_"
                                  "dtype,kv_cache_dtype,window_size,"
                                  "step,latency\n"
                                  "fa3,4,1024,32,8,128,bfloat16,bfloat16,0,0,0.4\n"
                                  "fa3,2,512,32,0,128,bfloat16,fp8,128,2048,0.4\n"
                                  "fa3,1,512,32,8,64,fp8,fp8,0,0,0.4\n");
  CHECK(calls_of(set) ==
        Lines{"prefill_attention bf16 batch=4 tokens=1024 past=0 heads=32 kv_heads=8 head_dim=128 "
              "window=0",
              "prefill_attention fp8_kv batch=2 tokens=512 past=2048 heads=32 kv_heads=32 "
              "head_dim=128 window=128",
              "prefill_attention fp8 batch=1 tokens=512 past=0 heads=32 kv_heads=8 head_dim=64 "
              "window=0"});
}

TEST_CASE("a decode attends its past and itself", "[aiconfigurator]") {
  const Measurements set =
      set_of(kH100 +
             "op_name=generation_attention;attn_dtype=bfloat16;head_dim=128\n"
             "batch_size,num_heads,num_key_value_heads,kv_cache_dtype,step,isl,beam_width,latency\n"
             "32,32,8,bfloat16,1023,1,1,0.1\n"
             "8,64,0,fp8,1,1,1,0.02\n"
             "8,64,0,fp8,1,4,1,0.02\n"
             "8,64,0,fp8,1,1,2,0.02\n");
  CHECK(calls_of(set) ==
        Lines{"decode_attention bf16 batch=32 context=1024 heads=32 kv_heads=8 head_dim=128 window=0",
              "decode_attention fp8_kv batch=8 context=2 heads=64 kv_heads=64 head_dim=128 "
              "window=0"});
  REQUIRE(set.notes.size() == 2);
  CHECK(set.notes[0].ends_with(": 1 row left out: several new tokens in a decode"));
  CHECK(set.notes[1].ends_with(": 1 row left out: beam search"));
}

TEST_CASE("experts have the skew of their popularity", "[aiconfigurator]") {
  const Measurements set = set_of(
      kH100 +
      "op_name=moe\n"
      "kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,"
      "distribution,latency\n"
      "cutlass,fp8,16,4096,1536,8,128,2,4,power_law_1.2,0.3\n"
      "cutlass,w4a16_mxfp4,16,4096,1536,8,128,2,4,balanced,0.3\n"
      "moe_torch_flow_nongated,fp8,16,4096,1536,8,128,2,4,balanced,0.3\n"
      "compressedtensorsw4a4mxfp4moe_marlin,w4a16_mxfp4,16,4096,1536,8,128,2,4,balanced,0.3\n"
      "wna16marlinmoe_marlin,int4_wo,16,4096,1536,8,128,2,4,balanced,0.3\n");
  CHECK(calls_of(set) == Lines{"moe fp8 tokens=16 hidden=4096 ffn=1536 experts=128 top_k=8 tensor_parallel=2 "
                               "expert_parallel=4 skew=1.2",
                               "moe mxfp4_weights tokens=16 hidden=4096 ffn=1536 experts=128 top_k=8 "
                               "tensor_parallel=2 expert_parallel=4 skew=0",
                               "moe int4_weights tokens=16 hidden=4096 ffn=1536 experts=128 top_k=8 "
                               "tensor_parallel=2 expert_parallel=4 skew=0"});
  REQUIRE(set.notes.size() == 2);
  CHECK(set.notes[0].ends_with(": 1 row left out: experts without a gate"));
  CHECK(set.notes[1].ends_with(": 1 row left out: mxfp4 experts run by Marlin"));
}

TEST_CASE("sizes of collectives are elements of their format", "[aiconfigurator]") {
  const Measurements custom = set_of(kH100 +
                                     "op_name=all_reduce;allreduce_dtype=bfloat16\n"
                                     "kernel_source,num_gpus,message_size,latency,backend\n"
                                     "vLLM_custom_graph,2,128,0.0043,vllm_graph\n"
                                     "vLLM_custom_eager,8,4096,0.0206,vllm_eager\n");
  CHECK(calls_of(custom) ==
        Lines{"collective all_reduce gpus=2 bytes=256", "collective all_reduce_eager gpus=8 bytes=8192"});

  const Measurements nccl = set_of(
      "# framework=TRTLLM;version=2.29.2;device=NVIDIA H200;kernel_source=NCCL\n"
      "op_name,nccl_dtype,num_gpus,message_size,latency\n"
      "all_gather,half,2,256,0.0053\n"
      "alltoall,half,4,256,0.0053\n"
      "reduce_scatter,int8,8,512,0.0053\n"
      "all_reduce,half,8,512,0.0053\n"
      "broadcast,half,8,512,0.0053\n");
  CHECK(nccl.header.library == "nccl");
  CHECK(nccl.header.library_version == "2.29.2");
  CHECK(calls_of(nccl) ==
        Lines{"collective all_gather gpus=2 bytes=512", "collective all_to_all gpus=4 bytes=512",
              "collective reduce_scatter gpus=8 bytes=512", "collective nccl_all_reduce gpus=8 bytes=1024"});
  REQUIRE(nccl.notes.size() == 1);
  CHECK(nccl.notes[0].ends_with(": 1 row left out: no family for the operation broadcast"));
}

TEST_CASE("latent attention: heads of one GPU, the new token of a decode counts", "[aiconfigurator]") {
  const Measurements context = set_of(kH100 +
                                      "op_name=mla_context;mla_dtype=bfloat16;step=0\n"
                                      "kv_cache_dtype,num_heads,batch_size,isl,tp_size,latency\n"
                                      "bfloat16,16,4,512,8,0.05\nfp8,128,1,1,1,0.0162\n");
  CHECK(calls_of(context) == Lines{"mla_prefill bf16 batch=4 tokens=512 past=0 heads=16",
                                   "mla_prefill fp8_kv batch=1 tokens=1 past=0 heads=128"});
  CHECK(context.notes.empty());
  const Measurements generation = set_of(kH100 +
                                         "op_name=generation_mla;mla_dtype=bfloat16;kv_cache_dtype=fp8\n"
                                         "num_heads,batch_size,isl,tp_size,step,latency\n"
                                         "128,2,1,1,1023,0.02\n128,2,2,1,1023,0.02\n");
  CHECK(calls_of(generation) == Lines{"mla_decode fp8_kv batch=2 context=1024 heads=128"});

  const Measurements whole_layers = set_of(kH100 +
                                           "op_name=generation_mla;kernel_source=vllm_triton_mla;isl=1;"
                                           "mla_dtype=bfloat16;kv_cache_dtype=bfloat16\n"
                                           "num_heads,batch_size,step,latency\n"
                                           "128,1,1,0.31\n");
  CHECK(whole_layers.points.empty());
  REQUIRE(whole_layers.notes.size() == 1);
  CHECK(whole_layers.notes[0].ends_with(": 1 row left out: latent attention with its projections"));
  REQUIRE(generation.notes.size() == 1);
  CHECK(generation.notes[0].ends_with(": 1 row left out: several new tokens in a decode"));
}

TEST_CASE("operations without a family and columns without an axis are said", "[aiconfigurator]") {
  const Measurements encoder = set_of(kH100 +
                                      "op_name=encoder_attention;attn_dtype=bfloat16\n"
                                      "num_heads,batch_size,isl,latency\n128,1,1,0.01\n128,1,2,0.01\n");
  CHECK(encoder.points.empty());
  REQUIRE(encoder.notes.size() == 1);
  CHECK(encoder.notes[0].ends_with("t.csv: 2 rows left out: no family for the operation encoder_attention"));

  const Measurements power = set_of(kH100 +
                                    "op_name=gemm;gemm_dtype=fp8\n"
                                    "m,n,k,latency,power,power_limit\n1,64,64,0.01,300,700\n");
  REQUIRE(power.notes.size() == 1);
  CHECK(power.notes[0].ends_with("t.csv: columns not used: power and power_limit"));
}

TEST_CASE("the GPU is that of the file, else of the path, else the one the user names", "[aiconfigurator]") {
  const std::string rows = "op_name=gemm;gemm_dtype=bfloat16\nm,n,k,latency\n1,64,64,0.01\n";
  const std::string unknown = "# framework=VLLM;version=1;device=NVIDIA H900;" + rows;
  CHECK(set_of(kH100 + rows, "a100_sxm.csv", "l4").header.gpu == "h100-sxm");
  CHECK(set_of(unknown, "a100_sxm-gemm.csv").header.gpu == "a100-80gb-sxm");
  CHECK(set_of(unknown, "b200_sxm.csv").header.gpu == "b200-sxm");
  CHECK(set_of(unknown, "l40s.csv").header.gpu == "l40s");
  CHECK(set_of(unknown, "t.csv", "l4").header.gpu == "l4");
  CHECK(set_of(kH100 + rows, "t.csv", "l4")
            .notes.front()
            .ends_with("t.csv: taken for h100-sxm, as the file or its path says, not l4"));
  CHECK(complaint_about(unknown).starts_with(
      "t.csv: the device \"NVIDIA H900\" is none of ours, and its path names "
      "no GPU; name it with --gpu (built in: a100-40gb-pcie, "));
}

}  // namespace inferometer
