#pragma once

// Models and GPUs written out by hand, so that a test of prices does not depend on the readers of files.

#include <string>
#include <utility>

#include "costmodel/model_spec.hpp"
#include "hardware/gpu_spec.hpp"
#include "hardware/profile.hpp"

namespace inferometer::samples {

/// Meta-Llama-3-8B, config.json of meta-llama/Meta-Llama-3-8B.
inline ModelSpec llama_3_8b() {
  ModelSpec model;
  model.name = "llama-3-8b";
  model.architecture = "LlamaForCausalLM";
  model.layers = 32;
  model.hidden = 4096;
  model.heads = 32;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.ffn = 14336;
  model.vocab = 128256;
  model.max_positions = 8192;
  return model;
}

/// Few, odd sizes, every option on: mistakes in a formula cannot hide behind round numbers.
inline ModelSpec odd_model() {
  ModelSpec model;
  model.name = "odd";
  model.layers = 3;
  model.hidden = 40;
  model.heads = 8;
  model.kv_heads = 2;
  model.head_dim = 6;
  model.ffn = 50;
  model.vocab = 101;
  model.max_positions = 1000;
  model.qk_norm = true;
  model.attention_bias = true;
  model.output_bias = true;
  return model;
}

/// The same with a window on all layers but the second.
inline ModelSpec odd_mixed_model(std::int64_t window) {
  ModelSpec model = odd_model();
  model.sliding_window = window;
  model.full_layers = {1};
  return model;
}

/// The same with latent attention, its queries compressed or not.
inline ModelSpec odd_latent_model(std::int64_t q_rank = 11) {
  ModelSpec model = odd_model();
  model.qk_norm = model.attention_bias = model.output_bias = false;
  model.kv_heads = model.heads;
  model.latent = {.q_rank = q_rank, .kv_rank = 14, .rope_dim = 4, .nope_dim = 6, .value_dim = 5};
  model.head_dim = 10;
  return model;
}

/// DeepSeek-V3 as far as its attention goes, config.json of deepseek-ai/DeepSeek-V3, with dense layers.
inline ModelSpec deepseek_v3_dense() {
  ModelSpec model;
  model.name = "deepseek-v3";
  model.architecture = "DeepseekV3ForCausalLM";
  model.layers = 61;
  model.hidden = 7168;
  model.heads = 128;
  model.kv_heads = 128;
  model.head_dim = 192;
  model.ffn = 18432;
  model.vocab = 129280;
  model.max_positions = 163840;
  model.latent = {.q_rank = 1536, .kv_rank = 512, .rope_dim = 64, .nope_dim = 128, .value_dim = 128};
  return model;
}

inline GpuSpec gpu(std::string name, double tflops, double terabytes_per_s, double link_gigabytes_per_s) {
  GpuSpec spec;
  spec.name = std::move(name);
  spec.title = spec.name;
  spec.bf16_peak = FlopsPerSecond(tflops * 1e12);
  spec.hbm_bandwidth = BytesPerSecond(terabytes_per_s * 1e12);
  spec.hbm_capacity = Bytes(80'000'000'000);
  spec.hbm_usable = spec.hbm_capacity;
  spec.nvlink_per_direction = BytesPerSecond(link_gigabytes_per_s * 1e9);
  spec.pcie_per_direction = BytesPerSecond(31.5e9);
  return spec;
}

/// Datasheet figures: NVIDIA A100 80GB SXM, H100 SXM5, H200 SXM.
inline GpuSpec a100() {
  return gpu("a100-80gb-sxm", 312, 2.039, 300);
}
inline GpuSpec h100() {
  return gpu("h100-sxm", 989, 3.35, 450);
}
inline GpuSpec h200() {
  return gpu("h200-sxm", 989, 4.8, 450);
}

/// One PFLOP/s and one TB/s: a FLOP takes 1 fs, a byte 1 ps.
inline GpuSpec round_gpu() {
  return gpu("round", 1000, 1, 100);
}

/// Round figures, all different.
inline Profile round_profile() {
  Profile profile;
  profile.gpu = "round";
  profile.gemm = {microseconds(4), 0.5, 0.8};
  profile.decode_attention = {microseconds(10), 0.4, 0.9};
  profile.decode_per_sequence_head = nanoseconds(20);
  profile.prefill_attention = {microseconds(12), 0.25, 0.5};
  profile.overhang_tokens = 101;
  profile.elementwise = {microseconds(3), 1, 0.8};
  profile.all_reduce = {LinkEfficiency{microseconds(5), 0.5}, LinkEfficiency{microseconds(6), 0.6},
                        LinkEfficiency{microseconds(7), 0.8}};
  return profile;
}

}  // namespace inferometer::samples
