#pragma once

// Describes arrays to the copy engine. The driver makes the description; it is found through the runtime, so
// that nothing links the driver's library.

#include <cstdint>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "kernels/common/element_type.hpp"
#include "kernels/common/launch_check.cuh"
#include "kernels/tensor_core/wgmma_descriptor.hpp"

namespace inferometer::kernels {

/// An array (rows, heads, columns) of 16-bit elements, copied in boxes of 64 columns of one head of
/// `box_rows` rows to panels as wgmma_descriptor.hpp has them: coordinates are column, head, row.
/// Preconditions: a context is current (the driver, unlike the runtime, makes none), `array` at a multiple of
/// 16 bytes, columns a multiple of 64, box_rows <= 256, rows >= 1.
inline LaunchResult make_panel_map(CUtensorMap& map, const void* array, ElementType element,
                                   std::int64_t rows, std::int64_t heads, std::int64_t columns,
                                   int box_rows) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  constexpr unsigned kFirstVersionWithMaps = 12000;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &found, kFirstVersionWithMaps, cudaEnableDefault, &answer);
#else
  const cudaError_t error =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &answer);
#endif
  if (error != cudaSuccess) {
    return result_of(error);
  }
  if (answer != cudaDriverEntryPointSuccess) {
    return {KernelStatus::unsupported, "the driver is older than the copy engine's descriptions"};
  }
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(heads),
                                static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides_bytes[] = {2 * extents[0], 2 * extents[0] * extents[1]};  // of heads, of rows
  const cuuint32_t box[] = {kPanelColumns, 1, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t every_element[] = {1, 1, 1};
  const CUresult made = encode(
      &map, element == ElementType::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
      3, const_cast<void*>(array), extents, strides_bytes, box, every_element, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return made == CUDA_SUCCESS ? LaunchResult{}
                              : LaunchResult{KernelStatus::unsupported,
                                             "the driver refuses to describe an array to the copy engine"};
}

}  // namespace inferometer::kernels
