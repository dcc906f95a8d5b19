#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "workloads/arrivals.hpp"

namespace inferometer {

namespace {

constexpr int kStepsPerDay = 288;
constexpr double kTwoPi = 6.28318530717958647693;

/// The accumulated rate L(t) turns a Poisson process of rate 1 into one of the rate that is wanted: its
/// arrivals are where L(t) passes the unit process's. The rate is constant within a step, so L is inverted
/// exactly.
class Diurnal : public ArrivalProcess {
 public:
  Diurnal(const DiurnalArrivals& options, std::uint64_t seed)
      : step_(to_seconds(options.day) / static_cast<double>(options.weights.size())),
        stream_(seed, "workload/arrivals") {
    double total = 0;
    for (const double weight : options.weights) {
      INFEROMETER_CHECK(weight >= 0, "weights are not negative");
      total += weight;
    }
    INFEROMETER_CHECK(total > 0 && options.rate.count() > 0 && step_ > 0, "a positive mean rate and day");
    const double mean = total / static_cast<double>(options.weights.size());
    for (const double weight : options.weights) {
      expected_.push_back(options.rate.count() * (weight / mean) * step_);
      expected_in_day_ += expected_.back();
    }
    const double start = to_seconds(options.starts_at) / step_;
    current_ = static_cast<std::size_t>(start) % expected_.size();
    passed_ = start - std::floor(start);
    origin_ = -(std::floor(start) + passed_);
    steps_ = std::floor(start);
  }

  TimePoint next() override {
    double needed = stream_.exponential();
    const double whole_days = std::floor(needed / expected_in_day_);
    steps_ += whole_days * static_cast<double>(expected_.size());
    needed -= whole_days * expected_in_day_;
    while (needed > expected_[current_] * (1.0 - passed_)) {
      needed -= expected_[current_] * (1.0 - passed_);
      current_ = (current_ + 1) % expected_.size();
      steps_ += 1;
      passed_ = 0;
    }
    if (needed > 0) {
      passed_ += needed / expected_[current_];
    }
    const double seconds = (steps_ + passed_ + origin_) * step_;
    return arrival_at(seconds > 0 ? seconds : 0);
  }

 private:
  double step_;  ///< seconds
  RandomStream stream_;
  std::vector<double> expected_;  ///< requests in each step
  double expected_in_day_ = 0;
  std::size_t current_ = 0;  ///< step of the day
  double passed_ = 0;        ///< of the current step, in [0, 1]
  double steps_ = 0;         ///< since the midnight before the start
  double origin_ = 0;        ///< start of the simulation, minus, in steps
};

}  // namespace

std::unique_ptr<ArrivalProcess> make_diurnal_arrivals(const DiurnalArrivals& options, std::uint64_t seed) {
  return std::make_unique<Diurnal>(options, seed);
}

std::vector<double> sinusoidal_day(double peak_to_trough, double peak_at) {
  INFEROMETER_CHECK(peak_to_trough >= 1 && peak_at >= 0 && peak_at < 1,
                    "a ratio from 1, a fraction of a day");
  const double amplitude = (peak_to_trough - 1) / (peak_to_trough + 1);
  std::vector<double> weights;
  for (int step = 0; step < kStepsPerDay; ++step) {
    weights.push_back(1 + amplitude * portable_cos(kTwoPi * ((step + 0.5) / kStepsPerDay - peak_at)));
  }
  return weights;
}

}  // namespace inferometer
