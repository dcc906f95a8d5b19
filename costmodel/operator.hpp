#pragma once

// One operator of an engine step: what it computes, reads and writes on one GPU. Lists of them are made by
// operators.hpp and attention_operators.hpp.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/units.hpp"
#include "costmodel/kernels/kernel_call.hpp"

namespace inferometer {

/// Operators of one family are kernels of one kind and share fitted constants.
enum class OperatorFamily {
  gemm,
  experts,  ///< routed ones; where no fit of their own is known they run as products do
  prefill_attention,
  decode_attention,
  elementwise,
  collective,
  transfer
};

/// "gemm", "prefill attention", ...
std::string_view to_string(OperatorFamily family);

/// One operator, as one GPU runs it once. A step runs it `repeats` times.
struct Operator {
  std::string_view name;  ///< "qkv projection"
  OperatorFamily family = OperatorFamily::elementwise;
  std::int64_t repeats = 1;
  Flops flops{};
  Bytes hbm_bytes{};
  Bytes link_bytes{};  ///< what this GPU sends to its peers; collectives and transfers only
  /// Collectives: messages that a GPU sends one after the other when all stand in a ring; 0: it sends each
  /// peer its own part, at once.
  std::int64_t ring_steps = 0;
  bool is_among_stage = false;  ///< collectives: of all GPUs of the stage, not of a tensor group
  /// Prefill attention: FLOPs if every new token attended one key more. Kernels work on tiles of keys, and
  /// the masked part of a tile costs as much as the rest.
  Flops flops_per_key{};
  std::int64_t sequence_heads = 0;   ///< decode attention: sequences x KV heads of this GPU
  bool shares_launch = false;        ///< runs within the kernel of another operator: no start-up of its own
  std::optional<KernelCall> call{};  ///< what measurements know it as; none for what nobody measured
};

/// Sums over all of them, repeats included.
Flops total_flops(std::span<const Operator> operators);
Bytes total_hbm_bytes(std::span<const Operator> operators);

}  // namespace inferometer
