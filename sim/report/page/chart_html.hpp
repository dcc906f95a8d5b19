#pragma once

#include <string>

#include "sim/report/page/page.hpp"

namespace inferometer {

/// Rows of the table beside a chart, about: longer ones are thinned.
inline constexpr std::size_t kChartTableRowsMost = 200;

/// A figure: title and summary, a canvas for assets/report.js where there is something to draw and a library
/// that draws, the numbers as a table (folded away if there is a canvas), and the lines across the chart in
/// words.
std::string chart_html(const Chart& chart, bool with_canvas);

}  // namespace inferometer
