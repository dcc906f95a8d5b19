#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/file_hash.hpp"
#include "sim/report/page/assets.hpp"
#include "sim/report/page/block_html.hpp"
#include "sim/report/page/chart_html.hpp"
#include "sim/report/page/chart_json.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/page/page_text.hpp"

namespace inferometer {
namespace {

/// What a policy names an inline script or style by: 'sha256-' and the digest in base 64.
std::string source_hash(std::string_view source) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::string_view kPrefix = "sha256:";
  const std::string hex = hash_text(source).substr(kPrefix.size());
  std::string text = "'sha256-";
  // Three hexadecimal digits make two of base 64; the 64 of them are 21 such triples and one digit, worth 4
  // bits.
  for (std::size_t at = 0; at + 3 <= hex.size(); at += 3) {
    const unsigned long bits = std::stoul(hex.substr(at, 3), nullptr, 16);
    text += kDigits[bits >> 6];
    text += kDigits[bits & 63];
  }
  text += kDigits[std::stoul(hex.substr(hex.size() - 1), nullptr, 16) << 2];
  return text + "='";
}

/// Nothing is fetched, and only the scripts and the style that are ours run, whatever else got into the page.
/// The empty icon (data:) keeps browsers from asking a server for one.
std::string content_policy() {
  return fmt::format(
      "default-src 'none'; script-src {} {}; style-src {}; img-src data:; base-uri 'none'; form-action "
      "'none'",
      source_hash(chart_library()), source_hash(page_script()), source_hash(page_style()));
}

std::string head_html(const Page& page) {
  return fmt::format(
      "<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{} - Inferometer</title>\n"
      "<link rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n",
      content_policy(), html_escaped(page.title), page_style());
}

/// The blocks of sections, and the data of their charts.
class Body {
 public:
  void add(const Section& section, std::size_t number) {
    html_ += fmt::format(
        "<section id=\"section-{0}\" aria-labelledby=\"title-{0}\">\n<h2 id=\"title-{0}\">{1}</h2>\n", number,
        html_escaped(section.title));
    bool in_charts = false;
    for (const Block& block : section.blocks) {
      // Charts in a row stand side by side where there is room.
      const bool is_chart = std::holds_alternative<Chart>(block);
      if (is_chart != in_charts) {
        html_ += is_chart ? "<div class=\"charts\">\n" : "</div>\n";
        in_charts = is_chart;
      }
      std::visit([&](const auto& one) { add_block(one); }, block);
    }
    html_ += in_charts ? "</div>\n</section>\n" : "</section>\n";
  }

  [[nodiscard]] const std::string& html() const { return html_; }

  /// [] without charts.
  [[nodiscard]] std::string chart_data() const { return "[" + chart_data_ + "]"; }

 private:
  void add_block(const Paragraph& paragraph) { html_ += paragraph_html(paragraph); }
  void add_block(const std::vector<KeyFigure>& figures) { html_ += figures_html(figures); }
  void add_block(const TableBlock& table) { html_ += table_html(table); }
  void add_block(const Listing& listing) { html_ += listing_html(listing); }
  void add_block(const Chart& chart) {
    constexpr std::string_view kIdCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-";
    INFEROMETER_CHECK(!chart.id.empty() && chart.id.find_first_not_of(kIdCharacters) == std::string::npos,
                      "a chart's id has small letters, digits and hyphens only");
    INFEROMETER_CHECK(ids_.insert(chart.id).second, "each chart of a page has an id of its own");
    html_ += chart_html(chart, !chart_library().empty());
    const std::string json = chart_json(chart);
    if (has_drawn_points(chart)) {
      chart_data_ += (chart_data_.empty() ? "\n" : ",\n") + json;
    }
  }

  std::string html_, chart_data_;
  std::set<std::string> ids_;
};

std::string answer_html(const Page& page) {
  std::string html =
      "<section id=\"answer\" class=\"answer\" aria-labelledby=\"title-answer\" tabindex=\"-1\">\n"
      "<h2 id=\"title-answer\">Answer</h2>\n";
  for (const Paragraph& paragraph : page.answer) {
    html += paragraph_html(paragraph);
  }
  return html + "</section>\n";
}

std::string navigation_html(const Page& page) {
  std::string html = "<nav aria-label=\"Sections\"><ul>\n";
  std::size_t number = 0;
  for (const Section& section : page.sections) {
    html += fmt::format("<li><a href=\"#section-{}\">{}</a></li>\n", ++number, html_escaped(section.title));
  }
  return html + "</ul></nav>\n";
}

/// Without Chart.js the page's own script still unfolds what is printed.
std::string scripts_html(const std::string& chart_data) {
  const std::string charts =
      chart_library().empty()
          ? ""
          : fmt::format(
                "<script type=\"application/json\" id=\"chart-data\">{}</script>\n<script>{}</script>\n",
                chart_data, chart_library());
  return fmt::format("{}<script>{}</script>\n", charts, page_script());
}

}  // namespace

std::string html_text(const Page& page) {
  Body body;
  std::size_t number = 0;
  for (const Section& section : page.sections) {
    body.add(section, ++number);
  }
  // What the licence of Chart.js asks for; its own notices are in it.
  const std::string_view library_notice =
      chart_library().empty() ? "" : " Charts by Chart.js, © Chart.js Contributors, MIT License.";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n{head}<body>\n<a class=\"skip\" href=\"#answer\">Skip to the "
      "answer</a>\n"
      "<header><p class=\"brand\">Inferometer</p>\n<h1>{title}</h1>\n<p "
      "class=\"subtitle\">{subtitle}</p></header>\n"
      "<main>\n{answer}{navigation}{sections}</main>\n<footer><p>{footer}{notice}</p></footer>\n{scripts}</"
      "body>\n</html>\n",
      fmt::arg("head", head_html(page)), fmt::arg("title", html_escaped(page.title)),
      fmt::arg("subtitle", html_escaped(page.subtitle)), fmt::arg("answer", answer_html(page)),
      fmt::arg("navigation", page.sections.empty() ? "" : navigation_html(page)),
      fmt::arg("sections", body.html()), fmt::arg("footer", html_escaped(page.footer)),
      fmt::arg("notice", library_notice), fmt::arg("scripts", scripts_html(body.chart_data())));
}

}  // namespace inferometer
