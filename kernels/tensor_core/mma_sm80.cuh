#pragma once

// Instructions of sm_80 that C++ has no words for, one function each, of the PTX ISA's meaning. Shared memory
// is addressed by 32-bit shared addresses. Nothing else of a kernel is written in PTX, so that a kernel's
// code compiles against an emulation of these functions too.

#include <cstdint>

#include "kernels/common/element_type.hpp"

namespace inferometer::kernels {

__device__ __forceinline__ std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// The same value, of which the compiler knows nothing. In a loop it keeps addresses that are quickly made
/// from being made ahead of the loop, all at once, where they take registers.
__device__ __forceinline__ std::uint32_t made_here(std::uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Queues a copy of 16 bytes past L1.
__device__ __forceinline__ void copy_async(std::uint32_t shared, const void* source) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared), "l"(source) : "memory");
}

/// Waits for this thread's own copies, all of them.
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

/// Four neighbouring words of global memory, at a multiple of 16 bytes, by one instruction.
__device__ __forceinline__ void store_words(void* target, const std::uint32_t (&words)[4]) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(target)),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

/// Four 8 x 8 matrices of 16 bits; each lane names one row of 16 bytes.
__device__ __forceinline__ void load_matrices(std::uint32_t (&registers)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(row)
               : "memory");
}

__device__ __forceinline__ void load_matrices_transposed(std::uint32_t (&registers)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(row)
               : "memory");
}

/// accumulators += left x right, m16n8k16. kType: bf16 or fp16.
template <ElementType kType>
__device__ __forceinline__ void multiply_add(float (&accumulators)[4], const std::uint32_t (&left)[4],
                                             std::uint32_t right_low, std::uint32_t right_high) {
  static_assert(kType == ElementType::bf16 || kType == ElementType::fp16);
  if constexpr (kType == ElementType::bf16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(accumulators[0]), "+f"(accumulators[1]), "+f"(accumulators[2]), "+f"(accumulators[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right_low), "r"(right_high));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(accumulators[0]), "+f"(accumulators[1]), "+f"(accumulators[2]), "+f"(accumulators[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right_low), "r"(right_high));
  }
}

/// Two elements of 16 bits, rounded to nearest even; `low` in the low half.
template <ElementType kType>
__device__ __forceinline__ std::uint32_t pack_pair(float low, float high) {
  static_assert(kType == ElementType::bf16 || kType == ElementType::fp16);
  std::uint32_t pair = 0;
  if constexpr (kType == ElementType::bf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
}

/// 2^x by the special function unit: 2 units in the last place, 0 for -infinity and below 2^-126.
__device__ __forceinline__ float fast_exp2(float x) {
  float power = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

}  // namespace inferometer::kernels
