#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inferometer {

/// A series of unknown length in bounded memory: keeps every stride-th value, and doubles the stride
/// (dropping every second value kept) whenever it is full.
template <class T>
class ThinnedSamples {
 public:
  /// Precondition: capacity >= 2 and even.
  explicit ThinnedSamples(std::size_t capacity = 4096) : capacity_(capacity) {}

  void add(const T& value) {
    if ((added_++ & (stride_ - 1)) != 0) {
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

  /// At most capacity - 1 values: value number i * stride(), counting from 0.
  [[nodiscard]] const std::vector<T>& kept() const { return kept_; }
  [[nodiscard]] std::int64_t stride() const { return stride_; }

 private:
  std::size_t capacity_;
  std::int64_t added_ = 0;
  std::int64_t stride_ = 1;  // a power of two
  std::vector<T> kept_;
};

}  // namespace inferometer
