#include "workloads/arrivals.hpp"

#include "base/check.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace inferometer {

namespace {

class ConstantArrivals : public ArrivalProcess {
 public:
  explicit ConstantArrivals(PerSecond rate) : rate_(rate) {}

  TimePoint next() override {
    taken_ += 1;
    return arrival_at(static_cast<double>(taken_) / rate_.count());
  }

 private:
  PerSecond rate_;
  std::int64_t taken_ = 0;
};

class AllAtOnceArrivals : public ArrivalProcess {
 public:
  TimePoint next() override { return TimePoint(); }
};

/// Independent gaps: exponential for Poisson, gamma otherwise.
class RenewalArrivals : public ArrivalProcess {
 public:
  RenewalArrivals(const GammaArrivals& options, bool exponential, std::uint64_t seed)
      : options_(options), exponential_(exponential), stream_(seed, "workload/arrivals") {
    INFEROMETER_CHECK(options.rate.count() > 0 && options.burstiness > 0, "rate and burstiness are positive");
    if (!options.exact_duration_for) {
      seconds_per_unit_ = 1.0 / options.rate.count();
      return;
    }
    RandomStream rehearsal = stream_;
    double total = 0;
    for (std::int64_t i = 0; i < *options.exact_duration_for; ++i) {
      total += gap(rehearsal);
    }
    // A shape far below 1 can round every gap to 0: then all requests arrive together at the end.
    seconds_per_unit_ = total > 0 ? duration_seconds() / total : 0;
  }

  TimePoint next() override {
    taken_ += 1;
    sum_ += gap(stream_);
    const double seconds = sum_ * seconds_per_unit_;
    if (!options_.exact_duration_for) {
      return arrival_at(seconds);
    }
    INFEROMETER_CHECK(taken_ <= *options_.exact_duration_for,
                      "more requests than the duration was fixed for");
    const double end = duration_seconds();
    const bool is_last = taken_ == *options_.exact_duration_for;
    return arrival_at(is_last || seconds > end ? end : seconds);
  }

 private:
  /// In units of the mean gap.
  double gap(RandomStream& stream) const {
    return exponential_ ? stream.exponential() : stream.gamma(options_.burstiness) / options_.burstiness;
  }

  [[nodiscard]] double duration_seconds() const {
    return static_cast<double>(*options_.exact_duration_for) / options_.rate.count();
  }

  GammaArrivals options_;
  bool exponential_;
  RandomStream stream_;
  double seconds_per_unit_ = 0;
  double sum_ = 0;
  std::int64_t taken_ = 0;
};

}  // namespace

TimePoint arrival_at(double seconds) {
  INFEROMETER_CHECK(seconds >= 0, "arrivals are not before the start");
  if (seconds >= kEndOfTimeSeconds) {
    throw ConfigError(Position{"workload"},
                      "a request would arrive after 106 days, the end of simulated time");
  }
  return TimePoint(duration_from_seconds(seconds));
}

std::unique_ptr<ArrivalProcess> make_constant_arrivals(PerSecond rate) {
  return std::make_unique<ConstantArrivals>(rate);
}

std::unique_ptr<ArrivalProcess> make_all_at_once_arrivals() {
  return std::make_unique<AllAtOnceArrivals>();
}

std::unique_ptr<ArrivalProcess> make_gamma_arrivals(const GammaArrivals& options, std::uint64_t seed) {
  return std::make_unique<RenewalArrivals>(options, false, seed);
}

std::unique_ptr<ArrivalProcess> make_poisson_arrivals(PerSecond rate, std::uint64_t seed,
                                                      std::optional<std::int64_t> exact_duration_for) {
  GammaArrivals options{rate, 1.0, exact_duration_for};
  return std::make_unique<RenewalArrivals>(options, true, seed);
}

}  // namespace inferometer
