#include <algorithm>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/report/compare/compare_json.hpp"
#include "sim/report/compare/compare_page.hpp"
#include "sim/report/compare/compare_sentences.hpp"
#include "sim/report/compare/compare_text.hpp"
#include "sim/report/compare/metric_words.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/check_says.hpp"
#include "tests/unit/study_compare/study_text.hpp"

namespace inferometer {
namespace {

using testing::outcome_with;
using testing::small_base;
using testing::study_from;

/// p99 TTFT of 760 and 220 ms at one load, and of others at the other, three seeds alike but for a percent.
CompareReport made_up_report(const CompareStudy& study) {
  KnownOutcomes known;
  const double ttft_ms[2][2] = {{760, 220}, {900, 905}};
  for (std::size_t load = 0; load < study.loads.size(); ++load) {
    for (std::size_t variant = 0; variant < study.variants.size(); ++variant) {
      for (const std::int64_t seed : study.seeds) {
        const double noise = 1 + 0.01 * static_cast<double>((seed + static_cast<std::int64_t>(variant)) % 3);
        Outcome outcome =
            outcome_with({{"p99_ttft_ms", ttft_ms[load][std::min<std::size_t>(variant, 1)] * noise},
                          {"request_throughput", 4.0 + static_cast<double>(load)},
                          {"total_token_throughput", 1000},
                          {"completed_requests", 100}});
        outcome.extrapolated_share = variant == 1 ? 0.25 : 0;
        known.add(study.evaluation(load, variant, seed), outcome);
      }
    }
  }
  return make_compare_report(study, compare(study, known));
}

const std::string kKeys = "rates: [4 req/s, 8 req/s]\nseeds: 3\nmetrics: [p99_ttft_ms, request_throughput]\n";

TEST_CASE("the answer says who is best, by how much and where no difference is shown") {
  const test::TemporaryDirectory folder;
  const CompareStudy study =
      study_from(folder, small_base() + kKeys + "variants: {old: {}, new: {engine.policy: orca}}\n");
  const CompareReport report = made_up_report(study);
  const std::vector<std::string> answer = answer_sentences(report);
  REQUIRE(answer.size() == 2);
  // Seeds 1 to 3 have noise 1.01, 1.02, 1.00 and one place on 1.02, 1.00, 1.01: means 1.01 of each, 767.6 and
  // 222.2 ms; 220 / 760 = 0.2895 is 71.1 % less.
  check_says(answer[0], {"At 4 req/s, new has the lowest p99 TTFT: 222 ms, 71.1 % (", " %) below old."});
  check_says(
      answer[1],
      {"At 8 req/s, old has the lowest p99 TTFT: 909 ms, the baseline; no difference is shown to new."});
  check_says(warning_sentences(report).front(), {"outside of what was measured", "new 25 %"});
}

TEST_CASE("the page and the file say the same numbers") {
  const test::TemporaryDirectory folder;
  const CompareStudy study =
      study_from(folder, small_base() + kKeys + "variants: {old: {}, new: {engine.policy: orca}}\n");
  const CompareReport report = made_up_report(study);
  const nlohmann::json json = nlohmann::json::parse(compare_json(report));
  CHECK(
      json.at("loads").at(0).at("variants").at(1).at("metrics").at("p99_ttft_ms").at("mean").get<double>() ==
      Approx(222.2));
  CHECK(json.at("loads")
            .at(0)
            .at("variants")
            .at(1)
            .at("metrics")
            .at("p99_ttft_ms")
            .at("difference")
            .at("verdict") == "better");
  std::int64_t traced = 0;
  const auto check_number = [&](const std::optional<ResultsNumber>& number) {
    if (!number) {
      return;
    }
    const nlohmann::json* place = &json;
    std::istringstream path(number->field);
    for (std::string part; std::getline(path, part, '.');) {
      place = place->is_array() ? &place->at(std::stoul(part)) : &place->at(part);
    }
    INFO(number->field);
    CHECK(place->get<double>() == number->value);
    ++traced;
  };
  for (const Section& section : compare_page(report).sections) {
    for (const Block& block : section.blocks) {
      if (const auto* table = std::get_if<TableBlock>(&block)) {
        for (const std::vector<Cell>& row : table->rows) {
          CHECK(row.size() == table->columns.size());
          for (const Cell& cell : row) {
            check_number(cell.number);
          }
        }
      } else if (const auto* figures = std::get_if<std::vector<KeyFigure>>(&block)) {
        for (const KeyFigure& figure : *figures) {
          check_number(figure.number);
        }
      }
    }
  }
  // For each of two loads: two key figures, two metrics of two variants, two differences.
  CHECK(traced == 2 * (2 + 4 + 2));
}

TEST_CASE("the table keeps to its width with many variants and long names") {
  const test::TemporaryDirectory folder;
  std::string variants = "variants: {old: {}";
  for (int i = 0; i < 7; ++i) {
    variants += ", a variant with a long name " + std::to_string(i) +
                ": {engine.max_num_seqs: " + std::to_string(8 + i) + "}";
  }
  const CompareStudy study = study_from(folder, small_base() + kKeys + variants + "}\n");
  const std::string text = compare_text(made_up_report(study), false);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 100);
    CHECK((line.empty() || line.back() != ' '));
  }
  for (const std::string& name : study.variants) {
    CHECK(text.find(name) != std::string::npos);
  }
}

TEST_CASE("metrics have words and units") {
  CHECK(metric_heading("p99_ttft_ms") == "p99 TTFT, ms");
  CHECK(metric_heading("mean_queue_delay_ms") == "mean queue delay, ms");
  CHECK(metric_amount("p99_ttft_ms", 1500) == "1.50 s");
  CHECK(metric_amount("goodput_share", 0.5) == "50.0 %");
  CHECK(metric_amount("output_dollars_per_million_tokens", 0.25) == "$0.250");
  CHECK(metric_heading("something_new") == "something new");
}

}  // namespace
}  // namespace inferometer
