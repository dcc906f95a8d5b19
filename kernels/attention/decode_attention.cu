#include "kernels/attention/decode_arguments.hpp"
#include "kernels/attention/decode_attention.hpp"
#include "kernels/attention/decode_block.cuh"
#include "kernels/common/launch_check.cuh"

namespace inferometer::kernels {
namespace {

// ---- kernels ----

template <class Format>
__global__ void __launch_bounds__(kDecodeThreads, decode_blocks_by_registers(Format::kHeadDim))
    decode_attention_kernel(const DecodeArguments arguments) {
  extern __shared__ __align__(128) std::uint8_t shared[];
  attend_split(arguments, *reinterpret_cast<DecodeShared<Format>*>(shared), blockIdx.x,
               static_cast<int>(threadIdx.x));
}

template <int kHeadDim>
__global__ void __launch_bounds__(kDecodeThreads) reduce_splits_kernel(const DecodeArguments arguments) {
  __shared__ SplitSums<kHeadDim> shared;
  reduce_splits(arguments, shared, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
}

// ---- launcher ----

struct GpuLimits {
  int sms = 0;
  int shared_bytes_per_sm = 0;
};

LaunchResult limits_of_current_gpu(GpuLimits& limits) {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&limits.sms, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&limits.shared_bytes_per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                   device);
  }
  return result_of(error);
}

template <ElementType kKv, int kHeadDim>
LaunchResult launch(const DecodeArguments& arguments, std::int64_t blocks, Stream stream) {
  using Format = DecodeFormat<kKv, kHeadDim>;
  constexpr int kSharedBytes = decode_shared_bytes(kHeadDim, Format::kKvBytes);
  static_assert(kSharedBytes == sizeof(DecodeShared<Format>));
  const LaunchResult given = give_shared_memory(decode_attention_kernel<Format>, kSharedBytes);
  if (!given.ok()) {
    return given;
  }
  decode_attention_kernel<Format>
      <<<static_cast<unsigned>(blocks), kDecodeThreads, kSharedBytes, stream>>>(arguments);
  const LaunchResult attended = launched();
  if (!attended.ok() || arguments.plan.splits == 1) {
    return attended;
  }
  reduce_splits_kernel<kHeadDim>
      <<<static_cast<unsigned>(arguments.query_heads), kDecodeThreads, 0, stream>>>(arguments);
  return launched();
}

template <ElementType kKv>
LaunchResult launch(std::int64_t head_dim, const DecodeArguments& arguments, std::int64_t blocks,
                    Stream stream) {
  switch (head_dim) {
    case 64:
      return launch<kKv, 64>(arguments, blocks, stream);
    case 128:
      return launch<kKv, 128>(arguments, blocks, stream);
    default:
      return launch<kKv, 256>(arguments, blocks, stream);
  }
}

}  // namespace

LaunchResult decode_attention_workspace(const DecodeAttentionShape& shape, std::size_t& bytes) {
  GpuLimits limits;
  LaunchResult result = limits_of_current_gpu(limits);
  if (result.ok()) {
    result = decode_attention_support(shape, limits.shared_bytes_per_sm);
  }
  if (result.ok()) {
    bytes = decode_attention_workspace_bytes(
        shape, decode_attention_plan(shape, limits.sms, limits.shared_bytes_per_sm));
  }
  return result;
}

LaunchResult decode_attention(const DecodeAttentionShape& shape, const DecodeAttentionBuffers& buffers,
                              Stream stream) {
  GpuLimits limits;
  LaunchResult result = limits_of_current_gpu(limits);
  if (result.ok()) {
    result = decode_attention_support(shape, limits.shared_bytes_per_sm);
  }
  if (!result.ok()) {
    return result;
  }
  const SplitKvPlan plan = decode_attention_plan(shape, limits.sms, limits.shared_bytes_per_sm);
  if (buffers.workspace_bytes < decode_attention_workspace_bytes(shape, plan)) {
    return {KernelStatus::unsupported, "decode attention: the workspace is too small"};
  }
  const DecodeArguments arguments = decode_arguments(shape, buffers, plan);
  const std::int64_t blocks = shape.batch * shape.kv_heads * decode_head_tiles(shape) * plan.splits;
  switch (shape.kv_type) {
    case ElementType::bf16:
      return launch<ElementType::bf16>(shape.head_dim, arguments, blocks, stream);
    case ElementType::fp16:
      return launch<ElementType::fp16>(shape.head_dim, arguments, blocks, stream);
    default:
      return launch<ElementType::fp8_e4m3>(shape.head_dim, arguments, blocks, stream);
  }
}

}  // namespace inferometer::kernels
