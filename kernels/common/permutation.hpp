#pragma once

// Pseudo-random permutations by formula: page tables of any length are filled in parallel, and the host
// recomputes just the entries that a check needs.

#include <cstdint>

#include "kernels/common/random_element.hpp"

namespace inferometer::kernels {

/// Where a permutation of [0, count) that `seed` chooses sends `index`. A Feistel network (Luby, Rackoff
/// 1988) permutes the numbers of an even number of bits; what leaves [0, count) is permuted again until it is
/// back (cycle walking: Black, Rogaway 2002), fewer than 4 times on average. Preconditions: 0 <= index <
/// count, count <= 2^31 - 1.
INFEROMETER_HOST_DEVICE constexpr std::int64_t permuted(std::uint64_t seed, std::int64_t index,
                                                        std::int64_t count) {
  constexpr int kRounds = 4;  // from which on the network is as good as random (Luby, Rackoff)
  int half_bits = 1;
  while ((std::int64_t{1} << (2 * half_bits)) < count) {
    ++half_bits;
  }
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  auto place = static_cast<std::uint64_t>(index);
  do {
    std::uint64_t left = place >> half_bits;
    std::uint64_t right = place & mask;
    for (int round = 0; round < kRounds; ++round) {
      const std::uint64_t mixed =
          left ^ (random_bits(seed + static_cast<std::uint64_t>(round), right) & mask);
      left = right;
      right = mixed;
    }
    place = left << half_bits | right;
  } while (place >= static_cast<std::uint64_t>(count));
  return static_cast<std::int64_t>(place);
}

}  // namespace inferometer::kernels
