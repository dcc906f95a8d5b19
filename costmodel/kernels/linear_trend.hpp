#pragma once

// A straight trend of a correction in its features, below the trees that follow its jumps. Trees are level
// beyond the shapes they were grown on and between them; a trend carries over to shapes in between. Who uses
// it: fitted corrections of experts, of which few models are measured.

#include <span>
#include <vector>

namespace inferometer {

/// Sum over the features of slope x distance from the middle of the range that the trees cut (from the first
/// edge to the last), each feature held within that range. `slopes` may be empty: 0.
/// Precondition: else as many slopes and features as there are lists of edges.
double linear_trend(std::span<const double> slopes, const std::vector<std::vector<double>>& edges,
                    std::span<const double> features);

/// The largest it can be, whatever the features.
double largest_trend(std::span<const double> slopes, const std::vector<std::vector<double>>& edges);

}  // namespace inferometer
