#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inferometer {

/// A series of unknown length in bounded memory: keeps every stride-th value, and doubles the stride
/// (dropping every second value kept) whenever it is full.
class ThinnedSamples {
 public:
  /// Precondition: capacity >= 2 and even.
  explicit ThinnedSamples(std::size_t capacity = 4096) : capacity_(capacity) {}

  void add(std::int64_t value) {
    if (added_++ % stride_ != 0) {
      return;
    }
    kept_.push_back(value);
    if (kept_.size() == capacity_) {
      for (std::size_t i = 0; i < capacity_ / 2; ++i) {
        kept_[i] = kept_[2 * i];
      }
      kept_.resize(capacity_ / 2);
      stride_ *= 2;
    }
  }

  /// Value number i * stride(), counting from 0.
  [[nodiscard]] const std::vector<std::int64_t>& kept() const { return kept_; }
  [[nodiscard]] std::int64_t stride() const { return stride_; }

 private:
  std::size_t capacity_;
  std::int64_t added_ = 0;
  std::int64_t stride_ = 1;
  std::vector<std::int64_t> kept_;
};

}  // namespace inferometer
