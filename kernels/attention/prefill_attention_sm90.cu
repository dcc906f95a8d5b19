#include "kernels/attention/prefill_launch.hpp"
#include "kernels/attention/prefill_tile_sm90.cuh"
#include "kernels/common/launch_check.cuh"
#include "kernels/tensor_core/tensor_map.cuh"

namespace inferometer::kernels {
namespace {

template <ElementType kType, int kHeadDim>
__global__ void __launch_bounds__(Sm90Prefill<kHeadDim>::kThreads, 1)
    prefill_kernel(const PrefillArguments arguments, const __grid_constant__ Sm90Maps maps) {
  extern __shared__ __align__(kSwizzlePatternBytes) unsigned char shared[];
  const PrefillTile tile = prefill_tile(arguments, static_cast<int>(blockIdx.x));
  if (!tile.is_empty()) {
    attend_sm90<kType, kHeadDim>(arguments, tile, maps,
                                 round_up<std::uint32_t>(shared_address(shared), kSwizzlePatternBytes));
  }
}

template <ElementType kType, int kHeadDim>
LaunchResult launch(const PrefillAttentionShape& shape, const PrefillAttentionBuffers& buffers,
                    Stream stream) {
  using Plan = Sm90Prefill<kHeadDim>;
  constexpr int kSharedBytes = Plan::kSharedBytes + kSwizzlePatternBytes;  // the base is rounded up
  Sm90Maps maps;
  LaunchResult made = give_shared_memory(prefill_kernel<kType, kHeadDim>, kSharedBytes);
  if (made.ok()) {
    made = make_panel_map(maps.queries, buffers.query, kType, shape.total_tokens, shape.heads, kHeadDim,
                          kQueriesOfBlock);
  }
  if (made.ok()) {
    made = make_panel_map(maps.keys, buffers.keys, kType, shape.total_keys, shape.kv_heads, kHeadDim,
                          Plan::kKeys);
  }
  if (made.ok()) {
    made = make_panel_map(maps.values, buffers.values, kType, shape.total_keys, shape.kv_heads, kHeadDim,
                          Plan::kKeys);
  }
  if (!made.ok()) {
    return made;
  }
  prefill_kernel<kType, kHeadDim>
      <<<static_cast<unsigned>(prefill_blocks(shape)), Plan::kThreads, kSharedBytes, stream>>>(
          prefill_arguments(shape, buffers), maps);
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

LaunchResult prefill_attention_sm90(const PrefillAttentionShape& shape,
                                    const PrefillAttentionBuffers& buffers, Stream stream) {
  return shape.element == ElementType::bf16 ? launch<ElementType::bf16>(shape, buffers, stream)
                                            : launch<ElementType::fp16>(shape, buffers, stream);
}

}  // namespace inferometer::kernels
