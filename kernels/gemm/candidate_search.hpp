#pragma once

// The fastest of several candidates by a noisy clock.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace inferometer::kernels {

/// The second look: so many of the first look's best are timed again.
inline constexpr int kFinalists = 3;

/// Index of the fastest of `count` candidates. `seconds(candidate)` times one; below zero says that it cannot
/// run. Each is timed once, the best few once more, and the least of a candidate's times counts: noise only
/// adds. Equal times: the lower index. -1 when none can run.
template <class Seconds>
int fastest_candidate(int count, const Seconds& seconds) {
  struct Timed {
    double seconds;
    int candidate;
  };
  std::vector<Timed> timed;
  for (int candidate = 0; candidate < count; ++candidate) {
    const double time = seconds(candidate);
    if (time >= 0) {
      timed.push_back({time, candidate});
    }
  }
  const auto is_faster = [](const Timed& a, const Timed& b) { return a.seconds < b.seconds; };
  std::stable_sort(timed.begin(), timed.end(), is_faster);
  timed.resize(std::min(timed.size(), static_cast<std::size_t>(kFinalists)));
  for (Timed& finalist : timed) {
    const double again = seconds(finalist.candidate);
    if (again >= 0) {
      finalist.seconds = std::min(finalist.seconds, again);
    }
  }
  const auto fastest = std::min_element(timed.begin(), timed.end(), is_faster);
  return fastest == timed.end() ? -1 : fastest->candidate;
}

}  // namespace inferometer::kernels
