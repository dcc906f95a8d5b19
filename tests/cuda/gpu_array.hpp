#pragma once

// What a test needs of a GPU, without CUDA's headers. Errors of CUDA are thrown as std::runtime_error.

#include <cstddef>
#include <string>

namespace inferometer::test {

/// Why no kernel can be run here; empty when one can.
std::string gpu_missing();

/// Waits for all kernels; throws what went wrong in one.
void wait_for_gpu();

/// Bytes on the GPU, freed with it.
class GpuArray {
 public:
  /// Every byte is 0xff: NaN in all formats, -1 as an integer.
  explicit GpuArray(std::size_t bytes);
  GpuArray(const void* source, std::size_t bytes);
  ~GpuArray();
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void copy_to(void* target) const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace inferometer::test
