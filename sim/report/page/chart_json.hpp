#pragma once

#include <cstddef>
#include <string>

#include "sim/report/page/page.hpp"

namespace inferometer {

/// A series with more points is thinned for the drawing: charts are some 1,000 pixels wide.
inline constexpr std::size_t kDrawnPointsMost = 2000;

/// What assets/report.js draws a chart from. Of a series of lines or dots: the points that its axes can show,
/// thinned; labels and weights only where there are any. Checks that all numbers are finite and that bars
/// have one for each category.
std::string chart_json(const Chart& chart);

/// Whether there is anything to draw.
bool has_drawn_points(const Chart& chart);

}  // namespace inferometer
