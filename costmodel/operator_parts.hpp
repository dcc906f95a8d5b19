#pragma once

// Operators of one kind, from their sizes. Who uses it: the lists of operators (operators.cpp,
// attention_operators.cpp, latent_attention.cpp) only.

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "costmodel/model_spec.hpp"
#include "costmodel/operator.hpp"

namespace inferometer {

/// The format of what is not quantized: 16 bit, or whatever the checkpoint says.
inline constexpr std::string_view kCheckpointFormat = "bf16";
inline constexpr std::int64_t kActivationBytes = 2;

/// The last operator of attention, before which a step's attention runs.
inline constexpr std::string_view kOutputProjection = "o projection";

KernelCall call_of(KernelFamily family, std::string_view variant, std::initializer_list<double> axes);

Operator elementwise(std::string_view name, std::int64_t repeats, std::int64_t flops, std::int64_t bytes);
/// One that measurements know by a name of their own.
Operator measured_elementwise(std::string_view variant, std::int64_t tokens, std::int64_t width,
                              Operator part);

/// rows x inputs times inputs x outputs, weights read once, in a format of KernelFamily::gemm.
Operator gemm(std::string_view name, std::string_view format, const ModelSpec& model, std::int64_t repeats,
              std::int64_t rows, std::int64_t inputs, std::int64_t outputs);
/// A bias is added in the product's last stage: one addition an output, one read of the bias itself.
void add_bias(Operator& product, const ModelSpec& model, std::int64_t rows, std::int64_t outputs);

/// Every algorithm sends at least 2 (n - 1) / n of the array over each link.
Operator all_reduce(std::int64_t repeats, std::int64_t gpus, std::int64_t bytes);
/// Every GPU has `share` bytes and gets those of all others.
Operator all_gather(std::string_view name, std::int64_t repeats, std::int64_t gpus, std::int64_t share);

/// What attention does for each pair of query and key, each key it reads and each query.
struct AttentionUnits {
  std::int64_t flops_per_pair = 0, bytes_per_key = 0, bytes_per_query = 0;
};

/// The variant of attention kernels for the model's KV cache.
std::string_view attention_format(const ModelSpec& model);

}  // namespace inferometer
