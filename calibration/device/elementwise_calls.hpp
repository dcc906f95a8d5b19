#pragma once

// The calls of the family "elementwise", by variant. Axes: tokens, and the width of one. Who uses it:
// elementwise_runner.cpp.

#include <cstdint>
#include <memory>

#include "calibration/device/prepared_call.hpp"

namespace inferometer {

/// variants norm and add_norm (with the residual stream); width up to 16384
std::unique_ptr<PreparedCall> prepare_norm(RunnerContext& context, const KernelCall& call,
                                           std::uint64_t seed);

/// variant rope: queries and keys rotated, keys and values written to a bf16 cache. The width is that of a
/// token's queries and keys; heads are 128 wide, and a quarter as many KV heads as heads, rounded down, 1 at
/// the least.
std::unique_ptr<PreparedCall> prepare_rope(RunnerContext& context, const KernelCall& call,
                                           std::uint64_t seed);

/// variant embedding: random rows of a table of kEmbeddingRows
std::unique_ptr<PreparedCall> prepare_embedding(RunnerContext& context, const KernelCall& call,
                                                std::uint64_t seed);

/// variant silu_mul: the width is that of the output
std::unique_ptr<PreparedCall> prepare_silu_mul(RunnerContext& context, const KernelCall& call,
                                               std::uint64_t seed);

/// variants argmax and top_p: tokens are rows of logits, the width is the vocabulary
std::unique_ptr<PreparedCall> prepare_sampling(RunnerContext& context, const KernelCall& call,
                                               std::uint64_t seed);

/// variant kv_copy: blocks of a bf16 cache are copied within it. The width is that of a token's keys and
/// values together.
std::unique_ptr<PreparedCall> prepare_kv_copy(RunnerContext& context, const KernelCall& call,
                                              std::uint64_t seed);

/// variant copy: tokens times width bf16 elements, as fast as memory goes
std::unique_ptr<PreparedCall> prepare_copy(RunnerContext& context, const KernelCall& call,
                                           std::uint64_t seed);

/// Of a table that no L2 cache holds at the widths of models, and that is no larger than small ones have.
inline constexpr std::int64_t kEmbeddingRows = 32768;

/// For outputs that are copies, and for references that are 0.
inline constexpr double kTinyError = 1e-30;

}  // namespace inferometer
