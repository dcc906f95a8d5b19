#pragma once

// Requests that had the system to themselves when they arrived: what an engine takes for a first token
// without queue and batch. Who uses it: predictions, for kLoneTtft.

#include <optional>
#include <vector>

namespace inferometer {

/// A request on a time axis, in any unit.
struct Stay {
  double arrival = 0, first_token = 0, finished = 0;
};

/// The median time to the first token of requests before whose arrival all earlier ones had finished (one
/// that finishes at that very moment has). Those that arrive together are not alone, but for the one that is
/// first in the list. Nothing for an empty list. O(n log n).
std::optional<double> median_lone_ttft(std::vector<Stay> stays);

}  // namespace inferometer
