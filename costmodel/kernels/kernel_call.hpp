#pragma once

// One call of a GPU kernel, or one piece of host work, as far as its time depends on it. Who uses it: the
// readers of measurements, the fit of a profile, and the step pricer that predicts from one. All three mean
// the same thing by the same axes.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace inferometer {

/// Kernels of a family do the same work and are described by the same axes.
enum class KernelFamily {
  gemm,               ///< rows m times weights k x n
  prefill_attention,  ///< causal attention of new prompt tokens over themselves and cached ones
  decode_attention,   ///< one new token a sequence
  moe,                ///< routed experts: gate, up, activation, down
  mla_prefill,        ///< multi-head latent attention of new prompt tokens: kernel_work.hpp
  mla_decode,         ///< the same of one new token a sequence, over the compressed cache
  elementwise,        ///< norms, rotary embedding, activation, residual addition, sampling, copies
  collective,         ///< among the GPUs of one node
  host,               ///< scheduling, input preparation, sampling on the CPU
};

inline constexpr std::size_t kMostAxes = 8;

/// A family's name, axes and variants, in the order in which files and tables list them.
struct KernelFamilyInfo {
  KernelFamily family;
  std::string_view name;                       ///< "gemm"
  std::span<const std::string_view> axes;      ///< "m", "n", "k"
  std::span<const std::string_view> variants;  ///< number formats or operators: "bf16", "fp8", "all_reduce"
};

std::span<const KernelFamilyInfo> kernel_families();
const KernelFamilyInfo& info(KernelFamily family);
std::string_view to_string(KernelFamily family);
/// Nothing for a word that names no family.
std::optional<KernelFamily> kernel_family_from(std::string_view name);

/// Axes by family, all counts of whole things, one GPU's share:
///   gemm               m rows, n outputs, k inputs
///   prefill_attention  batch sequences of `tokens` new tokens over `past` cached ones each, heads, kv_heads,
///                      head_dim, window (0: none)
///   decode_attention   batch sequences that attend `context` tokens each (the new one included), heads,
///                      kv_heads, head_dim, window (0: none)
///   moe                tokens, hidden, ffn (of one expert, before the split), experts, top_k,
///                      tensor_parallel, expert_parallel, skew (exponent of the popularity of experts; 0:
///                      even)
///   mla_prefill        batch sequences of `tokens` new tokens over `past` cached ones each, heads
///   mla_decode         batch sequences that attend `context` tokens each (the new one included), heads
///   elementwise        tokens, width (elements of a token that this GPU works on; argmax and top_p: rows of
///                      logits, vocabulary; kv_copy: elements of a token's keys and values together)
///   collective         gpus, bytes (of the array: what each rank holds before a reduce or all-to-all, what
///                      each holds after a gather)
///   host               sequences, gpus
struct KernelCall {
  KernelFamily family = KernelFamily::gemm;
  std::string variant;                   ///< one of the family's
  std::array<double, kMostAxes> axes{};  ///< in the family's order; the rest is 0

  friend bool operator==(const KernelCall&, const KernelCall&) = default;
};

/// Position of an axis among those of its family. Precondition: the family has it.
std::size_t axis_index(KernelFamily family, std::string_view name);

/// "gemm bf16 m=16 n=4096 k=4096"
std::string to_string(const KernelCall& call);

}  // namespace inferometer
