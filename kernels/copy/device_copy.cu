#include "kernels/common/divide_up.hpp"
#include "kernels/common/launch_check.cuh"
#include "kernels/copy/device_copy.hpp"

namespace inferometer::kernels {
namespace {

// ---- kernels: a block has a stretch of 32 KiB, a thread eight vectors of it ----

constexpr std::int64_t kVectorBytes = 16;
constexpr int kThreads = 256;
constexpr int kUnroll = 8;
constexpr std::int64_t kVectorsOfBlock = kThreads * kUnroll;

// A fold that data have about once in 2^32.
constexpr std::uint32_t kRareFold = 0x9e3779b9u;

__device__ std::int64_t vector_of(int turn) {
  return blockIdx.x * kVectorsOfBlock + turn * kThreads + threadIdx.x;
}

__global__ void __launch_bounds__(kThreads)
    copy_kernel(std::int64_t vectors, const uint4* source, uint4* target) {
  uint4 bits[kUnroll];
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    if (vector_of(turn) < vectors) {
      bits[turn] = source[vector_of(turn)];
    }
  }
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    if (vector_of(turn) < vectors) {
      target[vector_of(turn)] = bits[turn];
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    read_kernel(std::int64_t vectors, const uint4* source, std::uint32_t* sink) {
  uint4 bits[kUnroll] = {};
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    if (vector_of(turn) < vectors) {
      bits[turn] = __ldg(source + vector_of(turn));
    }
  }
  std::uint32_t fold = 0;
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    fold ^= bits[turn].x ^ bits[turn].y ^ bits[turn].z ^ bits[turn].w;
  }
  if (fold == kRareFold) {
    *sink = fold;
  }
}

__global__ void __launch_bounds__(kThreads)
    write_kernel(std::int64_t vectors, uint4* target, std::uint32_t word) {
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    if (vector_of(turn) < vectors) {
      target[vector_of(turn)] = uint4{word, word, word, word};
    }
  }
}

LaunchResult check(std::int64_t bytes) {
  if (bytes < kVectorBytes || bytes % kVectorBytes != 0 ||
      bytes / kVectorBytes > kVectorsOfBlock * INT32_MAX) {
    return {KernelStatus::unsupported, "device copy: a multiple of 16 bytes"};
  }
  return {};
}

unsigned blocks_for(std::int64_t bytes) {
  return static_cast<unsigned>(divide_up(bytes / kVectorBytes, kVectorsOfBlock));
}

}  // namespace

// ---- launchers ----

LaunchResult device_copy(void* target, const void* source, std::int64_t bytes, Stream stream) {
  if (const LaunchResult checked = check(bytes); !checked.ok()) {
    return checked;
  }
  copy_kernel<<<blocks_for(bytes), kThreads, 0, stream>>>(
      bytes / kVectorBytes, static_cast<const uint4*>(source), static_cast<uint4*>(target));
  return launched();
}

LaunchResult device_read(const void* source, std::int64_t bytes, std::uint32_t* sink, Stream stream) {
  if (const LaunchResult checked = check(bytes); !checked.ok()) {
    return checked;
  }
  read_kernel<<<blocks_for(bytes), kThreads, 0, stream>>>(bytes / kVectorBytes,
                                                          static_cast<const uint4*>(source), sink);
  return launched();
}

LaunchResult device_write(void* target, std::int64_t bytes, std::uint32_t word, Stream stream) {
  if (const LaunchResult checked = check(bytes); !checked.ok()) {
    return checked;
  }
  write_kernel<<<blocks_for(bytes), kThreads, 0, stream>>>(bytes / kVectorBytes, static_cast<uint4*>(target),
                                                           word);
  return launched();
}

LaunchResult l2_flush_bytes(std::int64_t& bytes) {
  int device = 0;
  int l2_bytes = 0;
  if (const LaunchResult result = result_of(cudaGetDevice(&device)); !result.ok()) {
    return result;
  }
  const LaunchResult result = result_of(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
  if (result.ok()) {
    bytes = 2 * round_up<std::int64_t>(l2_bytes, kVectorBytes);
  }
  return result;
}

}  // namespace inferometer::kernels
