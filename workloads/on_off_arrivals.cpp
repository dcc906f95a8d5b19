#include "base/check.hpp"
#include "base/random.hpp"
#include "workloads/arrivals.hpp"

namespace inferometer {

namespace {

/// Requests form a Poisson process in "on time", which stands still while the source is off. What is left of
/// a gap when a phase ends carries over into the next, which is exact because exponential gaps have no
/// memory.
class OnOff : public ArrivalProcess {
 public:
  OnOff(const OnOffArrivals& options, std::uint64_t seed)
      : mean_on_(to_seconds(options.mean_on)),
        mean_off_(to_seconds(options.mean_off)),
        mean_gap_(mean_on_ / (options.rate.count() * (mean_on_ + mean_off_))),
        fixed_phases_(options.fixed_phases),
        gaps_(seed, "workload/arrivals"),
        phases_(seed, "workload/arrivals/phases") {
    INFEROMETER_CHECK(options.rate.count() > 0 && mean_on_ > 0 && mean_off_ >= 0,
                      "positive rate and on phases");
    on_left_ = phase(mean_on_);
  }

  TimePoint next() override {
    double gap = gaps_.exponential() * mean_gap_;
    while (gap > on_left_) {
      gap -= on_left_;
      now_ += on_left_ + phase(mean_off_);
      on_left_ = phase(mean_on_);
    }
    on_left_ -= gap;
    now_ += gap;
    return arrival_at(now_);
  }

 private:
  double phase(double mean) { return fixed_phases_ ? mean : mean * phases_.exponential(); }

  double mean_on_, mean_off_;  ///< seconds, as everything here
  double mean_gap_;            ///< while on
  bool fixed_phases_;
  RandomStream gaps_, phases_;
  double now_ = 0;
  double on_left_ = 0;
};

}  // namespace

std::unique_ptr<ArrivalProcess> make_on_off_arrivals(const OnOffArrivals& options, std::uint64_t seed) {
  return std::make_unique<OnOff>(options, seed);
}

}  // namespace inferometer
