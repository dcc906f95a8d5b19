#pragma once

// Which outputs of a kernel are compared with the reference: a float64 reference of all of them would take
// hours for the large calls. Who uses it: the runners' checks.

#include <cstdint>
#include <vector>

namespace inferometer {

/// Of [0, count): all when there are at most `most`, else the first, the last and pseudo-random others that
/// `seed` chooses; where it is only one, any. `most` distinct ones, ascending. Preconditions: count >= 1,
/// most >= 1.
std::vector<std::int64_t> sampled_indices(std::int64_t count, std::int64_t most, std::uint64_t seed);

/// How many outputs to compare when each takes `elements_of_one` inputs to recompute: kMostOutputs, fewer
/// where that would take longer than timing the kernel, never fewer than kFewestOutputs. Precondition:
/// elements_of_one >= 1.
std::int64_t outputs_to_compare(double elements_of_one);

inline constexpr std::int64_t kMostOutputs = 32;
/// Of the dearest calls one, a different place each time; the whole output is searched for NaN besides.
inline constexpr std::int64_t kFewestOutputs = 1;
/// A core recomputes some hundred million elements a second: milliseconds of the ten or so of a point.
inline constexpr double kMostRecomputedElements = 1e6;

}  // namespace inferometer
