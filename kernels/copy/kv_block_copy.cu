#include "kernels/common/divide_up.hpp"
#include "kernels/common/launch_check.cuh"
#include "kernels/copy/kv_block_copy.hpp"

namespace inferometer::kernels {
namespace {

// ---- kernel: a block of threads has a stretch of one KV block, a thread four vectors of it ----

constexpr int kVectorBytes = 16;
constexpr int kThreads = 256;
constexpr int kUnroll = 4;
constexpr int kVectorsOfBlock = kThreads * kUnroll;

__global__ void __launch_bounds__(kThreads)
    kv_block_copy_kernel(int vectors, unsigned parts, const uint4* source, uint4* target,
                         const std::int32_t* from, const std::int32_t* to) {
  const auto pair = static_cast<std::int32_t>(blockIdx.x / parts);
  const int first = static_cast<int>(blockIdx.x % parts) * kVectorsOfBlock + static_cast<int>(threadIdx.x);
  const uint4* read = source + static_cast<std::int64_t>(from != nullptr ? from[pair] : pair) * vectors;
  uint4* write = target + static_cast<std::int64_t>(to != nullptr ? to[pair] : pair) * vectors;
  uint4 bits[kUnroll];
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    const int vector = first + turn * kThreads;
    if (vector < vectors) {
      bits[turn] = read[vector];
    }
  }
#pragma unroll
  for (int turn = 0; turn < kUnroll; ++turn) {
    const int vector = first + turn * kThreads;
    if (vector < vectors) {
      write[vector] = bits[turn];
    }
  }
}

LaunchResult copy_pinned(void* target, const void* source, const void* pinned, std::int64_t bytes,
                         cudaMemcpyKind kind, Stream stream) {
  cudaPointerAttributes attributes{};
  if (const LaunchResult result = result_of(cudaPointerGetAttributes(&attributes, pinned)); !result.ok()) {
    return result;
  }
  if (attributes.type != cudaMemoryTypeHost || bytes < 0) {
    return {KernelStatus::unsupported, "copy: page-locked memory of the host and a size of 0 or more"};
  }
  return result_of(cudaMemcpyAsync(target, source, static_cast<std::size_t>(bytes), kind, stream));
}

}  // namespace

// ---- launchers ----

LaunchResult kv_block_copy(const KvBlockCopyShape& shape, const KvBlockCopyBuffers& buffers, Stream stream) {
  if (shape.count < 0 || shape.count > INT32_MAX || shape.block_bytes < kVectorBytes ||
      shape.block_bytes % kVectorBytes != 0 || shape.block_bytes > INT32_MAX) {
    return {KernelStatus::unsupported, "kv copy: blocks of a multiple of 16 bytes below 2 GiB"};
  }
  if (shape.count == 0) {
    return {};
  }
  const int vectors = static_cast<int>(shape.block_bytes / kVectorBytes);
  const std::int64_t parts = divide_up(vectors, kVectorsOfBlock);
  if (shape.count > INT32_MAX / parts) {
    return {KernelStatus::unsupported, "kv copy: more blocks than a grid has"};
  }
  kv_block_copy_kernel<<<static_cast<unsigned>(shape.count * parts), kThreads, 0, stream>>>(
      vectors, static_cast<unsigned>(parts), static_cast<const uint4*>(buffers.source),
      static_cast<uint4*>(buffers.target), buffers.from, buffers.to);
  return launched();
}

LaunchResult copy_to_host(void* pinned, const void* device, std::int64_t bytes, Stream stream) {
  return copy_pinned(pinned, device, pinned, bytes, cudaMemcpyDeviceToHost, stream);
}

LaunchResult copy_to_device(void* device, const void* pinned, std::int64_t bytes, Stream stream) {
  return copy_pinned(device, pinned, pinned, bytes, cudaMemcpyHostToDevice, stream);
}

}  // namespace inferometer::kernels
