#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/page/assets.hpp"
#include "sim/report/page/page.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

const std::string kHostile =
    R"hostile(<script>alert(1)</script><img src=x onerror=alert(2)>" onclick="alert(3)' x='</style></title><!--)hostile";

Chart chart_named(const std::string& id, ChartKind kind, const std::string& name) {
  Chart chart{id, name, name, kind, {name}, {name}, {}, {}, {{name, 1, true}}};
  chart.series.push_back({name, {{1, 2, name, 1}, {3, 4, name, 2}}});
  if (kind == ChartKind::stacked_bars) {
    chart.categories = {name, name};
  }
  return chart;
}

/// Every string of it is `name`, but for the ids of charts.
Page page_named(const std::string& name) {
  const ResultsNumber number{name, 1.5};
  Page page{name, name, {}, {}, name};
  for (const Tone tone : {Tone::plain, Tone::good, Tone::warning, Tone::bad}) {
    page.answer.push_back({name, tone});
  }
  const std::vector<KeyFigure> figures = {{name, name, name, Tone::bad, number}, {name, name}};
  page.sections.push_back(
      {name,
       {Paragraph{name}, figures, TableBlock{name, {name, name}, {{name, {name, number, Tone::good}}}},
        chart_named("a", ChartKind::lines, name), chart_named("b", ChartKind::points, name),
        chart_named("c", ChartKind::stacked_bars, name), Listing{name, name}}});
  return page;
}

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

/// Between the scripts and styles of our own, which hold all kinds of characters.
std::string without_our_assets(std::string html) {
  for (const std::string_view asset : {page_style(), chart_library(), page_script()}) {
    const std::size_t at = asset.empty() ? std::string::npos : html.find(asset);
    if (at != std::string::npos) {
      html.erase(at, asset.size());
    }
  }
  return html;
}

std::size_t count_of(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("no name becomes part of the page's structure, whatever stands in it") {
  // Elements and attributes are as many as with a harmless name: counted by the characters that make them.
  const std::string hostile = without_our_assets(html_text(page_named(kHostile)));
  const std::string harmless = without_our_assets(html_text(page_named("x")));
  for (const std::string structure : {"<", ">", "=\"", "<!--", "onclick=\""}) {
    CAPTURE(structure);
    CHECK(count_of(hostile, structure) == count_of(harmless, structure));
  }
  CHECK(!has(hostile, "<script>alert"));
  CHECK(!has(hostile, "<img"));
  CHECK(has(hostile, "&lt;script&gt;alert(1)&lt;/script&gt;"));
}

TEST_CASE("every string of a page is on the page") {
  Page page = page_named("x");
  page.title = "the title";
  page.subtitle = "the subtitle";
  page.footer = "the footer";
  page.answer[3].text = "the answer";
  page.sections[0].title = "the section";
  page.sections[0].blocks = {Paragraph{"a paragraph"},
                             std::vector<KeyFigure>{{"a name", "a value", "a remark"}},
                             TableBlock{"a caption", {"a column", "b column"}, {{"a row", "a cell"}}},
                             Listing{"a listing", "its text"}};
  const std::string html = html_text(page);
  for (const std::string wanted :
       {"<title>the title - Inferometer</title>", "<h1>the title</h1>", "the subtitle", "the footer",
        "the answer", ">the section</h2>", ">the section</a>", "a paragraph", "<dt>a name</dt>",
        ">a value</dd>", "a remark", "<caption>a caption</caption>", ">a column</th>", ">b column</th>",
        ">a row</th>", ">a cell</td>", "<summary>a listing</summary>", "its text</pre>"}) {
    CAPTURE(wanted);
    CHECK(has(html, wanted));
  }
}

TEST_CASE("the same page has the same bytes") {
  CHECK(html_text(page_named(kHostile)) == html_text(page_named(kHostile)));
}

TEST_CASE("numbers of results.json are told beside what is shown") {
  Page page = page_named("x");
  page.sections[0].blocks = {
      std::vector<KeyFigure>{
          {"p99 TTFT", "220 ms", "", Tone::good, ResultsNumber{"metrics.p99_ttft_ms", 220.43125}}},
      TableBlock{"t", {"", "p50"}, {{"TTFT", {"34.8", {"metrics.p50_ttft_ms", 34.8123}}}}}};
  const std::string html = html_text(page);
  CHECK(
      has(html, R"(<dd class="value" data-field="metrics.p99_ttft_ms" data-value="220.43125">220 ms</dd>)"));
  CHECK(has(html, R"(<td class="number" data-field="metrics.p50_ttft_ms" data-value="34.8123">34.8</td>)"));
}

TEST_CASE("columns of numbers are set to the right and others are not") {
  Page page = page_named("x");
  page.sections[0].blocks = {TableBlock{"t",
                                        {"row", "numbers", "words", "mixed", "lists"},
                                        {{"a", "12.3 ms", "stable", "1", "2 steps, 3 %"},
                                         {"b", "<= $1,000", "1 x h100-sxm", "one", "4 steps, 1 %"},
                                         {"c", "-", "", "", ""},
                                         {"d", "1.5e-05", "5", "2", ""}}}};
  const std::string html = html_text(page);
  CHECK(has(html, "<th scope=\"col\" class=\"number\">numbers</th>"));
  CHECK(has(html, "<td class=\"number\">12.3 ms</td>"));
  CHECK(has(html, "<td class=\"number\">-</td>"));
  for (const std::string column : {"words", "mixed", "lists"}) {
    CHECK(has(html, "<th scope=\"col\">" + column + "</th>"));
  }
}

TEST_CASE("a tone is a sign and a word besides a colour") {
  const std::string html = html_text(page_named("x"));
  for (const std::string wanted :
       {">✓</span><span class=\"heard\">good: </span>", ">!</span><span class=\"heard\">warning: </span>",
        ">✗</span><span class=\"heard\">bad: </span>"}) {
    CHECK(has(html, wanted));
  }
}

TEST_CASE("the data of all charts are one block of JSON") {
  if (chart_library().empty()) {
    WARN("skipped: built without Chart.js");
    return;
  }
  const std::string html = html_text(page_named(kHostile));
  const std::string begin = "<script type=\"application/json\" id=\"chart-data\">";
  const std::size_t from = html.find(begin) + begin.size();
  const auto json = nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
  REQUIRE(json.size() == 3);
  CHECK(json[0]["series"][0]["name"] == kHostile);
  CHECK(json[1]["series"][0]["y"] == nlohmann::json({2.0, 4.0}));
  CHECK(json[2]["categories"] == nlohmann::json({kHostile, kHostile}));
}

TEST_CASE("a page fetches nothing and runs nothing but its own scripts") {
  const std::string html = html_text(page_named(kHostile));
  // SHA-256 in base 64 has 43 digits and one that pads.
  const std::size_t at = html.find("content=\"default-src 'none'; script-src 'sha256-");
  REQUIRE(at != std::string::npos);
  CHECK(html[at + std::string("content=\"default-src 'none'; script-src 'sha256-").size() + 43] == '=');
  const std::string body = without_our_assets(html);
  CHECK(count_of(body, "<script") == (chart_library().empty() ? 1 : 3));
  CHECK(!has(body, "src=\""));
  CHECK(count_of(body, "http") == 1);  // http-equiv
}

TEST_CASE("scripts and style cannot end their elements") {
  for (const std::string_view asset : {page_style(), chart_library(), page_script()}) {
    for (const std::string_view ends : {"</script", "</SCRIPT", "</style", "<!--"}) {
      CHECK(asset.find(ends) == std::string_view::npos);
    }
  }
  CHECK(!page_style().empty());
  CHECK(!page_script().empty());
}

TEST_CASE("Chart.js is embedded byte for byte with its notice") {
  if (chart_library().empty()) {
    WARN("skipped: built without Chart.js");
    return;
  }
  CHECK(chart_library().substr(0, 100).find("Chart.js v3.") != std::string_view::npos);
  CHECK(chart_library().find("Released under the MIT License") != std::string_view::npos);
}

TEST_CASE("ids of charts are checked") {
  Page page = page_named("x");
  page.sections[0].blocks = {chart_named("a", ChartKind::lines, "x"),
                             chart_named("a", ChartKind::lines, "x")};
  CHECK_THROWS_AS(html_text(page), std::logic_error);
  for (const std::string id : {"", "A", "a b", "a\"", "<"}) {
    page.sections[0].blocks = {chart_named(id, ChartKind::lines, "x")};
    CHECK_THROWS_AS(html_text(page), std::logic_error);
  }
}

TEST_CASE("rows of another width than the header are refused") {
  Page page = page_named("x");
  page.sections[0].blocks = {TableBlock{"t", {"a", "b"}, {{"only one"}}}};
  CHECK_THROWS_AS(html_text(page), std::logic_error);
}

TEST_CASE("an empty page is a page") {
  const std::string html = html_text(Page{"t", "", {}, {}, ""});
  CHECK(has(html, "<h1>t</h1>"));
  CHECK(!has(html, "<nav"));
}

}  // namespace inferometer
