#include "workloads/lengths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

/// Mean over the quantile function's midpoints: the distribution's mean but for the width of a step.
double mean_of(const LengthDistribution& distribution, int steps = 100'000) {
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    sum += static_cast<double>(distribution.quantile((i + 0.5) / steps).count());
  }
  return sum / steps;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    result[order[i]] = static_cast<double>(i);
  }
  return result;
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double n = static_cast<double>(a.size());
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += (x[i] - y[i]) * (x[i] - y[i]);
  }
  return 1 - 6 * squares / (n * (n * n - 1));
}

}  // namespace

TEST_CASE("fixed and uniform lengths") {
  CHECK(make_fixed_length(TokenCount(512))->quantile(0.3) == TokenCount(512));
  const auto uniform = make_uniform_length(TokenCount(10), TokenCount(13));
  CHECK(uniform->quantile(1e-12) == TokenCount(10));
  CHECK(uniform->quantile(0.2499) == TokenCount(10));
  CHECK(uniform->quantile(0.2501) == TokenCount(11));
  CHECK(uniform->quantile(1 - 1e-16) == TokenCount(13));
  CHECK(mean_of(*uniform) == Approx(11.5));
}

TEST_CASE("log-normal lengths have the quantiles and the mean of theory") {
  LogNormalLength options;
  options.median = 500;
  options.sigma = 0.8;
  const auto lengths = make_log_normal_length(options);
  CHECK(lengths->quantile(0.5) == TokenCount(500));
  // exp(0.8 * 1.2815515655446004) * 500 and exp(0.8 * 2.3263478740408408) * 500
  CHECK(lengths->quantile(0.9) == TokenCount(std::llround(500 * std::exp(0.8 * 1.2815515655446004))));
  CHECK(lengths->quantile(0.99) == TokenCount(std::llround(500 * std::exp(0.8 * 2.3263478740408408))));
  CHECK(mean_of(*lengths) == Approx(500 * std::exp(0.32)).epsilon(1e-3));
  CHECK(log_normal_median(688.5638, 0.8) == Approx(500).epsilon(1e-6));
}

TEST_CASE("a cut log-normal keeps the shape between its bounds") {
  LogNormalLength options{1000, 1.0, TokenCount(1000), TokenCount(4000)};
  const auto lengths = make_log_normal_length(options);
  CHECK(lengths->quantile(1e-9) == TokenCount(1000));
  CHECK(lengths->quantile(1 - 1e-9) == TokenCount(4000));
  // Half of what lies between 999.5 and 4000.5: z from ~0 to ln(4.0005); the share of the half is there.
  const auto cdf = [](double tokens) { return 0.5 * std::erfc(-std::log(tokens / 1000) / std::sqrt(2.0)); };
  const double share = (cdf(999.5) + cdf(4000.5)) / 2;
  const double median = static_cast<double>(lengths->quantile(0.5).count());
  CHECK(cdf(median - 0.5) <= share);
  CHECK(share <= cdf(median + 0.5));
  CHECK(log_normal_share(options) == Approx(cdf(4000.5) - cdf(999.5)).epsilon(1e-9));
  CHECK(log_normal_share({10, 0.1, TokenCount(1000), TokenCount(2000)}) < kSmallestLogNormalShare);
}

TEST_CASE("Zipf lengths: probabilities in proportion to a power of the length") {
  // 1 + 1/2 + 1/3 + 1/4 = 25/12: shares 12/25, 6/25, 4/25, 3/25
  const auto zipf = make_zipf_length(TokenCount(1), TokenCount(4), 1.0);
  for (const auto& [p, length] : std::vector<std::pair<double, int>>{
           {0.4799, 1}, {0.4801, 2}, {0.7199, 2}, {0.7201, 3}, {0.8799, 3}, {0.8801, 4}, {1 - 1e-16, 4}}) {
    CAPTURE(p);
    CHECK(zipf->quantile(p) == TokenCount(length));
  }
  const auto flat = make_zipf_length(TokenCount(5), TokenCount(6), 0.0);
  CHECK(flat->quantile(0.4999) == TokenCount(5));
  CHECK(flat->quantile(0.5001) == TokenCount(6));
}

TEST_CASE("quantile lengths are straight lines between the points") {
  const auto lengths = make_quantile_length({0, 0.5, 1}, {10, 20, 120});
  CHECK(lengths->quantile(1e-12) == TokenCount(10));
  CHECK(lengths->quantile(0.25) == TokenCount(15));
  CHECK(lengths->quantile(0.5) == TokenCount(20));
  CHECK(lengths->quantile(0.75) == TokenCount(70));
  CHECK(lengths->quantile(1 - 1e-16) == TokenCount(120));
  CHECK(mean_of(*lengths) == Approx(0.5 * 15 + 0.5 * 70));
}

TEST_CASE("points that are no quantiles are described") {
  CHECK(quantile_mistake({0, 1}, {1, 2}) == "");
  CHECK(quantile_mistake({0, 1}, {1}) == "expected as many lengths as probabilities, found 1 and 2");
  CHECK(quantile_mistake({0, 0.9}, {1, 2}) == "expected probabilities from 0 to 1, two at least");
  CHECK(quantile_mistake({0, 0.5, 0.5, 1}, {1, 2, 3, 4}) ==
        "expected probabilities that rise, found 0.5 after 0.5");
  CHECK(quantile_mistake({0, 0.5, 1}, {1, 3, 2}) == "expected lengths that do not fall, found 2 after 3");
  CHECK(quantile_mistake({0, 1}, {0, 2}) == "expected lengths from 1 to 1048576");
}

TEST_CASE("prompt and output ranks correlate as asked, each distribution unchanged") {
  const std::shared_ptr<const LengthDistribution> wide =
      make_uniform_length(TokenCount(1), TokenCount(1'000'000));
  LogNormalLength options;
  options.median = 300;
  options.sigma = 1.2;
  const std::shared_ptr<const LengthDistribution> outputs = make_log_normal_length(options);
  const int n = 20'000;
  LengthSampler independent(wide, outputs, 0.0, 4);
  std::vector<TokenCount> prompts_alone;
  for (int i = 0; i < n; ++i) {
    prompts_alone.push_back(independent.next().prompt);
  }
  for (const double wanted : {-0.6, 0.0, 0.3, 0.9, 1.0}) {
    LengthSampler sampler(wide, outputs, wanted, 4);
    std::vector<double> a, b;
    int above_median = 0;
    for (int i = 0; i < n; ++i) {
      const auto [prompt, output] = sampler.next();
      REQUIRE(prompt == prompts_alone[static_cast<std::size_t>(i)]);
      a.push_back(static_cast<double>(prompt.count()));
      b.push_back(static_cast<double>(output.count()));
      above_median += output > TokenCount(300) ? 1 : 0;
    }
    CAPTURE(wanted);
    // Ties among outputs move the sample's value a little below.
    CHECK(std::fabs(rank_correlation(a, b) - wanted) < 4 / std::sqrt(n) + 0.001);
    CHECK(std::fabs(above_median - n / 2.0) < 4 * std::sqrt(n / 4.0) + 0.002 * n);
  }
}
