#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace inferometer::testing {

/// Draws for random scenarios: the same for the same seed and path, on any machine.
class Dice {
 public:
  Dice(std::uint64_t seed, const std::string& path) : stream_(seed, path) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(std::int64_t percent) { return between(1, 100) <= percent; }
  std::int64_t one_of(const std::vector<std::int64_t>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
  std::string name_of(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }

 private:
  RandomStream stream_;
};

}  // namespace inferometer::testing
