#pragma once

// Where a byte stands in a block of text. Two ways to the same answer: with SSE2, which every x86-64 has, and
// for any machine; csv_fields_test.cpp holds them against each other.

#include <cstddef>
#include <cstdint>

#include "base/text_input/eight_bytes.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace inferometer {

inline constexpr std::size_t kSearchBlock = 64;

/// Bit i for each of the kSearchBlock bytes from `text` that is `byte`. Precondition: all may be read.
inline std::uint64_t find_byte_portably(const char* text, char byte) {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < kSearchBlock; i += 8) {
    found |= bit_per_place(places_of(load_eight(text + i), byte)) << i;
  }
  return found;
}

/// The same, as fast as the machine can.
inline std::uint64_t find_byte(const char* text, char byte) {
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(byte);
  const auto found_from = [text, wanted](std::size_t i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + i));
    return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)))} << i;
  };
  return found_from(0) | found_from(16) | found_from(32) | found_from(48);
#else
  return find_byte_portably(text, byte);
#endif
}

}  // namespace inferometer
