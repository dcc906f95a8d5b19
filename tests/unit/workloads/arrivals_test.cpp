#include "workloads/arrivals.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "tests/support/catch.hpp"

using namespace inferometer;

namespace {

std::vector<double> seconds_of(ArrivalProcess& process, int count) {
  std::vector<double> times;
  TimePoint last;
  for (int i = 0; i < count; ++i) {
    const TimePoint at = process.next();
    REQUIRE(at >= last);
    last = at;
    times.push_back(to_seconds(at.since_start()));
  }
  return times;
}

struct Moments {
  double mean, cv;
};

Moments gap_moments(const std::vector<double>& times) {
  double sum = 0, squares = 0, last = 0;
  for (const double time : times) {
    sum += time - last;
    squares += (time - last) * (time - last);
    last = time;
  }
  const double mean = sum / static_cast<double>(times.size());
  return {mean, std::sqrt(squares / static_cast<double>(times.size()) - mean * mean) / mean};
}

constexpr int kMany = 200'000;
const double kRootMany = std::sqrt(200'000.0);

}  // namespace

TEST_CASE("Poisson gaps have mean 1 / rate and coefficient of variation 1") {
  const auto process = make_poisson_arrivals(PerSecond(8), 7);
  const Moments gaps = gap_moments(seconds_of(*process, kMany));
  // Standard errors: mean * 1 / sqrt(n) and, for the exponential, 1 / sqrt(n) for its CV as well.
  CHECK(std::fabs(gaps.mean * 8 - 1) < 4 / kRootMany);
  CHECK(std::fabs(gaps.cv - 1) < 4 / kRootMany);
}

TEST_CASE("Poisson gaps are exponential") {
  const auto process = make_poisson_arrivals(PerSecond(2), 3);
  const std::vector<double> times = seconds_of(*process, kMany);
  int longer = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    longer += times[i] - times[i - 1] > 1.0 ? 1 : 0;
  }
  const double expected = std::exp(-2.0);
  CHECK(std::fabs(longer / static_cast<double>(kMany) - expected) <
        4 * std::sqrt(expected * (1 - expected)) / kRootMany);
}

TEST_CASE("gamma gaps have coefficient of variation 1 / sqrt(burstiness)") {
  for (const double burstiness : {0.25, 0.835, 1.0, 4.0}) {
    const auto process = make_gamma_arrivals({PerSecond(5), burstiness, {}}, 11);
    const Moments gaps = gap_moments(seconds_of(*process, kMany));
    const double cv = 1 / std::sqrt(burstiness);
    CAPTURE(burstiness);
    CHECK(std::fabs(gaps.mean * 5 - 1) < 4 * cv / kRootMany);
    // The gamma's CV estimate has standard error sqrt((1 + 1 / shape) / (2 n)) relative, at most.
    CHECK(std::fabs(gaps.cv / cv - 1) < 4 * std::sqrt((1 + 1 / burstiness) / 2) / kRootMany);
  }
}

TEST_CASE("with an exact duration the last of N requests arrives at N / rate, the others in proportion") {
  for (const double burstiness : {1.0, 0.4}) {
    const auto scaled = make_gamma_arrivals({PerSecond(12), burstiness, 500}, 5);
    const auto plain = make_gamma_arrivals({PerSecond(12), burstiness, {}}, 5);
    const std::vector<double> a = seconds_of(*scaled, 500);
    const std::vector<double> b = seconds_of(*plain, 500);
    CHECK(a.back() == to_seconds(duration_from_seconds(500.0 / 12)));
    const double factor = a.back() / b.back();
    CHECK(factor != 1.0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(std::fabs(a[i] - factor * b[i]) < 4e-12);
    }
  }
  const auto poisson = make_poisson_arrivals(PerSecond(4), 1, 10);
  CHECK(seconds_of(*poisson, 10).back() == 2.5);
  CHECK_THROWS_AS(poisson->next(), std::logic_error);
}

TEST_CASE("constant arrivals are 1 / rate apart and do not drift") {
  const auto process = make_constant_arrivals(PerSecond(3));
  CHECK(process->next() == TimePoint(picoseconds(333'333'333'334)));  // 1/3 s, rounded up
  CHECK(process->next() == TimePoint(picoseconds(666'666'666'667)));
  CHECK(process->next() == TimePoint(seconds(1)));
  const auto fast = make_constant_arrivals(PerSecond(10));
  CHECK(seconds_of(*fast, 100'000).back() == 10'000.0);
}

TEST_CASE("all at once is at 0") {
  const auto process = make_all_at_once_arrivals();
  CHECK(process->next() == TimePoint());
  CHECK(process->next() == TimePoint());
}

TEST_CASE("on/off bursts: silent while off, mean rate as asked") {
  OnOffArrivals options{PerSecond(10), seconds(2), seconds(6), true};
  const auto fixed = make_on_off_arrivals(options, 9);
  const std::vector<double> times = seconds_of(*fixed, 80'000);
  int first_half_of_burst = 0;
  for (const double time : times) {
    const double phase = std::fmod(time, 8.0);
    REQUIRE(phase <= 2.0 + 1e-9);
    first_half_of_burst += phase < 1.0 ? 1 : 0;
  }
  // Poisson with 40 req/s while on: counts over a time of T vary by sqrt(10 T).
  CHECK(std::fabs(times.back() - 8000) < 4 * std::sqrt(80'000.0) / 10);
  CHECK(std::fabs(first_half_of_burst - 40'000) < 4 * std::sqrt(20'000.0));
}

TEST_CASE("on/off with exponential phases keeps the mean rate and is burstier than Poisson") {
  OnOffArrivals options{PerSecond(10), seconds(2), seconds(6), false};
  const auto process = make_on_off_arrivals(options, 9);
  const std::vector<double> times = seconds_of(*process, kMany);
  // A gap is an exponential on time X of rate 40 with Poisson(X / 2) off times of mean 6 in it:
  // E[gap | X] = 4 X, Var[gap | X] = X / 2 * 2 * 36, so Var[gap] = 16 / 1600 + 36 / 40.
  const double variance = 0.91;
  const Moments gaps = gap_moments(times);
  CHECK(std::fabs(gaps.mean - 0.1) < 4 * std::sqrt(variance) / kRootMany);
  CHECK(std::fabs(gaps.cv - std::sqrt(variance) / 0.1) < 0.85);  // 4 sigma, of 2500 off times
}

TEST_CASE("a sinusoidal day has the asked ratio, its peak in place and mean 1") {
  const std::vector<double> day = sinusoidal_day(5, 0.25);
  double sum = 0;
  for (const double weight : day) {
    sum += weight;
  }
  CHECK(sum / static_cast<double>(day.size()) == Approx(1.0).epsilon(1e-12));
  CHECK(day[72] == Approx(1 + 2.0 / 3).epsilon(1e-4));  // a quarter of 288 steps
  CHECK(day[216] == Approx(1 - 2.0 / 3).epsilon(1e-3));
  CHECK(day[72] / day[216] == Approx(5).epsilon(1e-3));
}

TEST_CASE("diurnal arrivals follow the weights of the day, from the time of day at which they start") {
  DiurnalArrivals options;
  options.rate = PerSecond(10);
  options.day = seconds(100);
  options.starts_at = seconds(30);
  options.weights = {1, 3, 0, 4};  // mean 2: 5, 15, 0 and 20 req/s for 25 s each
  const auto process = make_diurnal_arrivals(options, 21);
  std::vector<int> counts(4);
  double last = 0;
  for (const double time : seconds_of(*process, kMany)) {
    counts[static_cast<std::size_t>(std::fmod(time + 30, 100) / 25)] += 1;
    last = time;
  }
  CHECK(std::fabs(last - kMany / 10.0) < 4 * std::sqrt(kMany) / 10 + 30);
  CHECK(std::fabs(counts[0] - kMany / 8.0) < 4 * std::sqrt(kMany / 8.0) + 200);
  CHECK(std::fabs(counts[1] - kMany * 3 / 8.0) < 4 * std::sqrt(kMany * 3 / 8.0) + 400);
  CHECK(counts[2] == 0);
  CHECK(std::fabs(counts[3] - kMany / 2.0) < 4 * std::sqrt(kMany / 2.0) + 400);
}

TEST_CASE("diurnal arrivals at a tiny rate skip whole days") {
  DiurnalArrivals options;
  options.rate = PerSecond(1e-5);
  options.day = milliseconds(1);
  options.weights = {0, 1};
  const auto process = make_diurnal_arrivals(options, 2);
  const double first = seconds_of(*process, 1).front();
  // The unit process's first arrival over the rate, but for where in the day it falls.
  CHECK(std::fabs(first - RandomStream(2, "workload/arrivals").exponential() / 1e-5) < 1e-3);
  CHECK(std::fmod(first, 1e-3) >= 0.5e-3 - 1e-8);
}

TEST_CASE("an arrival past the end of simulated time is an error") {
  CHECK(arrival_at(9.1e6) == TimePoint(seconds(9'100'000)));
  CHECK(arrival_at(1.5e-12) == TimePoint(picoseconds(2)));
  try {
    arrival_at(9.3e6);
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()) ==
          "workload: a request would arrive after 106 days, the end of simulated time");
  }
}
