#pragma once

// Eight bytes of text at a time, as one 64-bit number whose lowest byte is the first one of the text, on
// every machine. Used where text is read fast; what the bytes mean is decided by the callers.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace inferometer {

/// `byte` in each of the eight places.
constexpr std::uint64_t eight_times(char byte) {
  return 0x0101010101010101U * static_cast<unsigned char>(byte);
}

/// Precondition: eight bytes from `text` may be read.
inline std::uint64_t load_eight(const char* text) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text, sizeof(bytes));
  if constexpr (std::endian::native == std::endian::big) {
    std::uint64_t reversed = 0;
    for (; bytes != 0; bytes >>= 8) {
      reversed = (reversed << 8) | (bytes & 0xFF);
    }
    return reversed;
  }
  return bytes;
}

/// 0x80 in the places of `bytes` that are `least` or more, 0 in the others. Precondition: least <= 0x80.
constexpr std::uint64_t places_from(std::uint64_t bytes, unsigned char least) {
  constexpr std::uint64_t kHigh = eight_times('\x80');
  // Without its highest bit no byte carries into the next one.
  return (((bytes & ~kHigh) + eight_times(static_cast<char>(0x80 - least))) | bytes) & kHigh;
}

/// 0x80 in the places of `bytes` that are `byte`, 0 in the others.
constexpr std::uint64_t places_of(std::uint64_t bytes, char byte) {
  return places_from(bytes ^ eight_times(byte), 1) ^ eight_times('\x80');
}

/// Bit i for the 0x80 in place i.
constexpr std::uint64_t bit_per_place(std::uint64_t places) {
  return ((places >> 7) * 0x0102040810204080U) >> 56;
}

/// Ones in the first `count` places. Precondition: count <= 8.
constexpr std::uint64_t first_places(std::size_t count) {
  return count == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * count)) - 1;
}

/// The number that eight digits write; each place holds the value of its digit, 0 to 9, not its character.
constexpr std::uint64_t number_of(std::uint64_t digits) {
  digits = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FFU;    // four numbers below 100
  digits = (digits * 100 + (digits >> 16)) & 0x0000FFFF0000FFFFU;  // two below 10,000
  return (digits * 10'000 + (digits >> 32)) & 0x00000000FFFFFFFFU;
}

}  // namespace inferometer
