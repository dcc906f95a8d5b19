#pragma once

// How many durations are about how long: counts in buckets as wide as 1/256 of their values at most, in
// constant memory. Tells where in the sorted values a place is, exactly or nearly.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// Values of the same leading bits: whole picoseconds up to 511, then 256 buckets for every power of two.
struct DurationBucket {
  static constexpr int kLeadingBits = 9;
  static constexpr std::size_t kPerPower = std::size_t{1} << (kLeadingBits - 1);
  static constexpr std::size_t kCount =
      kPerPower * (std::numeric_limits<std::int64_t>::digits - kLeadingBits + 2);

  /// Low bits of a value that do not matter. Precondition: value >= 0.
  static int dropped_bits(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value) | kPerPower;
    return static_cast<int>(std::bit_width(bits)) - kLeadingBits;
  }
  static std::size_t index_of(std::int64_t value) {
    const int dropped = dropped_bits(value);
    return kPerPower * static_cast<std::size_t>(dropped) + (static_cast<std::uint64_t>(value) >> dropped);
  }
  /// The largest value in the bucket of `value`.
  static std::int64_t highest_like(std::int64_t value) {
    return value | ((std::int64_t{1} << dropped_bits(value)) - 1);
  }
  static std::int64_t lowest_of(std::size_t index) {
    const std::size_t dropped = index < 2 * kPerPower ? 0 : index / kPerPower - 1;
    return static_cast<std::int64_t>((index - kPerPower * dropped) << dropped);
  }
  static std::int64_t highest_of(std::size_t index) { return highest_like(lowest_of(index)); }
  /// At most 1/512 of any value in the bucket away from it: half of a width that is at most 1/256 of the
  /// lowest.
  static std::int64_t middle_of(std::size_t index) {
    return lowest_of(index) + (highest_of(index) - lowest_of(index)) / 2;
  }
};

class DurationHistogram {
 public:
  DurationHistogram() : counts_(DurationBucket::kCount) {}

  /// Precondition: value >= 0. O(1).
  void add(Duration value, std::int64_t count) { counts_[DurationBucket::index_of(value.count())] += count; }

  /// As DurationMoments::add_progression. O(buckets that it crosses).
  void add_progression(Duration first, Duration difference, std::int64_t length, std::int64_t count);

  /// By bucket.
  [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
  std::vector<std::int64_t> counts_;
};

}  // namespace inferometer
