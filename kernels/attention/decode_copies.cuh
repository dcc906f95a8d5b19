#pragma once

// Copies to shared memory in groups, several of which are under way at a time, and which can clear instead of
// copy (PTX ISA: cp.async, cp.async.commit_group, cp.async.wait_group). Like kernels/tensor_core/mma_sm80.cuh
// one function an instruction, so that a kernel's code compiles against an emulation too.

#include <cstdint>

namespace inferometer::kernels {

/// Starts a copy of 16 bytes past L1. Of the source `bytes` are read, 16 or 0; the rest becomes zero.
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
__device__ __forceinline__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace inferometer::kernels
