#include "calibration/device/sampled_indices.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/common/random_element.hpp"

namespace inferometer {

std::vector<std::int64_t> sampled_indices(std::int64_t count, std::int64_t most, std::uint64_t seed) {
  if (count <= most) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
  }
  if (most == 1) {
    return {static_cast<std::int64_t>(kernels::random_bits(seed, 0) % static_cast<std::uint64_t>(count))};
  }
  // One of each of `most - 2` equal stretches between the first and the last: distinct by construction.
  std::vector<std::int64_t> chosen{0};
  const std::int64_t inner = count - 2;
  const std::int64_t stretches = most - 2;
  for (std::int64_t i = 0; i < stretches; ++i) {
    const std::int64_t begin = 1 + i * inner / stretches;
    const std::int64_t end = 1 + (i + 1) * inner / stretches;
    const std::uint64_t bits = kernels::random_bits(seed, static_cast<std::uint64_t>(i));
    chosen.push_back(begin + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(end - begin)));
  }
  chosen.push_back(count - 1);
  return chosen;
}

std::int64_t outputs_to_compare(double elements_of_one) {
  const double affordable = std::floor(kMostRecomputedElements / elements_of_one);
  return static_cast<std::int64_t>(
      std::clamp(affordable, static_cast<double>(kFewestOutputs), static_cast<double>(kMostOutputs)));
}

}  // namespace inferometer
