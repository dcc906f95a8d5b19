#include "sim/report/page/chart_html.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "sim/report/page/block_html.hpp"
#include "sim/report/page/chart_json.hpp"
#include "sim/report/page/page_text.hpp"

namespace inferometer {
namespace {

/// A table of a chart's numbers and what had to be left out of it.
struct Numbers {
  TableBlock table;
  bool is_thinned = false;
};

bool any_point(const Chart& chart, bool (*has)(const ChartPoint&)) {
  return std::any_of(chart.series.begin(), chart.series.end(), [&](const ChartSeries& series) {
    return std::any_of(series.points.begin(), series.points.end(), has);
  });
}

bool has_label(const ChartPoint& point) {
  return !point.label.empty();
}
bool has_weight(const ChartPoint& point) {
  return point.weight > 0;
}

/// Whether one column of x serves all series.
bool is_x_shared(const Chart& chart) {
  const auto same_x = [](const ChartPoint& a, const ChartPoint& b) { return a.x == b.x; };
  const std::vector<ChartPoint>& first = chart.series.front().points;
  return !any_point(chart, has_label) && !any_point(chart, has_weight) &&
         std::all_of(chart.series.begin(), chart.series.end(), [&](const ChartSeries& series) {
           return std::equal(first.begin(), first.end(), series.points.begin(), series.points.end(), same_x);
         });
}

/// Places of the points that a table lists: all, or evenly spaced ones, with both ends, the lowest and the
/// highest. A drawing needs more of them (thinned.hpp), a reader fewer.
std::set<std::size_t> listed_places(const std::vector<ChartPoint>& points, std::size_t most) {
  std::set<std::size_t> places;
  const std::size_t count = std::min(most, points.size());
  for (std::size_t place = 0; place < count; ++place) {
    places.insert(count == 1 ? 0 : place * (points.size() - 1) / (count - 1));
  }
  if (count < points.size()) {
    const auto by_y = [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; };
    const auto [lowest, highest] = std::minmax_element(points.begin(), points.end(), by_y);
    places.insert(static_cast<std::size_t>(lowest - points.begin()));
    places.insert(static_cast<std::size_t>(highest - points.begin()));
  }
  return places;
}

/// Rows that each series may have so that all of them stay about within the most.
std::size_t rows_of_a_series(const Chart& chart) {
  constexpr std::size_t kLeast = 10;
  return std::max(kLeast, kChartTableRowsMost / chart.series.size());
}

Numbers bar_numbers(const Chart& chart) {
  Numbers numbers;
  numbers.table.columns.push_back(chart.x.label);
  for (const ChartSeries& series : chart.series) {
    numbers.table.columns.push_back(series.name);
  }
  for (std::size_t category = 0; category < chart.categories.size(); ++category) {
    std::vector<Cell> row{chart.categories[category]};
    for (const ChartSeries& series : chart.series) {
      row.emplace_back(readable_number(series.points[category].y));
    }
    numbers.table.rows.push_back(std::move(row));
  }
  return numbers;
}

/// A row for each x, a column for each series. Of long ones evenly spaced rows, and those in which a series
/// is lowest or highest.
Numbers shared_x_numbers(const Chart& chart) {
  Numbers numbers;
  numbers.table.columns.push_back(chart.x.label);
  std::set<std::size_t> places;
  for (const ChartSeries& series : chart.series) {
    numbers.table.columns.push_back(series.name);
    places.merge(listed_places(series.points, kChartTableRowsMost));
  }
  for (const std::size_t place : places) {
    std::vector<Cell> row{readable_number(chart.series.front().points[place].x)};
    for (const ChartSeries& series : chart.series) {
      row.emplace_back(readable_number(series.points[place].y));
    }
    numbers.table.rows.push_back(std::move(row));
  }
  numbers.is_thinned = places.size() < chart.series.front().points.size();
  return numbers;
}

/// A row for each point, series after series.
Numbers point_numbers(const Chart& chart) {
  const bool with_labels = any_point(chart, has_label);
  const bool with_weights = any_point(chart, has_weight);
  Numbers numbers;
  numbers.table.columns = {"Series", chart.x.label, chart.y.label};
  if (with_weights) {
    numbers.table.columns.emplace_back("Weight");
  }
  if (with_labels) {
    numbers.table.columns.emplace_back("Point");
  }
  for (const ChartSeries& series : chart.series) {
    const std::set<std::size_t> places = listed_places(series.points, rows_of_a_series(chart));
    numbers.is_thinned = numbers.is_thinned || places.size() < series.points.size();
    for (const std::size_t place : places) {
      const ChartPoint& point = series.points[place];
      std::vector<Cell> row{series.name, readable_number(point.x), readable_number(point.y)};
      if (with_weights) {
        row.emplace_back(readable_number(point.weight));
      }
      if (with_labels) {
        row.emplace_back(point.label);
      }
      numbers.table.rows.push_back(std::move(row));
    }
  }
  return numbers;
}

Numbers numbers_of(const Chart& chart) {
  Numbers numbers;
  if (chart.kind == ChartKind::stacked_bars) {
    numbers = bar_numbers(chart);
  } else if (is_x_shared(chart)) {
    numbers = shared_x_numbers(chart);
  } else {
    numbers = point_numbers(chart);
  }
  numbers.table.caption = fmt::format("{}: {}", chart.title, chart.y.label);
  return numbers;
}

/// "Lines across: limit at 500 (TTFT, ms); ..."
std::string lines_text(const Chart& chart) {
  std::string text;
  for (const ChartLine& line : chart.lines) {
    text += fmt::format("{}{} at {} ({})", text.empty() ? "Lines across: " : "; ", line.name,
                        readable_number(line.at), line.is_vertical ? chart.x.label : chart.y.label);
  }
  return text;
}

std::string note_html(const std::string& text) {
  return fmt::format("<p class=\"note\">{}</p>\n", html_escaped(text));
}

}  // namespace

std::string chart_html(const Chart& chart, bool with_canvas) {
  const std::string title = html_escaped(chart.title);
  const std::string summary = html_escaped(chart.summary);
  std::string html = fmt::format(
      "<figure class=\"chart\" id=\"chart-{}\">\n<figcaption><h3>{}</h3><p "
      "class=\"summary\">{}</p></figcaption>\n",
      html_escaped(chart.id), title, summary);
  if (!has_drawn_points(chart)) {
    return html + note_html("There is nothing to draw: no point of it can be shown on these axes.") +
           "</figure>\n";
  }
  if (with_canvas) {
    html += fmt::format(
        "<div class=\"plot\" hidden><canvas role=\"img\" tabindex=\"0\" aria-label=\"{}\"></canvas></div>\n",
        summary);
  }
  const Numbers numbers = numbers_of(chart);
  html += fmt::format(
      "<details class=\"numbers\"{}><summary>Numbers<span class=\"heard\"> of {}</span></summary>\n",
      with_canvas ? "" : " open", title);
  html += table_html(numbers.table);
  if (numbers.is_thinned) {
    html += note_html("Not every point is listed: evenly spaced ones, the lowest and the highest.");
  }
  if (!chart.lines.empty()) {
    html += note_html(lines_text(chart));
  }
  return html + "</details>\n</figure>\n";
}

}  // namespace inferometer
