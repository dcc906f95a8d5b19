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

/// Host work has none. Precondition: axes in their ranges (sizes >= 1; past, window, skew >= 0).
KernelWork kernel_work(const KernelCall& call);

/// Dense peak of the unit; a GPU without it computes at the bf16 peak.
FlopsPerSecond peak(const GpuSpec& gpu, MathUnit unit);

/// The higher of the datasheet's roofs, in seconds: no kernel whose data come from memory can be faster.
double datasheet_seconds(const KernelWork& work, const GpuSpec& gpu);

/// Bytes of keys and values that an attention call reads; 0 for other families.
double kv_bytes(const KernelCall& call);

}  // namespace inferometer
