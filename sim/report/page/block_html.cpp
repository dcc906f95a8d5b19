#include "sim/report/page/block_html.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/check.hpp"
#include "sim/report/page/page_text.hpp"

namespace inferometer {
namespace {

/// A tone for who sees colours, for who does not (a sign), and for who hears the page (a word).
struct ToneLook {
  std::string_view style, sign, word;
};

ToneLook look_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return {"plain", "", ""};
    case Tone::good:
      return {"good", "✓", "good"};
    case Tone::warning:
      return {"warning", "!", "warning"};
    case Tone::bad:
      return {"bad", "✗", "bad"};
  }
  return {};
}

std::string sign_html(Tone tone) {
  const ToneLook look = look_of(tone);
  return tone == Tone::plain
             ? ""
             : fmt::format(
                   R"(<span class="sign" aria-hidden="true">{}</span><span class="heard">{}: </span>)",
                   look.sign, look.word);
}

std::string number_attributes(const std::optional<ResultsNumber>& number) {
  return number ? fmt::format(R"( data-field="{}" data-value="{}")", html_escaped(number->field),
                              exact_number(number->value))
                : "";
}

/// "12.3 ms", "$0.32", "<= 500", "-", "": what stands in a column of numbers. Not "1 x h100-sxm" and "2
/// steps, 3 %".
bool looks_numeric(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::size_t kUnitLengthMost = 12;
  const std::size_t begin = text.find_first_not_of("+-<>=~$ ");
  if (begin == std::string_view::npos) {
    return true;
  }
  const std::size_t end = text.find_first_not_of("0123456789.,eE+-", begin);
  const std::string_view unit = end == std::string_view::npos ? "" : text.substr(end);
  return kDigits.find(text[begin]) != std::string_view::npos && unit.size() <= kUnitLengthMost &&
         unit.find_first_of(kDigits) == std::string_view::npos;
}

bool is_numeric_column(const TableBlock& table, std::size_t column) {
  return column > 0 && std::all_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
           return looks_numeric(row[column].text);
         });
}

std::string cell_html(const Cell& cell, bool names_row, bool is_numeric) {
  const std::string_view element = names_row ? "th" : "td";
  std::string style = cell.tone == Tone::plain ? "" : std::string(look_of(cell.tone).style);
  if (is_numeric) {
    style += style.empty() ? "number" : " number";
  }
  return fmt::format("<{0}{1}{2}{3}>{4}{5}</{0}>", element, names_row ? R"( scope="row")" : "",
                     style.empty() ? "" : fmt::format(R"( class="{}")", style),
                     number_attributes(cell.number), sign_html(cell.tone), html_escaped(cell.text));
}

}  // namespace

std::string paragraph_html(const Paragraph& paragraph) {
  return fmt::format("<p class=\"tone {}\">{}{}</p>\n", look_of(paragraph.tone).style,
                     sign_html(paragraph.tone), html_escaped(paragraph.text));
}

std::string figures_html(const std::vector<KeyFigure>& figures) {
  std::string html = "<dl class=\"figures\">\n";
  for (const KeyFigure& figure : figures) {
    html += fmt::format("<div class=\"figure {}\"><dt>{}</dt><dd class=\"value\"{}>{}</dd>",
                        look_of(figure.tone).style, html_escaped(figure.name),
                        number_attributes(figure.number), html_escaped(figure.value));
    if (!figure.remark.empty() || figure.tone != Tone::plain) {
      html +=
          fmt::format("<dd class=\"remark\">{}{}</dd>", sign_html(figure.tone), html_escaped(figure.remark));
    }
    html += "</div>\n";
  }
  return html + "</dl>\n";
}

std::string table_html(const TableBlock& table) {
  const std::string caption = html_escaped(table.caption);
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"{0}\"><table><caption>{0}</caption>\n<thead><tr>",
      caption);
  std::vector<bool> is_numeric;
  for (const std::vector<Cell>& row : table.rows) {
    INFEROMETER_CHECK(row.size() == table.columns.size(), "a row of a table is as wide as its header");
  }
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    is_numeric.push_back(is_numeric_column(table, column));
    // A header that says nothing is none.
    html += table.columns[column].empty()
                ? "<td></td>"
                : fmt::format("<th scope=\"col\"{}>{}</th>", is_numeric[column] ? R"( class="number")" : "",
                              html_escaped(table.columns[column]));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    html += "<tr>";
    for (std::size_t column = 0; column < row.size(); ++column) {
      html += cell_html(row[column], column == 0, is_numeric[column]);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string listing_html(const Listing& listing) {
  const std::string title = html_escaped(listing.title);
  // A line feed right after <pre> is not shown: one more keeps the text's own.
  return fmt::format(
      "<details class=\"listing\"><summary>{0}</summary>"
      "<pre class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n{1}</pre></details>\n",
      title, html_escaped(listing.text));
}

}  // namespace inferometer
