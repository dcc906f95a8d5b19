#pragma once

// What a kernel call computes and moves at the least, and how long a GPU needs for that by its datasheet.
// Formulas are those of costmodel/operators.hpp, one kernel at a time. Who uses it: the roofline under a
// fitted profile, and the checks of measurements that claim to be faster than the GPU.

#include <string_view>

#include "costmodel/kernels/kernel_call.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// The unit that does a kernel's arithmetic.
enum class MathUnit { bf16, fp8, int8 };

/// Bytes of one weight in a number format, scales included, and of one activation as it enters the product.
struct WeightFormat {
  std::string_view name;
  double weight_bytes;
  double input_bytes;
  MathUnit unit;
};

/// Precondition: a variant of KernelFamily::gemm.
const WeightFormat& weight_format(std::string_view name);

/// Work of one call. Doubles: products of measured sizes pass 2^63.
struct KernelWork {
  double flops = 0;
  double hbm_bytes = 0;   ///< each input read once, each output written once
  double link_bytes = 0;  ///< what one GPU sends to its peers; collectives only
  MathUnit unit = MathUnit::bf16;
};

/// Multi-head latent attention (DeepSeek V2 and V3), of which these sizes are fixed: every measured model has
/// them. A cached token is its latent vector with the rotary part of its key, one for all heads.
inline constexpr double kMlaLatent = 512;  ///< rank of the compressed keys and values
inline constexpr double kMlaRope = 64;     ///< part of queries and keys that is rotated
inline constexpr double kMlaNope = 128;    ///< part of a head's queries and keys that is not
inline constexpr double kMlaValue = 128;   ///< of a head

/// Of latent attention, the attention alone: the measured times show no weights. One head more or 127 more
/// add 1.6 us to the decode of one token on an H100 (TensorRT-LLM), of which the weights that absorb the
/// up-projections of 128 heads would take 10 us; a prefill of one token likewise. Projections, those between
/// a head and the latent space too, are matrix products to be counted beside it. Rotation and the write to
/// the cache are within. vLLM on A100 differs: its tables were timed without CUDA graphs, with both
/// up-projections inside.
///   prefill: keys and values of each head, up-projected: 2 (64 + 128 + 128) FLOPs a head and pair of query
///   and key decode:  absorbed, queries in the latent space: 2 (576 + 512) FLOPs a head and cached token, 576
///   elements a
///            cached token read once for all heads
/// Host work has none. Precondition: axes in their ranges (sizes >= 1; past, window, skew >= 0).
KernelWork kernel_work(const KernelCall& call);

/// Dense peak of the unit; a GPU without it computes at the bf16 peak.
FlopsPerSecond peak(const GpuSpec& gpu, MathUnit unit);

/// The higher of the datasheet's roofs, in seconds: no kernel whose data come from memory can be faster.
double datasheet_seconds(const KernelWork& work, const GpuSpec& gpu);

/// Bytes of keys and values that an attention call reads, latent ones in a decode; 0 for other families.
double kv_bytes(const KernelCall& call);

}  // namespace inferometer
