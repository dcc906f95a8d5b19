#include "kernels/attention/prefill_arguments.hpp"
#include "kernels/attention/prefill_attention.hpp"
#include "kernels/attention/prefill_launch.hpp"
#include "kernels/common/launch_check.cuh"

namespace inferometer::kernels {
namespace {

// Offsets within a tile of rows, 128 x heads x 256 at most, are 32-bit.
constexpr std::int64_t kMostHeads = 4096;
// Positions are 32-bit, and a tile of them may lie beyond the last.
constexpr std::int64_t kMostKeys = INT32_MAX - 1024;

LaunchResult refusal_of(const PrefillAttentionShape& shape) {
  if (shape.element != ElementType::bf16 && shape.element != ElementType::fp16) {
    return {KernelStatus::unsupported, "prefill attention: bf16 or fp16"};
  }
  if (shape.head_dim != 64 && shape.head_dim != 128 && shape.head_dim != 256) {
    return {KernelStatus::unsupported, "prefill attention: head dimension 64, 128 or 256"};
  }
  if (shape.kv_heads < 1 || shape.heads < 1 || shape.heads > kMostHeads ||
      shape.heads % shape.kv_heads != 0) {
    return {KernelStatus::unsupported,
            "prefill attention: heads a multiple of kv_heads, both at least 1 and at most 4096"};
  }
  if (shape.batch < 1 || shape.max_tokens < 1 || shape.total_tokens < shape.max_tokens ||
      shape.total_keys < shape.total_tokens || shape.total_keys > kMostKeys || shape.window < 0) {
    return {
        KernelStatus::unsupported,
        "prefill attention: at least one sequence and new token, no fewer keys than tokens, fewer than 2^31"};
  }
  if (shape.batch > INT32_MAX / shape.heads || prefill_blocks(shape) > INT32_MAX) {
    return {KernelStatus::unsupported, "prefill attention: more than 2^31 tiles of queries"};
  }
  return {};
}

}  // namespace

LaunchResult prefill_attention(const PrefillAttentionShape& shape, const PrefillAttentionBuffers& buffers,
                               Stream stream) {
  const LaunchResult refusal = refusal_of(shape);
  if (!refusal.ok()) {
    return refusal;
  }
  int device = 0;
  int generation = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&generation, cudaDevAttrComputeCapabilityMajor, device);
  }
  if (error != cudaSuccess) {
    return result_of(error);
  }
  if (generation < 8) {
    return {KernelStatus::unsupported, "prefill attention: GPUs of compute capability 8.0 or above"};
  }
  return generation == 9 ? prefill_attention_sm90(shape, buffers, stream)
                         : prefill_attention_sm80(shape, buffers, stream);
}

}  // namespace inferometer::kernels
