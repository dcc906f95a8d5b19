#pragma once

// A list that only grows, for what a simulation keeps of each request or step: memory is taken a chunk at a
// time, and what is in it never moves.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <vector>

namespace inferometer {

template <class T>
class ChunkedColumn {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
  /// Elements of a chunk.
  static constexpr std::size_t kChunk = std::bit_floor(kChunkBytes / sizeof(T));

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const ChunkedColumn& column, std::size_t place) : column_(&column), place_(place) {}

    reference operator*() const { return (*column_)[place_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++place_;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.place_ == b.place_; }

   private:
    const ChunkedColumn* column_ = nullptr;
    std::size_t place_ = 0;
  };
  using value_type = T;
  using const_iterator = Iterator;

  /// O(1); moves nothing.
  void push_back(const T& value) {
    if (chunks_.empty() || chunks_.back().size() == kChunk) {
      chunks_.emplace_back().reserve(kChunk);
    }
    chunks_.back().push_back(value);
  }

  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] std::size_t size() const {
    return chunks_.empty() ? 0 : (chunks_.size() - 1) * kChunk + chunks_.back().size();
  }
  /// Precondition: place < size().
  [[nodiscard]] const T& operator[](std::size_t place) const {
    return chunks_[place / kChunk][place % kChunk];
  }
  [[nodiscard]] const T& front() const { return chunks_.front().front(); }
  [[nodiscard]] const T& back() const { return chunks_.back().back(); }
  [[nodiscard]] T& back() { return chunks_.back().back(); }
  [[nodiscard]] Iterator begin() const { return Iterator(*this, 0); }
  [[nodiscard]] Iterator end() const { return Iterator(*this, size()); }

  /// The elements in order, for loops that must be quick.
  [[nodiscard]] const std::vector<std::vector<T>>& chunks() const { return chunks_; }

 private:
  std::vector<std::vector<T>> chunks_;
};

}  // namespace inferometer
