#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace inferometer {

/// What a run of a size, or under a rate, told.
struct Probe {
  bool meets = false;
  std::optional<double> load;  ///< offered rate over capacity, when it is known
};

/// Nothing when the outcome is not known yet.
using SizeProbe = std::function<std::optional<Probe>(std::int64_t units)>;

struct SizeAnswer {
  std::optional<std::int64_t> smallest;  ///< that meets, when any does
};

/// The smallest of the sizes (ascending, at least one) that meets, where every one above it does too. Nothing
/// when it needs an outcome that is not known. With `ceiling_first` it begins with the largest, which settles
/// it when that misses; else with the smallest, going up by what the load says, so that large sizes are run
/// only when they are needed. About log2(sizes) probes.
std::optional<SizeAnswer> find_smallest(const std::vector<std::int64_t>& units, bool ceiling_first,
                                        const SizeProbe& probe);

}  // namespace inferometer
