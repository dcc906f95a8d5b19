#pragma once

// An exact sum in 192 bits, for squares of picoseconds: one alone may take 126 bits.

#include <cmath>
#include <cstdint>

#include "base/int128.hpp"

namespace inferometer {

__extension__ typedef unsigned __int128 UInt128;

class WideSum {
 public:
  /// Precondition: term >= 0.
  void add(Int128 term) { add_words(static_cast<UInt128>(term), 0); }

  /// Precondition: 0 <= times < 2^63, and |term| < 2^127.
  void add(Int128 term, std::int64_t times) {
    const Int128 high = (term >> 64) * times;
    add_words(static_cast<UInt128>(high) << 64, static_cast<std::int64_t>(high >> 64));
    add_words(UInt128{static_cast<std::uint64_t>(term)} * static_cast<std::uint64_t>(times), 0);
  }

  [[nodiscard]] double value() const {
    const Int128 high = (Int128{high_} << 64) + static_cast<Int128>(low_ >> 64);
    return std::ldexp(static_cast<double>(high), 64) + static_cast<double>(static_cast<std::uint64_t>(low_));
  }

 private:
  void add_words(UInt128 low, std::int64_t high) {
    low_ += low;
    high_ += high + (low_ < low ? 1 : 0);
  }

  UInt128 low_ = 0;
  std::int64_t high_ = 0;
};

}  // namespace inferometer
