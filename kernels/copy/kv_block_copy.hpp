#pragma once

// Blocks of a paged KV cache from place to place: within a pool (copy on write, defragmentation), from a pool
// to a contiguous staging buffer and back (offload), and between staging buffers of the GPU and of the host.
//
//   source, target  arrays of blocks of `block_bytes` each, in device memory
//   from, to        (count) int32, or null for 0, 1, 2, ...
//
//   target[to[i]] = source[from[i]]
//
//   within a pool   source = target = the pool, both lists given; no block is both read and written
//   gather          source = the pool, from = its blocks; target = staging, to = null
//   scatter         source = staging, from = null; target = the pool, to = its blocks
//
// A block is what one pool has of 16 tokens: with keys and values in pools of their own and a pool for each
// layer, kv_heads * 16 * head_dim elements. block_bytes a multiple of 16, buffers 16-byte aligned.

#include <cstdint>

#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

struct KvBlockCopyShape {
  std::int64_t count = 0;
  std::int64_t block_bytes = 0;
};

struct KvBlockCopyBuffers {
  const void* source = nullptr;
  void* target = nullptr;
  const std::int32_t* from = nullptr;
  const std::int32_t* to = nullptr;
};

constexpr Work kv_block_copy_work(const KvBlockCopyShape& shape) {
  return {.flops = 0, .bytes = 2 * static_cast<double>(shape.count) * static_cast<double>(shape.block_bytes)};
}

LaunchResult kv_block_copy(const KvBlockCopyShape& shape, const KvBlockCopyBuffers& buffers, Stream stream);

/// Between the GPU and page-locked memory of the host (cudaMallocHost or registered), by the copy engine and
/// beside kernels of other streams. Pageable memory is refused: its copies pass through a buffer of the
/// driver's, and keep the host waiting.
LaunchResult copy_to_host(void* pinned, const void* device, std::int64_t bytes, Stream stream);
LaunchResult copy_to_device(void* device, const void* pinned, std::int64_t bytes, Stream stream);

}  // namespace inferometer::kernels
