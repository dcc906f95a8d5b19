#pragma once

// What stands in a report.html: text, tables and charts, in order. Who fills it: the reports of runs,
// comparisons and plans. Strings are plain text, as users wrote them; html_text() escapes.

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace inferometer {

struct ChartPoint {
  double x = 0, y = 0;  ///< finite
  std::string label;    ///< for a tooltip; may be empty
};

struct ChartAxis {
  std::string label;  ///< with its unit: "TTFT, ms"
  bool is_log = false;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;  ///< of bars: one for each category, x ignored
  bool is_dashed = false;
  /// Series of the same number have the same colour, across the charts of a page; by place when absent.
  std::optional<int> colour;
};

/// A straight line across the chart: a limit, a roof, a point of saturation.
struct ChartLine {
  std::string name;
  double at = 0;
  bool is_vertical = false;
};

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

struct TableBlock {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< as wide as `columns`; the first cell names the row
};

enum class Tone { plain, good, warning, bad };

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
  std::string name, value, remark;
  Tone tone = Tone::plain;
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
