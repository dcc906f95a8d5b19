// Feeds bytes to the readers of measurements. The first byte chooses a beginning that leads into one of the
// forms (or none, so that the form is found from the bytes); the rest is the file. Whatever the bytes are,
// reading ends with points whose work and time are finite and that a record file gives back, or with an
// InputError.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "calibration/record/measurement_file.hpp"
#include "calibration/record/write_measurements.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace {

constexpr std::array<std::string_view, 12> kBeginnings{
    "",
    "# framework=VLLM;version=1;device=NVIDIA L4;op_name=gemm\ngemm_dtype,m,n,k,latency\n",
    "# framework=TRTLLM;version=1;device=NVIDIA H200;op_name=context_attention;attn_dtype=fp8\n"
    "batch_size,isl,step,num_heads,num_key_value_heads,head_dim,window_size,kv_cache_dtype,latency\n",
    "# framework=VLLM;version=1;device=NVIDIA L4;op_name=generation_attention;attn_dtype=bfloat16;isl=1\n"
    "batch_size,step,num_heads,num_key_value_heads,head_dim,window_size,kv_cache_dtype,latency\n",
    "# framework=VLLM;version=1;device=NVIDIA L4;op_name=moe;moe_dtype=bfloat16\n"
    "num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency\n",
    "# framework=TRTLLM;version=1;device=NVIDIA L4;kernel_source=NCCL\n"
    "op_name,nccl_dtype,num_gpus,message_size,latency\n",
    "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n",
    "{\"schema\":\"inferometer-measurements/1\",\"gpu\":\"l4\",\"library\":\"x\"}\n",
    "time_stats.attn_pre_proj.median,time_stats.mlp_act.median,n_head,n_kv_head,n_embd,n_expanded_embd,"
    "use_gated_mlp,num_tokens,num_tensor_parallel_workers\n",
    "time_stats.attn_prefill.median,time_stats.attn_decode.median,n_embd,n_q_head,n_kv_head,"
    "num_tensor_parallel_workers,batch_size,prefill_chunk_size,kv_cache_size,is_prefill\n",
    "time_stats.all_reduce.median,num_workers,size,collective,devices_per_node\n",
    "schedule_median,sampler_e2e_median,batch_size,tensor_parallel_degree\n"};

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

std::vector<inferometer::Measurements> read(const std::string& text) {
  static const inferometer::GpuNames gpus;
  inferometer::LineSource lines(inferometer::bytes_in_memory(text), "measurements");
  return inferometer::read_measurement_file(lines, true, gpus, {"h100-sxm"});
}

void check(const inferometer::MeasuredKernel& point) {
  require(std::isfinite(point.seconds) && point.seconds > 0);
  const inferometer::KernelWork work = inferometer::kernel_work(point.call);
  require(std::isfinite(work.flops) && work.flops >= 0);
  require(std::isfinite(work.hbm_bytes) && work.hbm_bytes >= 0);
  require(std::isfinite(work.link_bytes) && work.link_bytes >= 0);
}

/// A table may hold names that are no UTF-8, and a GPU whose times are plausible in ms only: the record of
/// what was read must still be one that is read, to the same text.
void check_record(const inferometer::Measurements& set) {
  if (set.points.empty()) {
    return;
  }
  const std::string text = inferometer::record_text(set);
  const std::vector<inferometer::Measurements> again = read(text);
  require(again.size() == 1 && again.front().points.size() == set.points.size());
  require(inferometer::record_text(again.front()) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  std::string text(kBeginnings[data[0] % kBeginnings.size()]);
  text.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<inferometer::Measurements> sets;
  try {
    sets = read(text);
  } catch (const inferometer::InputError&) {
    return 0;
  }
  for (const inferometer::Measurements& set : sets) {
    for (const inferometer::MeasuredKernel& point : set.points) {
      check(point);
    }
    check_record(set);
  }
  return 0;
}
