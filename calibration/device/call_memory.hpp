#pragma once

// Buffers of one call: cut from the arena, filled on the GPU by formula, read back where a check needs them.
// Who uses it: the runners. All functions throw DeviceLost.

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "calibration/device/arena.hpp"
#include "calibration/device/comparison.hpp"
#include "kernels/common/element_type.hpp"
#include "kernels/common/fill.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer {

/// A buffer of elements in device memory.
struct DeviceBuffer {
  void* data = nullptr;
  std::int64_t count = 0;  ///< elements
  kernels::ElementType type = kernels::ElementType::bf16;

  [[nodiscard]] std::int64_t bytes() const { return count * kernels::bytes_of(type); }
};

class CallMemory {
 public:
  /// Takes a few bytes at once, for check_finite().
  CallMemory(Arena& arena, kernels::Stream stream);

  [[nodiscard]] kernels::Stream stream() const { return stream_; }

  /// Memory, not yet filled. Throws NotPrepared (out of memory), with what is needed and what there is.
  /// The count is the product of `sizes`, each at most 2^62; it may be more than an integer holds.
  DeviceBuffer take(std::initializer_list<std::int64_t> sizes, kernels::ElementType type);
  void* take_bytes(std::int64_t bytes);
  std::int32_t* take_int32(std::int64_t count);

  void fill(const DeviceBuffer& buffer, const kernels::RandomFill& random);
  void poison(const DeviceBuffer& buffer);
  void zero(void* data, std::int64_t bytes);
  void fill_int32(std::int32_t* data, std::int64_t count, std::int32_t first, std::int32_t step);
  void fill_permutation(std::int32_t* data, std::int64_t count, std::uint64_t seed);
  void upload(void* data, const void* from, std::int64_t bytes);

  /// Waits for the stream, then: elements [first, first + count) as values.
  std::vector<double> read(const DeviceBuffer& buffer, std::int64_t first, std::int64_t count);
  void read_bytes(const void* data, std::int64_t bytes, void* to);

  /// Waits for the stream and tells the comparison of NaN and infinities in the whole buffer. `left_alone`
  /// elements are to be the poison still.
  void check_finite(const DeviceBuffer& buffer, Comparison& comparison, std::int64_t left_alone = 0);

 private:
  [[noreturn]] void refuse(double bytes) const;

  Arena* arena_;
  kernels::Stream stream_;
  kernels::NonfiniteCounts* nonfinite_;
};

}  // namespace inferometer
