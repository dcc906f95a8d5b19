#pragma once

// What of a GPU's memory a model takes, and how many KV cache blocks the rest holds: the arithmetic a serving
// engine does at start-up. Who uses it: the `memory` command, and runs that do not state num_gpu_blocks
// themselves.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/parallelism.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Whose arithmetic finds the memory for KV.
enum class KvMemory {
  vllm,    ///< gpu_memory_utilization of the GPU's, less weights, peak activations and the rest
  sglang,  ///< mem_fraction_static of it, less weights and the rest; activations must fit beside it
  trtllm,  ///< free_gpu_memory_fraction of what weights, activations and the rest leave
};
/// Their words: "vllm", "sglang", "trtllm".
inline constexpr std::array<std::string_view, 3> kKvMemoryWords{"vllm", "sglang", "trtllm"};
/// Precondition: one of kKvMemoryWords.
KvMemory kv_memory(std::string_view word);

/// The engine's settings that decide over memory, under vLLM's names. Ranges: the counts are at least 1, the
/// utilization above 0 and at most 1.
struct MemorySettings {
  std::int64_t max_num_batched_tokens = 2048;
  std::int64_t max_num_seqs = 256;
  double gpu_memory_utilization = 0.9;  ///< or the engine's share of that kind: see KvMemory
  KvMemory kv_memory = KvMemory::vllm;
  std::int64_t block_size = 16;
  /// What drafts tokens beside the model, as far as it has weights and KV of its own; split as the model is.
  std::optional<ModelSpec> drafter{};
};

/// Memory of one GPU of the group. usable >= budget = weights + drafter_weights + activations + other +
/// kv_cache. Of a pipeline these are the GPUs of the stage that holds the fewest KV cache blocks: all stages
/// have as many as it has, since each keeps the KV of its layers for every token.
struct MemoryFootprint {
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  std::int64_t attention_data_parallel = 1;
  std::int64_t expert_parallel = 1;
  std::int64_t stage = 0;  ///< that stage, counted from 0; the first of several alike
  std::int64_t block_size = 16;
  Bytes usable;              ///< what a process sees
  Bytes budget;              ///< what the engine takes of it: usable * gpu_memory_utilization, but for trtllm
  Bytes weights;             ///< this GPU's shard
  Bytes drafter_weights;     ///< of what drafts tokens beside the model
  Bytes activations;         ///< at the peak of a step; 0 for sglang, where they are outside the budget
  Bytes other;               ///< CUDA context, communication buffers, allocator: see kOtherBytes
  Bytes kv_cache;            ///< the rest; negative when the other parts pass the budget
  Bytes kv_bytes_per_token;  ///< the drafter's included
  BlockCount blocks;         ///< whole blocks in kv_cache; of all ranks of attention together

  /// At least one block of KV cache.
  [[nodiscard]] bool fits() const { return blocks.count() > 0; }
  /// Missing for the first block; zero when it fits.
  [[nodiscard]] Bytes shortfall() const;
  [[nodiscard]] TokenCount tokens() const { return TokenCount(blocks.count() * block_size); }
  /// Sequences of so many tokens whose whole KV fits at once, each on one rank of attention. Blocks below a
  /// sliding window count as kept. Precondition: context >= 1.
  [[nodiscard]] std::int64_t sequences_at(TokenCount context) const;
};

/// What a started process holds besides weights, activations and KV cache. Fitted: of the vLLM starts with
/// known block counts that we could find (0.15.1 on H100, Llama-3.1-70B over 4 GPUs and Mistral-Nemo-12B on
/// one; 0.2 on A100-80GB, Llama-2-7B), the other parts leave 0.95 to 1.16 GB unexplained, with no visible
/// growth with the number of GPUs. The range agrees with the usual 0.3-1 GB of context and NCCL plus
/// fragmentation.
inline constexpr Bytes kOtherBytes{1'050'000'000};

/// Bytes of the weights of a model, or of a stage of a pipeline, on one GPU: attention heads, FFN columns and
/// vocabulary rows are split, KV heads repeated beyond their number, norms and the output bias on every GPU,
/// experts as the split says;
/// the vocabulary is padded to a multiple of 64, as vLLM does. Throws ConfigError when the model cannot be
/// split so.
Bytes weight_bytes_per_gpu(const ModelSpec& model, const ModelSplit& split);

/// Peak of activations on one GPU: the larger of the forward pass over max_num_batched_tokens and, where the
/// model has its head, the sampler over max_num_seqs rows of logits. The forward pass was measured for groups
/// of up to 8 GPUs; larger ones take as much.
Bytes peak_activation_bytes(const ModelSpec& model, std::int64_t tensor_parallel,
                            const MemorySettings& settings);

/// Throws ConfigError for settings out of range and for a parallelism that cannot split the model; a model
/// that does not fit is a result. Links do not matter. O(stages).
MemoryFootprint memory_footprint(const ModelSpec& model, const GpuSpec& gpu, const Parallelism& parallelism,
                                 const MemorySettings& settings);

/// The smallest power of two, up to the GPUs of one node, over which the model fits with one sequence of so
/// many tokens; nullopt when none does. Precondition: sequence >= 1.
std::optional<std::int64_t> smallest_fitting_tensor_parallel(const ModelSpec& model, const GpuSpec& gpu,
                                                             const MemorySettings& settings,
                                                             TokenCount sequence = TokenCount(1));

/// Of replicas of at most so many GPUs, with tensor groups that fit into a node, the one of fewest GPUs that
/// holds the model and one sequence of so many tokens; of several with as many GPUs the one with the largest
/// tensor group, which answers soonest. Degrees are powers of two. Nullopt when none does. Precondition:
/// sequence >= 1.
std::optional<Parallelism> smallest_fitting_parallelism(const ModelSpec& model, const GpuSpec& gpu,
                                                        std::int64_t most_gpus,
                                                        const MemorySettings& settings,
                                                        TokenCount sequence = TokenCount(1));

}  // namespace inferometer
