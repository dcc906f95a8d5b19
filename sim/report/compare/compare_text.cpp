#include "sim/report/compare/compare_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/report/compare/compare_sentences.hpp"
#include "sim/report/compare/difference_words.hpp"
#include "sim/report/compare/metric_words.hpp"
#include "sim/report/text_layout.hpp"
#include "sim/study/compare/metric_direction.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kGap = "  ";

/// Characters of UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string flush_right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

std::string flush_left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

enum class Style { plain, heading, good, bad };

std::string styled(Style style, const std::string& text, bool colour) {
  if (!colour || style == Style::plain) {
    return text;
  }
  const char* code = style == Style::heading ? "1" : style == Style::good ? "32" : "1;31";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

/// A metric of one variant.
struct Cell {
  std::string value, difference, verdict;
  Style style = Style::plain;  ///< of the verdict
};

/// One variant: its name, then a line for each metric, all of them equally wide.
struct Column {
  std::vector<std::string> lines;
  std::size_t width = 0;
};

Cell cell_of(const std::string& metric, const ComparedMetric& compared, bool is_unsteady) {
  Cell cell;
  cell.value = compared.value ? metric_number(metric, compared.value->mean) : "-";
  if (!compared.difference) {
    cell.verdict = is_unsteady ? "*" : "";
    return cell;
  }
  const Difference& difference = *compared.difference;
  cell.difference = short_difference(metric, difference);
  cell.verdict = verdict_word(difference);
  cell.style = difference.verdict == DifferenceVerdict::better  ? Style::good
               : difference.verdict == DifferenceVerdict::worse ? Style::bad
                                                                : Style::plain;
  return cell;
}

Column column_of(const CompareStudy& study, const VariantResult& result, const std::string& name,
                 bool colour) {
  std::vector<Cell> cells;
  std::size_t value = 0, difference = 0, verdict = 0;
  for (std::size_t i = 0; i < study.metrics.size(); ++i) {
    const bool is_unsteady = result.is_unstable() && grows_with_queue(study.metrics[i]);
    cells.push_back(cell_of(study.metrics[i], result.metrics[i], is_unsteady));
    value = std::max(value, cells.back().value.size());
    difference = std::max(difference, cells.back().difference.size());
    verdict = std::max(verdict, cells.back().verdict.size());
  }
  const std::size_t tail = (difference > 0 ? difference + 1 : 0) + (verdict > 0 ? verdict + 1 : 0);
  value = std::max(value, width_of(name) > tail ? width_of(name) - tail : 0);
  Column column;
  column.width = value + tail;
  column.lines.push_back(styled(Style::heading, flush_right(name, column.width), colour));
  for (const Cell& cell : cells) {
    std::string line = flush_right(cell.value, value);
    line += difference > 0 ? " " + flush_right(cell.difference, difference) : "";
    line += verdict > 0 ? " " + styled(cell.style, flush_left(cell.verdict, verdict), colour) : "";
    column.lines.push_back(std::move(line));
  }
  return column;
}

/// Columns side by side, behind the names of metrics.
std::string side_by_side(const std::vector<const Column*>& columns) {
  std::string text;
  for (std::size_t line = 0; line < columns.front()->lines.size(); ++line) {
    std::string row;
    for (const Column* column : columns) {
      row += (row.empty() ? std::string() : std::string(kGap)) + column->lines[line];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

Column heading_column(const CompareStudy& study, const std::string& load, bool colour) {
  std::vector<std::string> names = {load};
  for (const std::string& metric : study.metrics) {
    names.push_back("  " + metric_heading(metric));
  }
  Column column;
  for (const std::string& name : names) {
    column.width = std::max(column.width, width_of(name));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    column.lines.push_back(
        styled(i == 0 ? Style::heading : Style::plain, flush_left(names[i], column.width), colour));
  }
  return column;
}

/// As many variants in a row of columns as there is room for, the baseline first in each.
std::string load_text(const CompareStudy& study, std::size_t place, const LoadResult& load, bool colour,
                      std::size_t width) {
  const std::string& words = study.loads[place].in_words;
  const Column heading = heading_column(study, words.empty() ? "metric" : words, colour);
  std::vector<Column> columns;
  for (std::size_t i = 0; i < load.variants.size(); ++i) {
    if (i == 0 || load.variants[i].error.empty()) {
      columns.push_back(column_of(study, load.variants[i], study.variants[i], colour));
    }
  }
  std::string text;
  for (std::size_t next = 1; next < columns.size() || text.empty();) {
    std::vector<const Column*> row = {&heading, &columns.front()};
    std::size_t used = heading.width + kGap.size() + columns.front().width;
    while (next < columns.size() && (row.size() == 2 || used + kGap.size() + columns[next].width <= width)) {
      used += kGap.size() + columns[next].width;
      row.push_back(&columns[next++]);
    }
    text += side_by_side(row) + "\n";
  }
  return text;
}

/// A sentence behind a label.
std::string labelled(const std::string& label, const std::string& sentence, bool is_bad, bool colour,
                     int width) {
  constexpr int kIndent = 9;
  const std::string text = wrapped(sentence, kIndent, width);
  return styled(Style::heading, flush_left(label, kIndent), colour) +
         styled(is_bad ? Style::bad : Style::plain, text, colour) + "\n";
}

/// What signs there are in the tables stands for.
std::string legend(const CompareReport& report, int width) {
  bool has_unsteady = false;
  for (const LoadResult& load : report.result.loads) {
    for (const VariantResult& variant : load.variants) {
      has_unsteady = has_unsteady || variant.is_unstable();
    }
  }
  std::vector<std::string> signs = {
      "better, worse: than " + report.study->variants.front(),
      "~ no difference shown",
      "= the same in every pair",
      "% and x: from ... to ... in 95 % of cases",
  };
  if (has_unsteady) {
    signs.emplace_back("* depends on how long the run is, as a queue grows");
  }
  return joined(signs, "   ", 0, width) + "\n";
}

}  // namespace

std::string compare_text(const CompareReport& report, bool colour, int width) {
  const CompareStudy& study = *report.study;
  std::string text = styled(Style::heading, report.name, colour);
  text += study.description.empty() ? "\n\n" : ": " + study.description + "\n\n";
  for (const std::string& sentence : answer_sentences(report)) {
    text += wrapped(sentence, 0, width) + "\n";
  }
  text += "\n";
  for (std::size_t load = 0; load < report.result.loads.size(); ++load) {
    text += load_text(study, load, report.result.loads[load], colour, static_cast<std::size_t>(width));
  }
  text += legend(report, width) + "\n";
  for (const std::string& sentence : warning_sentences(report)) {
    text += labelled("warning", sentence, true, colour, width);
  }
  for (const std::string& sentence : basis_sentences(report)) {
    text += labelled("basis", sentence, false, colour, width);
  }
  for (const std::string& note : study.notes) {
    text += labelled("note", note, false, colour, width);
  }
  return text;
}

}  // namespace inferometer
