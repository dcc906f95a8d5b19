#pragma once

// What the memory of the GPU gives at best: plain streams of 16-byte accesses, to which the bandwidth of
// other kernels is compared. Sizes are multiples of 16 bytes, buffers 16-byte aligned and larger than the L2
// cache, or else the cache is what is measured.

#include <cstdint>

#include "kernels/common/kernel_status.hpp"

namespace inferometer::kernels {

constexpr Work device_copy_work(std::int64_t bytes) {
  return {.flops = 0, .bytes = 2 * static_cast<double>(bytes)};
}
constexpr Work device_read_work(std::int64_t bytes) {
  return {.flops = 0, .bytes = static_cast<double>(bytes)};
}
constexpr Work device_write_work(std::int64_t bytes) {
  return {.flops = 0, .bytes = static_cast<double>(bytes)};
}

LaunchResult device_copy(void* target, const void* source, std::int64_t bytes, Stream stream);

/// Reads, and folds what it read with exclusive or, thread by thread; only a fold of one certain value is
/// written to `sink`, 4 bytes of device memory: without the possibility compilers drop the reads.
LaunchResult device_read(const void* source, std::int64_t bytes, std::uint32_t* sink, Stream stream);

/// Sets 16 bytes at a time to `word`, four times over.
LaunchResult device_write(void* target, std::int64_t bytes, std::uint32_t word, Stream stream);

/// Bytes to write for an L2 cache that holds nothing of before: twice its size, on the current GPU. A buffer
/// of that size, given to device_write() before each timed run, makes it start cold.
LaunchResult l2_flush_bytes(std::int64_t& bytes);

}  // namespace inferometer::kernels
