#pragma once

// Products of a warpgroup on Hopper's tensor cores (sm_90a), wgmma.mma_async.m64nNk16 with fp32 accumulators:
// one function per instruction, of the PTX ISA's meaning. They run asynchronously:
//
//   start_products();                    once registers were written that the products use
//   multiply_...(...);  ...              any number
//   commit_products();                   these are a group
//   wait_products<n>();                  until at most n groups run
//   settle(accumulators);                only now may they be read: keeps the compiler from reading earlier
//
// Accumulators: [column / 8][4], places as in fragments.hpp, warp w of the group has rows 16w..16w+15.

#include <cstdint>

#include "kernels/common/element_type.hpp"

namespace inferometer::kernels {

__device__ __forceinline__ void start_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int kRunning>
__device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kRunning) : "memory");
}

template <int kBlocks>
__device__ __forceinline__ void settle(float (&accumulators)[kBlocks][4]) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int element = 0; element < 4; ++element) {
      asm volatile("" : "+f"(accumulators[block][element])::"memory");
    }
  }
}

// Operands of the instructions: accumulators are %0, %1, ...; the macros end with this file.
#define INFEROMETER_TEN(tens)                                                                          \
  "%" #tens "0, %" #tens "1, %" #tens "2, %" #tens "3, %" #tens "4, %" #tens "5, %" #tens "6, %" #tens \
  "7, %" #tens "8, %" #tens "9, "
#define INFEROMETER_FIRST_30 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " INFEROMETER_TEN(1) INFEROMETER_TEN(2)
#define INFEROMETER_FIRST_60 INFEROMETER_FIRST_30 INFEROMETER_TEN(3) INFEROMETER_TEN(4) INFEROMETER_TEN(5)
#define INFEROMETER_FIRST_120                                                                      \
  INFEROMETER_FIRST_60 INFEROMETER_TEN(6) INFEROMETER_TEN(7) INFEROMETER_TEN(8) INFEROMETER_TEN(9) \
      INFEROMETER_TEN(10) INFEROMETER_TEN(11)
#define INFEROMETER_LIST_64 INFEROMETER_FIRST_30 "%30, %31"
#define INFEROMETER_LIST_80 INFEROMETER_FIRST_30 "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39"
#define INFEROMETER_LIST_128 INFEROMETER_FIRST_60 "%60, %61, %62, %63"
#define INFEROMETER_LIST_256 INFEROMETER_FIRST_120 "%120, %121, %122, %123, %124, %125, %126, %127"

#define INFEROMETER_BLOCK(d, b) "+f"((d)[b][0]), "+f"((d)[b][1]), "+f"((d)[b][2]), "+f"((d)[b][3])
#define INFEROMETER_BLOCKS_2(d, b) INFEROMETER_BLOCK(d, b), INFEROMETER_BLOCK(d, (b) + 1)
#define INFEROMETER_BLOCKS_8(d, b)                                                                \
  INFEROMETER_BLOCKS_2(d, b), INFEROMETER_BLOCKS_2(d, (b) + 2), INFEROMETER_BLOCKS_2(d, (b) + 4), \
      INFEROMETER_BLOCKS_2(d, (b) + 6)
#define INFEROMETER_BLOCKS_10(d) INFEROMETER_BLOCKS_8(d, 0), INFEROMETER_BLOCKS_2(d, 8)
#define INFEROMETER_BLOCKS_16(d, b) INFEROMETER_BLOCKS_8(d, b), INFEROMETER_BLOCKS_8(d, (b) + 8)
#define INFEROMETER_BLOCKS_32(d) INFEROMETER_BLOCKS_16(d, 0), INFEROMETER_BLOCKS_16(d, 16)

// After the accumulators: two descriptors and whether to add; neither factor is transposed.
#define INFEROMETER_SHARED_PRODUCT(columns, type, left, right, adds, ...)                     \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " adds                                 \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type    \
               " {" INFEROMETER_LIST_##columns "}, " left ", " right ", adds, 1, 1, 0, 0;\n}" \
               : __VA_ARGS__                                                                  \
               : "l"(of_left), "l"(of_right), "n"(kAdds ? 1 : 0)                              \
               : "memory")

// After the accumulators: four registers of the left factor and the right factor's descriptor, transposed.
#define INFEROMETER_REGISTER_PRODUCT(columns, type, a, b, c, d, right, ...)                                 \
  asm volatile(                                                                                             \
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, 1, 0;\n"                                                      \
      "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {" INFEROMETER_LIST_##columns \
      "}, {" a ", " b ", " c ", " d "}, " right ", adds, 1, 1, 1;\n}"                                       \
      : __VA_ARGS__                                                                                         \
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(of_right)                               \
      : "memory")

/// accumulators (+)= left x right: 64 x 16 by 16 x kColumns, both in shared memory as rows along k
/// (descriptor_of_rows). kAdds false: what was in the accumulators does not count.
template <ElementType kType, bool kAdds, int kBlocks>
__device__ __forceinline__ void multiply_shared(float (&accumulators)[kBlocks][4], std::uint64_t of_left,
                                                std::uint64_t of_right) {
  static_assert(kType == ElementType::bf16 || kType == ElementType::fp16);
  static_assert(kBlocks == 10 || kBlocks == 16);
  if constexpr (kBlocks == 10 && kType == ElementType::bf16) {
    INFEROMETER_SHARED_PRODUCT(80, "bf16", "%40", "%41", "%42", INFEROMETER_BLOCKS_10(accumulators));
  } else if constexpr (kBlocks == 10) {
    INFEROMETER_SHARED_PRODUCT(80, "f16", "%40", "%41", "%42", INFEROMETER_BLOCKS_10(accumulators));
  } else if constexpr (kType == ElementType::bf16) {
    INFEROMETER_SHARED_PRODUCT(128, "bf16", "%64", "%65", "%66", INFEROMETER_BLOCKS_16(accumulators, 0));
  } else {
    INFEROMETER_SHARED_PRODUCT(128, "f16", "%64", "%65", "%66", INFEROMETER_BLOCKS_16(accumulators, 0));
  }
}

/// accumulators += left x right: 64 x 16 in registers (fragments.hpp) by 16 x columns in shared memory as
/// rows of k (descriptor_of_columns).
template <ElementType kType, int kBlocks>
__device__ __forceinline__ void multiply_registers(float (&accumulators)[kBlocks][4],
                                                   const std::uint32_t (&left)[4], std::uint64_t of_right) {
  static_assert(kType == ElementType::bf16 || kType == ElementType::fp16);
  static_assert(kBlocks == 8 || kBlocks == 16 || kBlocks == 32);
  if constexpr (kBlocks == 8 && kType == ElementType::bf16) {
    INFEROMETER_REGISTER_PRODUCT(64, "bf16", "%32", "%33", "%34", "%35", "%36",
                                 INFEROMETER_BLOCKS_8(accumulators, 0));
  } else if constexpr (kBlocks == 8) {
    INFEROMETER_REGISTER_PRODUCT(64, "f16", "%32", "%33", "%34", "%35", "%36",
                                 INFEROMETER_BLOCKS_8(accumulators, 0));
  } else if constexpr (kBlocks == 16 && kType == ElementType::bf16) {
    INFEROMETER_REGISTER_PRODUCT(128, "bf16", "%64", "%65", "%66", "%67", "%68",
                                 INFEROMETER_BLOCKS_16(accumulators, 0));
  } else if constexpr (kBlocks == 16) {
    INFEROMETER_REGISTER_PRODUCT(128, "f16", "%64", "%65", "%66", "%67", "%68",
                                 INFEROMETER_BLOCKS_16(accumulators, 0));
  } else if constexpr (kType == ElementType::bf16) {
    INFEROMETER_REGISTER_PRODUCT(256, "bf16", "%128", "%129", "%130", "%131", "%132",
                                 INFEROMETER_BLOCKS_32(accumulators));
  } else {
    INFEROMETER_REGISTER_PRODUCT(256, "f16", "%128", "%129", "%130", "%131", "%132",
                                 INFEROMETER_BLOCKS_32(accumulators));
  }
}

#undef INFEROMETER_REGISTER_PRODUCT
#undef INFEROMETER_SHARED_PRODUCT
#undef INFEROMETER_BLOCKS_32
#undef INFEROMETER_BLOCKS_16
#undef INFEROMETER_BLOCKS_10
#undef INFEROMETER_BLOCKS_8
#undef INFEROMETER_BLOCKS_2
#undef INFEROMETER_BLOCK
#undef INFEROMETER_LIST_256
#undef INFEROMETER_LIST_128
#undef INFEROMETER_LIST_80
#undef INFEROMETER_LIST_64
#undef INFEROMETER_FIRST_120
#undef INFEROMETER_FIRST_60
#undef INFEROMETER_FIRST_30
#undef INFEROMETER_TEN

}  // namespace inferometer::kernels
