#include "sim/report/page/chart_json.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "base/check.hpp"
#include "sim/report/page/page_text.hpp"
#include "sim/report/page/thinned.hpp"

namespace inferometer {
namespace {

std::string_view name_of(ChartKind kind) {
  switch (kind) {
    case ChartKind::lines:
      return "lines";
    case ChartKind::points:
      return "points";
    case ChartKind::stacked_bars:
      return "stacked_bars";
  }
  return {};
}

std::string_view bool_text(bool value) {
  return value ? "true" : "false";
}

/// [a,b,c], each item as `text_of` writes it.
template <typename Items, typename Text>
std::string array(const Items& items, Text text_of) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) {
      text += ',';
    }
    text += text_of(item);
  }
  return text + "]";
}

std::string axis_json(const ChartAxis& axis) {
  return fmt::format(R"({{"label":{},"log":{}}})", json_string(axis.label), bool_text(axis.is_log));
}

bool is_drawn(const Chart& chart, const ChartPoint& point) {
  if (chart.kind == ChartKind::stacked_bars) {
    return true;
  }
  return (!chart.x.is_log || point.x > 0) && (!chart.y.is_log || point.y > 0);
}

std::vector<ChartPoint> drawn_points(const Chart& chart, const ChartSeries& series) {
  if (chart.kind == ChartKind::stacked_bars) {
    INFEROMETER_CHECK(series.points.size() == chart.categories.size(), "bars have a value for each category");
    return series.points;
  }
  std::vector<ChartPoint> drawn;
  std::copy_if(series.points.begin(), series.points.end(), std::back_inserter(drawn),
               [&](const ChartPoint& point) { return is_drawn(chart, point); });
  return thinned(std::move(drawn), kDrawnPointsMost);
}

std::string series_json(const Chart& chart, const ChartSeries& series, std::size_t place) {
  const int colour = series.colour.value_or(static_cast<int>(place));
  INFEROMETER_CHECK(colour >= 0, "colours count from 0");
  for (const ChartPoint& point : series.points) {
    INFEROMETER_CHECK(
        std::isfinite(point.x) && std::isfinite(point.y) && point.weight >= 0 && std::isfinite(point.weight),
        "a chart shows finite numbers only");
  }
  const std::vector<ChartPoint> points = drawn_points(chart, series);
  const auto any = [&](auto has) { return std::any_of(points.begin(), points.end(), has); };
  std::string text =
      fmt::format(R"({{"name":{},"dashed":{},"line":{},"colour":{},"y":{})", json_string(series.name),
                  bool_text(series.is_dashed), bool_text(series.is_line), colour,
                  array(points, [](const ChartPoint& point) { return exact_number(point.y); }));
  if (chart.kind != ChartKind::stacked_bars) {
    text += ",\"x\":" + array(points, [](const ChartPoint& point) { return exact_number(point.x); });
  }
  if (any([](const ChartPoint& point) { return !point.label.empty(); })) {
    text += ",\"labels\":" + array(points, [](const ChartPoint& point) { return json_string(point.label); });
  }
  if (any([](const ChartPoint& point) { return point.weight > 0; })) {
    text +=
        ",\"weights\":" + array(points, [](const ChartPoint& point) { return exact_number(point.weight); });
  }
  return text + "}";
}

std::string line_json(const ChartLine& line) {
  return fmt::format(R"({{"name":{},"at":{},"vertical":{}}})", json_string(line.name), exact_number(line.at),
                     bool_text(line.is_vertical));
}

}  // namespace

std::string chart_json(const Chart& chart) {
  std::size_t place = 0;
  const auto series =
      array(chart.series, [&](const ChartSeries& one) { return series_json(chart, one, place++); });
  return fmt::format(R"({{"id":{},"kind":"{}","x":{},"y":{},"categories":{},"series":{},"lines":{}}})",
                     json_string(chart.id), name_of(chart.kind), axis_json(chart.x), axis_json(chart.y),
                     array(chart.categories, json_string), series, array(chart.lines, line_json));
}

bool has_drawn_points(const Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(), [&](const ChartSeries& series) {
    return std::any_of(series.points.begin(), series.points.end(),
                       [&](const ChartPoint& point) { return is_drawn(chart, point); });
  });
}

}  // namespace inferometer
