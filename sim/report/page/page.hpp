#pragma once

// What stands in a report.html: text, tables and charts, in order. Who fills it: the reports of runs,
// comparisons and plans. Strings are plain text, as users wrote them; html_text() escapes.

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace inferometer {

/// A number of results.json that a text of the page shows, as a rule rounded. It becomes the attributes
/// data-field and data-value of the element with that text, by which tests/browser/check_reports.py compares
/// page and file.
struct ResultsNumber {
  std::string field;  ///< its path: "metrics.p99_ttft_ms", "slo.0.value"
  double value = 0;   ///< as it stands there: same unit, not rounded
};

struct ChartPoint {
  double x = 0, y = 0;     ///< finite; what is not above 0 is left out of the drawing along a log axis
  std::string label = {};  ///< for a tooltip; may be empty
  double weight = 0;       ///< of points: the area of the dot grows with it; all 0: dots alike
};

struct ChartAxis {
  std::string label;  ///< with its unit: "TTFT, ms"
  bool is_log = false;
};

struct ChartSeries {
  std::string name;
  /// Of bars: y for each category, x ignored. Of others: in the order in which a line joins them; beyond
  /// 2,000 the page takes thinned() ones (thinned.hpp).
  std::vector<ChartPoint> points = {};
  bool is_dashed = false;
  bool is_line = false;  ///< in a chart of points: a line through them instead of dots, such as a roof
  /// Series of the same number have the same colour, across the charts of a page; by place when absent.
  std::optional<int> colour = {};
};

/// A straight line across the chart: a limit, a roof, a point of saturation.
struct ChartLine {
  std::string name;
  double at = 0;  ///< of bars, and when not vertical: on the axis y
  bool is_vertical = false;
};

/// Bars lie, a category below the other, which leaves room for their names; y describes the axis of values.
enum class ChartKind { lines, points, stacked_bars };

struct Chart {
  std::string id;  ///< unique on the page, [a-z0-9-]: "ttft-cdf"
  std::string title;
  std::string summary;  ///< what it shows, in words, for who cannot see it
  ChartKind kind = ChartKind::lines;
  ChartAxis x, y;
  std::vector<std::string> categories;  ///< of bars
  std::vector<ChartSeries> series;
  std::vector<ChartLine> lines;
};

enum class Tone { plain, good, warning, bad };

/// A cell of a table; a plain string is one.
struct Cell {
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown, ResultsNumber shown_number, Tone its_tone = Tone::plain)
      : text(std::move(shown)), number(std::move(shown_number)), tone(its_tone) {}
  Cell(std::string shown, Tone its_tone) : text(std::move(shown)), tone(its_tone) {}

  std::string text;
  std::optional<ResultsNumber> number;
  Tone tone = Tone::plain;
};

struct TableBlock {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  ///< as wide as `columns`; the first cell names the row
};

struct Paragraph {
  std::string text;
  Tone tone = Tone::plain;
};

/// Text kept as it is, folded away: the resolved scenario.
struct Listing {
  std::string title, text;
};

/// A figure with its name, shown large: "p99 TTFT" "220 ms" "limit 500 ms, met".
struct KeyFigure {
  std::string name, value;
  std::string remark = {};
  Tone tone = Tone::plain;
  std::optional<ResultsNumber> number = {};  ///< what `value` shows
};

using Block = std::variant<Paragraph, std::vector<KeyFigure>, TableBlock, Chart, Listing>;

struct Section {
  std::string title;
  std::vector<Block> blocks;
};

struct Page {
  std::string title;              ///< "quickstart.yaml"
  std::string subtitle;           ///< "llama-3-8b on 1 x h100-sxm, chunked_prefill"
  std::vector<Paragraph> answer;  ///< the answer first, in words and numbers
  std::vector<Section> sections;
  std::string footer;  ///< what made it, from what: version, hashes
};

/// The page as one self-contained file: no request leaves it. Charts are drawn by Chart.js, inlined; each has
/// its numbers as a table beside it. The same bytes for the same page.
std::string html_text(const Page& page);

}  // namespace inferometer
