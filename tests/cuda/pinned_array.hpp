#pragma once

// Page-locked memory of the host, without CUDA's headers.

#include <cstddef>

namespace inferometer::test {

/// Bytes, freed with it; throws std::runtime_error when CUDA has none.
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t bytes);
  ~PinnedArray();
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;

  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace inferometer::test
