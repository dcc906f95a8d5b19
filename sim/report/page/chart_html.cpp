#include "sim/report/page/chart_html.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "sim/report/page/block_html.hpp"
#include "sim/report/page/chart_json.hpp"
#include "sim/report/page/page_text.hpp"
#include "sim/report/page/thinned.hpp"

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

/// Rows that each series may have so that all of them stay within the most.
std::size_t rows_of_a_series(const Chart& chart) {
  constexpr std::size_t kLeast = 4;
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

/// A row for each x, a column for each series. Of long series the rows in which any of them has a peak.
Numbers shared_x_numbers(const Chart& chart) {
  Numbers numbers;
  numbers.table.columns.push_back(chart.x.label);
  std::set<std::size_t> places;
  for (const ChartSeries& series : chart.series) {
    numbers.table.columns.push_back(series.name);
    const std::vector<std::size_t> kept = thinned_places(series.points, rows_of_a_series(chart));
    places.insert(kept.begin(), kept.end());
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
    const std::vector<std::size_t> places = thinned_places(series.points, rows_of_a_series(chart));
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
    html += note_html(
        "Not every point is listed: the first and last, and the lowest and highest of each stretch between.");
  }
  html += "</details>\n";
  if (!chart.lines.empty()) {
    html += note_html(lines_text(chart));
  }
  return html + "</figure>\n";
}

}  // namespace inferometer
