#include "costmodel/memory_footprint.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/error.hpp"
#include "costmodel/kernels/kernel_work.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/weight_count.hpp"
#include "hardware/profile.hpp"

namespace inferometer {
namespace {

/// Upper bound of the counts in MemorySettings: keeps all products of them inside 64 bits.
constexpr std::int64_t kMaxCount = 100'000'000;

/// vLLM pads the rows of embedding and lm_head to this before it splits them (DEFAULT_VOCAB_PADDING_SIZE).
constexpr std::int64_t kVocabPadding = 64;

/// Live bytes of the forward pass per token, in units of 2 * hidden: aiconfigurator's tables for dense models
/// and mixtures of experts (ai-dynamo/aiconfigurator @095f58a5), by GPUs in the group; between its entries
/// the one for fewer GPUs.
double forward_coefficient(const ModelSpec& model, std::int64_t tensor_parallel) {
  if (model.moe_layers() > 0) {
    return tensor_parallel >= 4 ? 10.0 : tensor_parallel >= 2 ? 13.0 : 22.0;
  }
  if (tensor_parallel >= 4) {
    return 5.0;
  }
  return tensor_parallel >= 2 ? 6.5 : 11.0;
}

/// Least activation memory, same source.
constexpr std::int64_t kLeastActivationBytes = 70LL << 20;

/// Live bytes per logit while top-k/top-p sampling sorts: logits as 16 bit (2), as fp32 (4), sorted values
/// (4) with 64-bit indices (8), probabilities (4) and their running sum (4). vLLM profiles its start-up with
/// such a sampling of max_num_seqs rows. Two starts of Llama-3.1-70B that differ only in
/// max_num_batched_tokens (8192 and 2048) agree: they differ by 228 MB, this formula by 244 MB, the forward
/// pass alone by 503 MB.
constexpr std::int64_t kSamplerBytesPerLogit = 26;
/// TensorRT-LLM keeps the logits in fp32 and samples in place (logits buffer of its decoder).
constexpr std::int64_t kTrtllmBytesPerLogit = 4;

void check_settings(const MemorySettings& settings) {
  Diagnostics diagnostics;
  const auto check_count = [&diagnostics](const char* name, std::int64_t value) {
    if (value < 1 || value > kMaxCount) {
      diagnostics.add(Position{},
                      fmt::format("{} {} is not a whole number from 1 to {}", name, value, kMaxCount));
    }
  };
  check_count("max_num_batched_tokens", settings.max_num_batched_tokens);
  check_count("max_num_seqs", settings.max_num_seqs);
  check_count("block_size", settings.block_size);
  const double utilization = settings.gpu_memory_utilization;
  if (!(utilization > 0.0 && utilization <= 1.0)) {
    diagnostics.add(Position{},
                    fmt::format("gpu_memory_utilization {} is not above 0 and at most 1", utilization));
  }
  diagnostics.throw_if_any();
}

/// Of matrices in a format, scales included.
Bytes matrix_bytes(const ModelSpec& model, std::string_view format, std::int64_t weights) {
  if (format == "bf16") {
    return Bytes(weights * model.weight_bytes);
  }
  return Bytes(static_cast<std::int64_t>(
      std::ceil(static_cast<double>(weights) * weight_format(format).weight_bytes)));
}

/// Finds what is left for KV, and what of the rest is within the budget.
void divide(const MemorySettings& settings, MemoryFootprint& footprint) {
  const Bytes held = footprint.weights + footprint.drafter_weights + footprint.other;
  const Bytes left = footprint.usable - held - footprint.activations;
  switch (settings.kv_memory) {
    case KvMemory::vllm:
      footprint.kv_cache = footprint.budget - held - footprint.activations;
      break;
    case KvMemory::sglang:
      footprint.kv_cache = std::min(footprint.budget - held, left);
      footprint.activations = Bytes(0);
      footprint.budget = held + footprint.kv_cache;
      break;
    case KvMemory::trtllm:
      footprint.kv_cache = left < Bytes(0)
                               ? left
                               : Bytes(static_cast<std::int64_t>(static_cast<double>(left.count()) *
                                                                 settings.gpu_memory_utilization));
      footprint.budget = held + footprint.activations + footprint.kv_cache;
      break;
  }
}

MemoryFootprint stage_footprint(const ModelSpec& model, const GpuSpec& gpu, const ModelSplit& split,
                                const MemorySettings& settings) {
  const std::int64_t tensor_parallel = split.tensor;
  MemoryFootprint footprint;
  footprint.tensor_parallel = tensor_parallel;
  footprint.block_size = settings.block_size;
  footprint.usable = gpu.hbm_usable;
  footprint.budget = Bytes(static_cast<std::int64_t>(
      std::floor(static_cast<double>(gpu.hbm_usable.count()) * settings.gpu_memory_utilization)));
  footprint.weights = weight_bytes_per_gpu(model, split);
  footprint.activations = peak_activation_bytes(model, tensor_parallel, settings);
  footprint.other = kOtherBytes;
  footprint.kv_bytes_per_token = model.kv_bytes_per_token(tensor_parallel);
  if (settings.drafter) {
    footprint.drafter_weights = weight_bytes_per_gpu(*settings.drafter, tensor_parallel);
    footprint.kv_bytes_per_token += settings.drafter->kv_bytes_per_token(tensor_parallel);
  }
  divide(settings, footprint);
  const std::int64_t block_bytes = footprint.kv_bytes_per_token.count() * settings.block_size;
  footprint.blocks =
      BlockCount(std::max<std::int64_t>(footprint.kv_cache.count(), 0) / block_bytes * split.attention_data);
  return footprint;
}

/// Fewer blocks, or, when both have none, more missing for the first.
bool is_tighter(const MemoryFootprint& a, const MemoryFootprint& b) {
  return a.blocks != b.blocks ? a.blocks < b.blocks : a.shortfall() > b.shortfall();
}

}  // namespace

KvMemory kv_memory(std::string_view word) {
  INFEROMETER_CHECK(word == "vllm" || word == "sglang" || word == "trtllm", "tables take no other word");
  return word == "vllm" ? KvMemory::vllm : word == "sglang" ? KvMemory::sglang : KvMemory::trtllm;
}

Bytes MemoryFootprint::shortfall() const {
  const Bytes first_block = kv_bytes_per_token * block_size;
  return kv_cache < first_block ? first_block - kv_cache : Bytes(0);
}

std::int64_t MemoryFootprint::sequences_at(TokenCount context) const {
  INFEROMETER_CHECK(context.count() >= 1, "a sequence has at least one token");
  const std::int64_t of_rank = blocks.count() / attention_data_parallel;
  return of_rank / blocks_for(context, block_size).count() * attention_data_parallel;
}

Bytes weight_bytes_per_gpu(const ModelSpec& model, const ModelSplit& split) {
  shard(model, split.tensor);
  check_experts(model, split);
  const WeightCount layers = count_layer_weights(model, {split.tensor, split.expert, split.expert_tensor()});
  const std::int64_t padded_vocab = ceil_div(model.vocab, kVocabPadding) * kVocabPadding;
  const std::int64_t rows = ceil_div(padded_vocab, split.tensor);
  const std::int64_t final_norm = model.has_head ? model.hidden : 0;
  const std::int64_t plain = layers.routers + layers.vectors + model.joined_projection() + final_norm +
                             model.vocabulary_tables() * rows * model.hidden;
  const Bytes experts = model.moe ? matrix_bytes(model, model.moe->format, layers.expert_matrices) : Bytes(0);
  return matrix_bytes(model, model.weight_format, layers.matrices) + experts +
         Bytes(plain * model.weight_bytes);
}

Bytes peak_activation_bytes(const ModelSpec& model, std::int64_t tensor_parallel,
                            const MemorySettings& settings) {
  const double forward = 2.0 * static_cast<double>(settings.max_num_batched_tokens) *
                         static_cast<double>(model.hidden) * forward_coefficient(model, tensor_parallel);
  const std::int64_t rows =
      model.has_head ? std::min(settings.max_num_seqs, settings.max_num_batched_tokens) : 0;
  const std::int64_t per_logit =
      settings.kv_memory == KvMemory::trtllm ? kTrtllmBytesPerLogit : kSamplerBytesPerLogit;
  const std::int64_t sampler = rows * model.vocab * per_logit;
  return Bytes(std::max({static_cast<std::int64_t>(std::llround(forward)), sampler, kLeastActivationBytes}));
}

MemoryFootprint memory_footprint(const ModelSpec& model, const GpuSpec& gpu, const Parallelism& parallelism,
                                 const MemorySettings& settings) {
  check_settings(settings);
  check_split(model, parallelism);
  std::optional<MemoryFootprint> tightest;
  std::int64_t index = 0;
  for (const ModelSpec& stage : stages_of(model, parallelism.pipeline)) {
    MemoryFootprint footprint = stage_footprint(stage, gpu, parallelism.split(), settings);
    footprint.pipeline_parallel = parallelism.pipeline;
    footprint.attention_data_parallel = parallelism.attention_data;
    footprint.expert_parallel = parallelism.expert;
    footprint.stage = index++;
    if (!tightest || is_tighter(footprint, *tightest)) {
      tightest = footprint;
    }
  }
  return *tightest;
}

namespace {

/// Whether so many GPUs hold the model and one such sequence. A split that is not possible holds nothing.
bool holds(const ModelSpec& model, const GpuSpec& gpu, const Parallelism& parallelism,
           const MemorySettings& settings, TokenCount sequence) {
  check_settings(settings);  // bad settings are the caller's mistake
  try {
    return memory_footprint(model, gpu, parallelism, settings).sequences_at(sequence) > 0;
  } catch (const ConfigError&) {
    return false;
  }
}

}  // namespace

std::optional<std::int64_t> smallest_fitting_tensor_parallel(const ModelSpec& model, const GpuSpec& gpu,
                                                             const MemorySettings& settings,
                                                             TokenCount sequence) {
  for (std::int64_t degree = 1; degree <= kMaxTensorParallel; degree *= 2) {
    if (holds(model, gpu, in_one_node(degree), settings, sequence)) {
      return degree;
    }
  }
  return std::nullopt;
}

std::optional<Parallelism> smallest_fitting_parallelism(const ModelSpec& model, const GpuSpec& gpu,
                                                        std::int64_t most_gpus,
                                                        const MemorySettings& settings, TokenCount sequence) {
  for (std::int64_t gpus = 1; gpus <= most_gpus; gpus *= 2) {
    for (std::int64_t degree = std::min(gpus, kMaxTensorParallel); degree >= 1; degree /= 2) {
      Parallelism parallelism = in_one_node(degree);
      parallelism.pipeline = gpus / degree;
      if (holds(model, gpu, parallelism, settings, sequence)) {
        return parallelism;
      }
    }
  }
  return std::nullopt;
}

}  // namespace inferometer
