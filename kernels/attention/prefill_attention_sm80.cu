#include "kernels/attention/prefill_launch.hpp"
#include "kernels/attention/prefill_tile_sm80.cuh"
#include "kernels/common/launch_check.cuh"

namespace inferometer::kernels {
namespace {

template <ElementType kType, int kHeadDim>
__global__ void __launch_bounds__(Sm80Prefill<kHeadDim>::kThreads,
                                  Sm80Prefill<kHeadDim>::kBlocksOfMultiprocessor)
    prefill_kernel(const PrefillArguments arguments) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const PrefillTile tile = prefill_tile(arguments, static_cast<int>(blockIdx.x));
  if (!tile.is_empty()) {
    attend_sm80<kType, kHeadDim>(arguments, tile, shared);
  }
}

template <ElementType kType, int kHeadDim>
LaunchResult launch(const PrefillAttentionShape& shape, const PrefillAttentionBuffers& buffers,
                    Stream stream) {
  using Plan = Sm80Prefill<kHeadDim>;
  int device = 0;
  int shared_bytes = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  }
  if (error != cudaSuccess) {
    return result_of(error);
  }
  if (shared_bytes < Plan::kSharedBytes) {
    return {KernelStatus::unsupported, "prefill attention: too little shared memory for this head dimension"};
  }
  const LaunchResult given = give_shared_memory(prefill_kernel<kType, kHeadDim>, Plan::kSharedBytes);
  if (!given.ok()) {
    return given;
  }
  prefill_kernel<kType, kHeadDim>
      <<<static_cast<unsigned>(prefill_blocks(shape)), Plan::kThreads, Plan::kSharedBytes, stream>>>(
          prefill_arguments(shape, buffers));
  return launched();
}

template <ElementType kType>
LaunchResult launch(const PrefillAttentionShape& shape, const PrefillAttentionBuffers& buffers,
                    Stream stream) {
  switch (shape.head_dim) {
    case 64:
      return launch<kType, 64>(shape, buffers, stream);
    case 128:
      return launch<kType, 128>(shape, buffers, stream);
    default:
      return launch<kType, 256>(shape, buffers, stream);
  }
}

}  // namespace

LaunchResult prefill_attention_sm80(const PrefillAttentionShape& shape,
                                    const PrefillAttentionBuffers& buffers, Stream stream) {
  return shape.element == ElementType::bf16 ? launch<ElementType::bf16>(shape, buffers, stream)
                                            : launch<ElementType::fp16>(shape, buffers, stream);
}

}  // namespace inferometer::kernels
