#include "sim/study/compare/compare_result.hpp"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/study_compare/study_text.hpp"

namespace inferometer {
namespace {

using testing::outcome_with;
using testing::small_base;
using testing::study_from;

/// Values of metrics by seed.
using Made = std::vector<std::map<std::string, double>>;

/// A study of two variants, "a" and "b", with outcomes that are made up.
class MadeUp {
 public:
  explicit MadeUp(const std::string& keys, const std::string& workload = "")
      : study_(study_from(folder_, (workload.empty() ? small_base() : small_base(workload)) + keys +
                                       "variants: {a: {}, b: {engine.policy: orca}}\n")) {}

  CompareResult compare(const Made& a, const Made& b) {
    KnownOutcomes known;
    const Made* const made[] = {&a, &b};
    for (std::size_t variant = 0; variant < 2; ++variant) {
      for (std::size_t seed = 0; seed < made[variant]->size(); ++seed) {
        known.add(study_.evaluation(0, variant, study_.seeds[seed]), outcome_with((*made[variant])[seed]));
      }
    }
    return inferometer::compare(study_, known);
  }

  /// Of the first metric.
  Difference difference(const Made& a, const Made& b) {
    const CompareResult result = compare(a, b);
    return *result.loads.front().variants[1].metrics.front().difference;
  }

  [[nodiscard]] const CompareStudy& study() const { return study_; }

 private:
  test::TemporaryDirectory folder_;
  CompareStudy study_;
};

Made of(const std::string& metric, const std::vector<double>& values) {
  Made made;
  for (const double value : values) {
    made.push_back({{metric, value}});
  }
  return made;
}

TEST_CASE("differences are of pairs and relative ones of logarithms") {
  MadeUp made("seeds: 3\nmetrics: [p99_ttft_ms]\n");
  // Each is half of its pair: the ratio is 0.5 in all, whatever the pairs scatter. Absolute: -50, -100, -150,
  // mean -100, deviations 50, 0, 50, standard error sqrt(5000 / 2 / 3) = 28.8675, and 4.302653 times that.
  const Difference difference =
      made.difference(of("p99_ttft_ms", {100, 200, 300}), of("p99_ttft_ms", {50, 100, 150}));
  CHECK(difference.baseline == Approx(200));
  CHECK(difference.value.mean == Approx(-100));
  CHECK(*difference.value.half_width == Approx(4.302653 * 28.8675).epsilon(1e-5));
  REQUIRE(difference.relative);
  CHECK(difference.relative->share == Approx(-0.5));
  CHECK(*difference.relative->low == Approx(-0.5));
  CHECK(difference.verdict == DifferenceVerdict::better);
}

TEST_CASE("the interval of a ratio is Student's on logarithms") {
  MadeUp made("seeds: 2\nmetrics: [p99_ttft_ms]\n");
  // Ratios e^0.1 and e^0.3: mean of logarithms 0.2, standard error 0.1, and 12.7062 times that.
  const Difference difference = made.difference(of("p99_ttft_ms", {100, 10}),
                                                of("p99_ttft_ms", {100 * std::exp(0.1), 10 * std::exp(0.3)}));
  CHECK(difference.relative->share == Approx(std::exp(0.2) - 1));
  CHECK(*difference.relative->low == Approx(std::exp(0.2 - 1.27062047) - 1));
  CHECK(*difference.relative->high == Approx(std::exp(0.2 + 1.27062047) - 1));
  // t = 2 with one degree: 1 - 2 atan(2) / pi.
  CHECK(*difference.p_value == Approx(1 - 2 * std::atan(2.0) / std::acos(-1.0)));
  CHECK(difference.verdict == DifferenceVerdict::no_difference);
}

TEST_CASE("verdicts go by the direction of the metric") {
  const std::vector<double> less = {10, 11, 12};
  const std::vector<double> more = {20, 22, 24};
  struct Row {
    const char* metric;
    DifferenceVerdict of_more;
  };
  for (const Row& row :
       {Row{"p99_itl_ms", DifferenceVerdict::worse}, Row{"output_throughput", DifferenceVerdict::better},
        Row{"goodput_share", DifferenceVerdict::better}, Row{"dollars_per_hour", DifferenceVerdict::worse},
        Row{"kv_peak_share", DifferenceVerdict::higher}}) {
    INFO(row.metric);
    MadeUp made(std::string("seeds: 3\nmetrics: [") + row.metric + "]\n");
    CHECK(made.difference(of(row.metric, less), of(row.metric, more)).verdict == row.of_more);
  }
}

TEST_CASE("one pair shows nothing and equal pairs are not tested") {
  MadeUp one("seeds: 1\nmetrics: [p99_ttft_ms]\n");
  const Difference single = one.difference(of("p99_ttft_ms", {100}), of("p99_ttft_ms", {10}));
  CHECK(single.verdict == DifferenceVerdict::no_difference);
  CHECK_FALSE(single.p_value);
  CHECK_FALSE(single.relative->low);
  MadeUp three("seeds: 3\nmetrics: [p99_ttft_ms]\n");
  const CompareResult equal = three.compare(of("p99_ttft_ms", {1, 2, 3}), of("p99_ttft_ms", {1, 2, 3}));
  CHECK(equal.loads.front().variants[1].metrics.front().difference->verdict ==
        DifferenceVerdict::no_difference);
  CHECK(equal.loads.front().variants[1].metrics.front().difference->is_same());
  CHECK(equal.tests == 0);
}

TEST_CASE("a last bit is no difference") {
  MadeUp made("seeds: 3\nmetrics: [dollars_per_hour]\n");
  const double price = 5.9;
  const Difference difference = made.difference(of("dollars_per_hour", {price, price, price}),
                                                of("dollars_per_hour", {price * (1 + 1e-15), price, price}));
  CHECK(difference.is_same());
  CHECK(
      made.difference(of("dollars_per_hour", {price, price, price}), of("dollars_per_hour", {6.0, 6.0, 6.0}))
          .verdict == DifferenceVerdict::worse);
}

TEST_CASE("a metric that may be zero is compared by amounts") {
  MadeUp made("seeds: 3\nmetrics: [preemptions]\n");
  const Difference difference =
      made.difference(of("preemptions", {0, 0, 0}), of("preemptions", {10, 11, 12}));
  CHECK_FALSE(difference.relative);
  CHECK(difference.value.mean == Approx(11));
  CHECK(difference.verdict == DifferenceVerdict::worse);
}

TEST_CASE("Holm's correction is over the metrics of a variant and none leaves each for itself") {
  // Logarithms of ratios with t = 4.5 and 20 at four degrees; alone, 4.5 is significant (p = 0.0108); of six
  // tests with the others showing nothing, the smallest p is multiplied by six and the next by five: 0.054.
  const std::vector<std::string> names = {"p99_ttft_ms", "p99_itl_ms",     "p99_tpot_ms",
                                          "p99_e2el_ms", "median_ttft_ms", "median_itl_ms"};
  const std::vector<double> unit = {-2, -1, 0, 1, 2};  // standard error sqrt(10 / 4 / 5) = 0.70711
  const auto made = [&](double t, std::size_t seed) {
    return 100 * std::exp(0.01 * (t * 0.70710678 + unit[seed]));
  };
  Made a, b;
  for (std::size_t seed = 0; seed < 5; ++seed) {
    auto& of_a = a.emplace_back();
    auto& of_b = b.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) {
      of_a[names[i]] = 100;
      of_b[names[i]] = made(i == 0 ? 20 : i == 1 ? 4.5 : 0.5, seed);
    }
  }
  const std::string metrics =
      "metrics: [p99_ttft_ms, p99_itl_ms, p99_tpot_ms, p99_e2el_ms, median_ttft_ms, median_itl_ms]\n";
  const auto verdicts = [&](const std::string& correction) {
    MadeUp study(metrics + "correction: " + correction + "\n");
    std::vector<DifferenceVerdict> found;
    const CompareResult result = study.compare(a, b);
    for (const ComparedMetric& metric : result.loads.front().variants[1].metrics) {
      found.push_back(metric.difference->verdict);
    }
    return found;
  };
  CHECK(verdicts("none")[0] == DifferenceVerdict::worse);
  CHECK(verdicts("none")[1] == DifferenceVerdict::worse);
  CHECK(verdicts("holm")[0] == DifferenceVerdict::worse);
  CHECK(verdicts("holm")[1] == DifferenceVerdict::no_difference);
  CHECK(verdicts("none")[2] == DifferenceVerdict::no_difference);
}

/// Shares of random comparisons, of variants that do not differ, in which a metric, or any of ten, is said to
/// differ.
struct FalseVerdicts {
  double of_first = 0, of_any = 0;
};

FalseVerdicts false_verdicts(const std::string& correction, int repetitions) {
  const std::vector<std::string> names = {
      "p99_ttft_ms",   "p99_itl_ms",     "p99_tpot_ms",    "p99_e2el_ms", "median_ttft_ms",
      "median_itl_ms", "median_tpot_ms", "median_e2el_ms", "p90_ttft_ms", "p90_itl_ms"};
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  MadeUp study("metrics: [" + list + "]\ncorrection: " + correction + "\n");
  RandomStream random(1, "test/false_verdicts");
  FalseVerdicts found;
  for (int i = 0; i < repetitions; ++i) {
    Made a(5), b(5);
    for (std::size_t seed = 0; seed < 5; ++seed) {
      for (const std::string& name : names) {
        const double common = random.normal();  // the requests that both get
        a[seed][name] = 100 * std::exp(common + 0.1 * random.normal());
        b[seed][name] = 100 * std::exp(common + 0.1 * random.normal());
      }
    }
    const CompareResult result = study.compare(a, b);
    bool is_any = false;
    for (const ComparedMetric& metric : result.loads.front().variants[1].metrics) {
      is_any = is_any || metric.difference->verdict != DifferenceVerdict::no_difference;
    }
    const bool is_first = result.loads.front().variants[1].metrics.front().difference->verdict !=
                          DifferenceVerdict::no_difference;
    found.of_first += is_first ? 1.0 / repetitions : 0;
    found.of_any += is_any ? 1.0 / repetitions : 0;
  }
  return found;
}

TEST_CASE("verdicts are wrong as often as they say") {
  constexpr int kRepetitions = 1000;
  // Four standard deviations of a binomial share of 5 % and of 1 - 0.95^10 = 40.1 %.
  constexpr double kOfFive = 4 * 0.0069;
  constexpr double kOfForty = 4 * 0.0155;
  const FalseVerdicts each = false_verdicts("none", kRepetitions);
  CHECK(each.of_first == Approx(0.05).margin(kOfFive));
  CHECK(each.of_any == Approx(0.401).margin(kOfForty));
  const FalseVerdicts corrected = false_verdicts("holm", kRepetitions);
  // Of ten independent tests at 5 % / 10 the first one that matters: 1 - 0.995^10 = 4.9 %.
  CHECK(corrected.of_any == Approx(0.049).margin(kOfFive));
}

TEST_CASE("traffic without chance gives exact verdicts and no interval") {
  MadeUp made("metrics: [p99_ttft_ms]\n",
              "{generator: constant, rate: 8 req/s, requests: 9, prompt: {distribution: fixed, tokens: 9}, "
              "output: {distribution: fixed, tokens: 9}}");
  const CompareResult result = made.compare(of("p99_ttft_ms", {100}), of("p99_ttft_ms", {80}));
  const LoadResult& load = result.loads.front();
  CHECK(load.is_exact);
  CHECK(result.tests == 0);
  const Difference& difference = *load.variants[1].metrics.front().difference;
  CHECK(difference.verdict == DifferenceVerdict::better);
  CHECK(difference.relative->share == Approx(-0.2));
  CHECK_FALSE(difference.p_value);
  CHECK_FALSE(difference.value.half_width);
  REQUIRE(load.leader);
  CHECK(load.leader->variant == 1);
  CHECK(load.leader->as_good.empty());
}

TEST_CASE("latencies beside a growing queue are unsteady and gaps between tokens are not") {
  MadeUp made("seeds: 2\nmetrics: [p99_ttft_ms, p99_itl_ms]\n");
  KnownOutcomes known;
  for (std::size_t variant = 0; variant < 2; ++variant) {
    for (const std::int64_t seed : made.study().seeds) {
      Outcome outcome = outcome_with(
          {{"p99_ttft_ms", 100.0 - static_cast<double>(variant) * 10 + static_cast<double>(seed)},
           {"p99_itl_ms", 10}});
      outcome.queue = variant == 1 && seed == 2 ? QueueStability::unstable : QueueStability::stable;
      known.add(made.study().evaluation(0, variant, seed), outcome);
    }
  }
  const LoadResult load = compare(made.study(), known).loads.front();
  CHECK(load.variants[1].unstable_runs == 1);
  CHECK(load.variants[1].metrics[0].difference->is_unsteady);
  CHECK_FALSE(load.variants[1].metrics[1].difference->is_unsteady);
  // Though its mean is lower: what grows is not the best.
  CHECK(load.leader->variant == 0);
}

TEST_CASE("runs that break leave the pairs that are whole") {
  MadeUp made("seeds: 3\nmetrics: [p99_ttft_ms]\n");
  KnownOutcomes known;
  for (const std::int64_t seed : made.study().seeds) {
    known.add(made.study().evaluation(0, 0, seed),
              outcome_with({{"p99_ttft_ms", 100.0 * static_cast<double>(seed)}}));
    Outcome other = outcome_with({{"p99_ttft_ms", 10.0}});
    if (seed == 2) {
      other = Outcome();
      other.error = "does not fit";
    }
    known.add(made.study().evaluation(0, 1, seed), other);
  }
  const VariantResult broken = compare(made.study(), known).loads.front().variants[1];
  CHECK(broken.runs == 2);
  CHECK(broken.broken_runs == 1);
  CHECK(broken.broken_by == "does not fit");
  CHECK(broken.error.empty());
  CHECK(broken.metrics.front().difference->value.count == 2);
  CHECK(broken.metrics.front().difference->baseline == Approx(200));
}

}  // namespace
}  // namespace inferometer
