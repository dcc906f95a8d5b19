#pragma once

// A small run with its page, and ways to look for things on a page.

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sim/replica/observer_group.hpp"
#include "sim/report/run/run_charts.hpp"
#include "sim/report/run/run_page.hpp"
#include "sim/report/run_report.hpp"

namespace inferometer::testing {

struct RunWithCharts {
  Report report;
  RunCharts charts;

  [[nodiscard]] Page page() const { return run_page(report, charts); }
};

/// `events` < 0: to its end; else cut off after so many.
inline RunWithCharts run_with_charts(const std::string& text, std::int64_t events = -1) {
  const Scenario scenario = load_scenario_text(text, "test.yaml");
  const Deployment deployment = make_deployment(scenario);
  MetricsRecorder recorder = make_recorder(scenario, false);
  RunChartRecorder charts(recorder);
  std::vector<SimulationObserver*> observers = charts.observers();
  observers.push_back(&recorder);
  ObserverGroup all(observers);
  Simulation simulation = make_simulation(scenario, deployment, all);
  if (events < 0) {
    simulation.run();
  } else {
    simulation.run(events);
    simulation.cut_off();
  }
  return {make_report(scenario, deployment, simulation, recorder, events >= 0),
          charts.charts(deployment, recorder)};
}

template <class Kind>
std::vector<Kind> all_of(const Page& page) {
  std::vector<Kind> found;
  for (const Section& section : page.sections) {
    for (const Block& block : section.blocks) {
      if (const Kind* one = std::get_if<Kind>(&block)) {
        found.push_back(*one);
      }
    }
  }
  return found;
}

/// All numbers of results.json that the page shows, with their texts.
struct ShownNumber {
  ResultsNumber number;
  std::string text;
};
inline std::vector<ShownNumber> numbers_of(const Page& page) {
  std::vector<ShownNumber> numbers;
  for (const TableBlock& table : all_of<TableBlock>(page)) {
    for (const std::vector<Cell>& row : table.rows) {
      for (const Cell& cell : row) {
        if (cell.number) {
          numbers.push_back({*cell.number, cell.text});
        }
      }
    }
  }
  for (const std::vector<KeyFigure>& figures : all_of<std::vector<KeyFigure>>(page)) {
    for (const KeyFigure& figure : figures) {
      if (figure.number) {
        numbers.push_back({*figure.number, figure.value});
      }
    }
  }
  return numbers;
}

/// Whether a sentence of the answer or of a section has these words.
inline bool says(const Page& page, const std::string& words) {
  std::vector<Paragraph> all = all_of<Paragraph>(page);
  all.insert(all.end(), page.answer.begin(), page.answer.end());
  return std::any_of(all.begin(), all.end(),
                     [&](const Paragraph& one) { return one.text.find(words) != std::string::npos; });
}

inline bool answers(const Page& page, const std::string& words, Tone tone) {
  return std::any_of(page.answer.begin(), page.answer.end(), [&](const Paragraph& one) {
    return one.tone == tone && one.text.find(words) != std::string::npos;
  });
}

inline const Chart* chart_of(const std::vector<Chart>& charts, const std::string& id) {
  const auto found =
      std::find_if(charts.begin(), charts.end(), [&](const Chart& chart) { return chart.id == id; });
  return found == charts.end() ? nullptr : &*found;
}

/// What page.hpp asks for: ids once each and of few letters, something in each chart and section, finite
/// points, rows as wide as their table.
inline std::string first_fault(const Page& page) {
  std::set<std::string> ids;
  for (const Chart& chart : all_of<Chart>(page)) {
    const bool is_named =
        chart.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    if (!is_named || !ids.insert(chart.id).second || chart.summary.empty() || chart.series.empty()) {
      return "chart " + chart.id;
    }
    for (const ChartSeries& series : chart.series) {
      const auto is_bad = [](const ChartPoint& point) {
        return !std::isfinite(point.x) || !std::isfinite(point.y);
      };
      if (series.points.empty() || std::any_of(series.points.begin(), series.points.end(), is_bad)) {
        return "series " + series.name + " of chart " + chart.id;
      }
    }
  }
  for (const TableBlock& table : all_of<TableBlock>(page)) {
    for (const std::vector<Cell>& row : table.rows) {
      if (row.size() != table.columns.size()) {
        return "table " + table.caption;
      }
    }
  }
  for (const Section& section : page.sections) {
    if (section.blocks.empty()) {
      return "section " + section.title;
    }
  }
  return "";
}

}  // namespace inferometer::testing
