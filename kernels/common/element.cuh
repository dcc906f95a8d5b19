#pragma once

// Elements of device buffers by ElementType: CUDA's type for it, and from and to float (to nearest even; e4m3
// saturates, as bits_of() of element_type.hpp does). dispatch() goes from a run-time format to these types.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "kernels/common/element_type.hpp"

namespace inferometer::kernels {

using Bf16 = __nv_bfloat16;
using Fp16 = __half;
using E4m3 = __nv_fp8_e4m3;

__device__ __forceinline__ float as_float(Bf16 element) {
  return __bfloat162float(element);
}
__device__ __forceinline__ float as_float(Fp16 element) {
  return __half2float(element);
}
__device__ __forceinline__ float as_float(E4m3 element) {
  return static_cast<float>(element);
}
__device__ __forceinline__ float as_float(float element) {
  return element;
}

template <class Element>
__device__ __forceinline__ Element from_float(float value) {
  if constexpr (sizeof(Element) == 4) {
    return value;
  } else {
    return Element(value);
  }
}

/// 16 bytes of elements: one access of a thread.
template <class Element>
struct alignas(16) Vector16 {
  static constexpr int kCount = 16 / static_cast<int>(sizeof(Element));
  Element elements[kCount];
};

/// use(Element{}) with the type of the format.
template <class Use>
auto dispatch(ElementType type, const Use& use) {
  switch (type) {
    case ElementType::bf16:
      return use(Bf16{});
    case ElementType::fp16:
      return use(Fp16{});
    case ElementType::fp8_e4m3:
      return use(E4m3{});
    case ElementType::fp32:
      break;
  }
  return use(float{});
}

}  // namespace inferometer::kernels
