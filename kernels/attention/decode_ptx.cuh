#pragma once

// The instructions of sm_80 that decode attention is built of, as functions (PTX ISA: cp.async, ldmatrix,
// mma).

#include <cstdint>

#include "kernels/common/element_type.hpp"

namespace inferometer::kernels {

__device__ __forceinline__ std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// Starts a copy of 16 bytes from memory to shared memory, around L1. Of the source `bytes` are read, 16 or
/// 0; the rest becomes zero.
__device__ __forceinline__ void copy_or_clear(std::uint32_t shared, const void* source, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(source), "r"(bytes)
               : "memory");
}

/// Makes a group of the copies that this thread started since the last group; it may be empty.
__device__ __forceinline__ void close_copy_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until all groups of this thread but the last kPending are copied.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Four 8 x 8 matrices of 16-bit units; lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrices(std::uint32_t (&matrices)[4], std::uint32_t shared) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(shared)
               : "memory");
}

__device__ __forceinline__ void load_matrices_transposed(std::uint32_t (&matrices)[4], std::uint32_t shared) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(shared)
               : "memory");
}

/// c += a * b, m16n8k16, of bf16 or fp16, summed in fp32.
template <ElementType kType>
__device__ __forceinline__ void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                             std::uint32_t b1) {
  static_assert(kType == ElementType::bf16 || kType == ElementType::fp16);
  if constexpr (kType == ElementType::bf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

/// Two elements of 16 bits, rounded to nearest even, `low` in the low half.
template <ElementType kType>
__device__ __forceinline__ std::uint32_t pack_pair(float low, float high) {
  static_assert(kType == ElementType::bf16 || kType == ElementType::fp16);
  std::uint32_t pair;
  if constexpr (kType == ElementType::bf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
}

/// A bf16 in the low half of `bits`.
__device__ __forceinline__ float float_of_bf16(std::uint32_t bits) {
  return __uint_as_float(bits << 16);
}

}  // namespace inferometer::kernels
