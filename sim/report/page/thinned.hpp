#pragma once

// Fewer points for a line than were recorded, with the same look. Who fills pages thins what it keeps;
// html_text() thins what is left.

#include <cstddef>
#include <vector>

#include "sim/report/page/page.hpp"

namespace inferometer {

/// The places of at most `most` of the points, ascending: the first, the last, and of each of (most - 2) / 2
/// runs of equally many points the lowest and the highest by y. So no peak is lost, the curve keeps both
/// ends, and drawn on fewer pixel columns than there are runs it covers the same pixels; see "M4" (Jugel,
/// Jerzak, Hackenbroich, Markl, VLDB 2014), of which this is the part that matters for lines denser than
/// pixels. All places when there are no more than `most`. O(points). Precondition: most >= 4.
std::vector<std::size_t> thinned_places(const std::vector<ChartPoint>& points, std::size_t most);

/// The points at those places.
std::vector<ChartPoint> thinned(std::vector<ChartPoint> points, std::size_t most);

}  // namespace inferometer
