#pragma once

// Instructions of sm_90 and sm_90a around the tensor cores, one function each, of the PTX ISA's meaning:
// barriers in shared memory (mbarrier), the copy engine (cp.async.bulk.tensor), named barriers, register
// shares. Shared memory is addressed by 32-bit shared addresses.

#include <cstdint>

#include <cuda.h>

namespace inferometer::kernels {

/// Describes an array to the copy engine; passed to a kernel by value, as a __grid_constant__.
using TensorMap = CUtensorMap;

// ---- barriers in shared memory: 8 bytes each, phases told apart by parity ----

/// Complete for the first time, which ends phase 0, when so many have arrived.
__device__ __forceinline__ void init_barrier(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes barriers just initialised known to the copy engine. A __syncthreads must follow for other threads.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives, and asks that so many bytes land by copies before the phase ends.
__device__ __forceinline__ void arrive_expecting(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// Until the phase of this parity has ended. The phase before the first counts as ended, of parity 1.
__device__ __forceinline__ void wait_phase(std::uint32_t barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred ended;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
      "@!ended bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- copy engine ----

/// One box of a 3-dimensional array from element (x, y, z) on to shared memory; its bytes count at the
/// barrier. What lies outside the array arrives as zeros, and counts. For one thread.
__device__ __forceinline__ void copy_box(std::uint32_t shared, const TensorMap& map, std::uint32_t barrier,
                                         int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(shared),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}

// ---- named barriers 1..15; threads is a multiple of 32 and counts both kinds of arrival ----

__device__ __forceinline__ void sync_named(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives without waiting.
__device__ __forceinline__ void arrive_named(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- registers of a warpgroup: multiples of 8 in 24..256 ----

template <int kRegisters>
__device__ __forceinline__ void give_registers_back() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace inferometer::kernels
