#pragma once

// One piece of GPU memory that the buffers of a call are cut from, one after the other. Taken once when a
// device is opened: allocating takes milliseconds and would stand between measurements. Who uses it:
// call_memory.hpp.

#include <cstddef>
#include <cstdint>

namespace inferometer {

class Arena {
 public:
  /// What cudaMalloc aligns to at the least, and more than any access needs.
  static constexpr std::int64_t kAlignment = 256;

  Arena() = default;
  /// `begin` is aligned so; of `bytes` (>= 0) as many whole alignments as there are.
  Arena(void* begin, std::int64_t bytes)
      : begin_(static_cast<std::byte*>(begin)), bytes_(bytes / kAlignment * kAlignment) {}

  /// The next `bytes` (>= 0), aligned; nullptr when they are not there. Two buffers never touch the same
  /// bytes.
  void* take(std::int64_t bytes) {
    if (bytes < 0 || bytes > bytes_ - used_) {
      return nullptr;
    }
    std::byte* const buffer = begin_ + used_;
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return buffer;
  }

  /// All buffers are given back.
  void reset() { used_ = 0; }

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  std::byte* begin_ = nullptr;
  std::int64_t bytes_ = 0;
  std::int64_t used_ = 0;
};

}  // namespace inferometer
