// Common random numbers: variants get the same requests for the same seed, so that the difference of a pair
// scatters less than that of two runs with different requests.

#include <string>
#include <vector>

#include "sim/study/compare/compare_result.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/study_compare/study_text.hpp"

namespace inferometer {
namespace {

using testing::run_here;
using testing::small_base;
using testing::study_from;

double variance(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return squares / static_cast<double>(values.size() - 1);
}

TEST_CASE("pairs with the same requests scatter less than pairs without") {
  const test::TemporaryDirectory folder;
  const CompareStudy study =
      study_from(folder, small_base("{preset: azure-conversation, rate: 6 req/s, requests: 150}") +
                             "seeds: 12\nmetrics: [mean_e2el_ms, p99_ttft_ms]\n"
                             "variants: {large: {engine.max_num_batched_tokens: 2048}, small: "
                             "{engine.max_num_batched_tokens: 1024}}\n");
  const KnownOutcomes known = run_here(study);
  const auto value = [&](std::size_t variant, std::size_t place) {
    return *known.find(study.evaluation(0, variant, study.seeds[place]))->find("mean_e2el_ms");
  };
  std::vector<double> paired, unpaired;
  for (std::size_t i = 0; i < study.seeds.size(); ++i) {
    paired.push_back(value(1, i) - value(0, i));
    unpaired.push_back(value(1, i) - value(0, (i + 1) % study.seeds.size()));
  }
  // The length of an answer is a request's own, and most of its E2E: a tenth is a mild demand.
  CHECK(variance(paired) < variance(unpaired) / 10);
  CHECK(compare(study, known).loads.front().variants[1].has_same_requests);
}

TEST_CASE("variants that answer other tokens are told apart from those that do not") {
  const test::TemporaryDirectory folder;
  const CompareStudy study = study_from(
      folder,
      small_base() +
          "seeds: 2\nmetrics: [p99_ttft_ms]\n"
          "variants: {whole: {}, alike: {engine.max_num_seqs: 8}, cut: {engine.max_model_len: 1500}}\n");
  const CompareResult result = compare(study, run_here(study));
  CHECK(result.loads.front().variants[1].has_same_requests);
  CHECK_FALSE(result.loads.front().variants[2].has_same_requests);
}

TEST_CASE("a variant that does not fit is an outcome and no mistake of the study") {
  const test::TemporaryDirectory folder;
  const CompareStudy study = study_from(
      folder, small_base() + "seeds: 1\nvariants: {fits: {}, too large: {model: llama-3.1-405b}}\n");
  const CompareResult result = compare(study, run_here(study));
  CHECK(result.loads.front().variants[0].error.empty());
  CHECK_FALSE(result.loads.front().variants[1].error.empty());
  CHECK_FALSE(result.loads.front().leader);
}

}  // namespace
}  // namespace inferometer
