#pragma once

// A list that only grows, for what a simulation keeps of each request or step: memory is taken a chunk at a
// time, and what is in it never moves.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
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

  ChunkedColumn() = default;
  ChunkedColumn(ChunkedColumn&& other) noexcept { swap(other); }
  ChunkedColumn& operator=(ChunkedColumn&& other) noexcept {
    ChunkedColumn taken(std::move(other));
    swap(taken);
    return *this;
  }

  /// O(1); moves nothing.
  void push_back(const T& value) {
    if (next_ == end_) {
      start_chunk();
    }
    *next_++ = value;
  }

  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] std::size_t size() const {
    return chunks_.size() * kChunk - static_cast<std::size_t>(end_ - next_);
  }
  /// Precondition: place < size().
  [[nodiscard]] const T& operator[](std::size_t place) const {
    return chunks_[place / kChunk].get()[place % kChunk];
  }
  [[nodiscard]] const T& front() const { return *chunks_.front(); }
  [[nodiscard]] const T& back() const { return *(next_ - 1); }
  [[nodiscard]] T& back() { return *(next_ - 1); }
  [[nodiscard]] Iterator begin() const { return Iterator(*this, 0); }
  [[nodiscard]] Iterator end() const { return Iterator(*this, size()); }

  [[nodiscard]] std::size_t chunks() const { return chunks_.size(); }
  /// The elements of a chunk, in order, for loops that must be quick. Precondition: place < chunks().
  [[nodiscard]] std::span<const T> chunk(std::size_t place) const {
    return {chunks_[place].get(), std::min(kChunk, size() - place * kChunk)};
  }

 private:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "memory is taken and given back as it is");
  struct Give {
    void operator()(T* chunk) const { std::allocator<T>().deallocate(chunk, kChunk); }
  };

  // Not inlined, so that push_back is.
  [[gnu::noinline]] void start_chunk() {
    chunks_.emplace_back(std::allocator<T>().allocate(kChunk));
    next_ = chunks_.back().get();
    end_ = next_ + kChunk;
  }
  void swap(ChunkedColumn& other) noexcept {
    chunks_.swap(other.chunks_);
    std::swap(next_, other.next_);
    std::swap(end_, other.end_);
  }

  std::vector<std::unique_ptr<T, Give>> chunks_;
  T* next_ = nullptr;
  T* end_ = nullptr;
};

}  // namespace inferometer
