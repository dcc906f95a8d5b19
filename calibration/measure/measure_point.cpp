#include "calibration/measure/measure_point.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/random.hpp"

namespace inferometer {
namespace {

// What a record can hold. A kernel takes microseconds at the least, a sample some seconds at the most.
constexpr double kLeastSeconds = 1e-12, kMostSeconds = 1e6;

// A pause is slept in parts so that Ctrl-C need not wait for it.
constexpr double kNapSeconds = 0.1;

constexpr double kPauseGrowth = 2;

bool is_right(const Verification& verification) {
  // A NaN compares as false.
  return verification.passed && verification.compared > 0 && verification.worst_error <= 1;
}

std::string what_is_wrong(const Verification& verification) {
  if (verification.compared == 0) {
    return "no output was compared";
  }
  const std::string deviation =
      std::isnan(verification.worst_error)
          ? "not a number"
          : fmt::format("{:.3g} times the deviation allowed", verification.worst_error);
  return verification.first_wrong.empty() ? deviation : verification.first_wrong + " (" + deviation + ")";
}

/// Takes the samples of a point that is prepared and right.
class Sampling {
 public:
  Sampling(KernelDevice& device, const KernelCall& call, const MeasureOptions& options,
           const LoopControls& controls)
      : device_(device), call_(call), options_(options), controls_(controls) {}

  PointResult run(std::string kernel) {
    warm_up();
    while (!why_stop(seconds_, sampling_seconds_, options_.stop)) {
      if (controls_.must_stop()) {
        return {.outcome = PointOutcome::interrupted, .thrown_away = thrown_away_};
      }
      const std::string slow = take_sample();
      if (slow.empty()) {
        in_a_row_ = 0;
        continue;
      }
      ++thrown_away_;
      ++in_a_row_;
      if (in_a_row_ >= options_.most_thrown_away_in_a_row || thrown_away_ >= options_.most_thrown_away) {
        return throttled(slow);
      }
      pause();
      // A GPU that has rested starts at its idle clock.
      warm_up();
    }
    return measured(std::move(kernel));
  }

 private:
  void warm_up() {
    const double begin = controls_.now_seconds();
    for (std::int64_t runs = 0; runs < options_.most_warm_ups && !controls_.must_stop(); ++runs) {
      device_.run();
      if (controls_.now_seconds() - begin >= options_.most_warm_up_seconds) {
        return;
      }
    }
  }

  /// Why the sample was not kept; "" when it was.
  std::string take_sample() {
    const double begin = controls_.now_seconds();
    const TimedRun run = device_.run();
    const bool is_slowed_by_heat = device_.is_slowed_by_heat();
    // Thrown away or kept, it is part of the time that the point may take.
    sampling_seconds_ += controls_.now_seconds() - begin;
    if (!(run.seconds >= kLeastSeconds && run.seconds <= kMostSeconds)) {
      throw DeviceLost(fmt::format("the device says that {} took {} s, which no kernel can", to_string(call_),
                                   run.seconds));
    }
    if (is_slowed_by_heat) {
      return "the driver holds the clock down because of heat";
    }
    const double full_mhz = device_.full_sm_mhz();
    if (run.sm_mhz > 0 && run.sm_mhz < options_.least_clock_share * full_mhz) {
      return fmt::format("the SM clock is {:.0f} MHz of {:.0f} MHz", run.sm_mhz, full_mhz);
    }
    seconds_.push_back(run.seconds);
    if (run.sm_mhz > 0) {
      sm_mhz_sum_ += run.sm_mhz;
      ++clocks_;
    }
    return "";
  }

  void pause() {
    const auto doublings = static_cast<double>(in_a_row_ - 1);
    double left = std::min(options_.first_pause_seconds * std::pow(kPauseGrowth, doublings),
                           options_.longest_pause_seconds);
    while (left > 0 && !controls_.must_stop()) {
      const double nap = std::min(left, kNapSeconds);
      controls_.sleep_seconds(nap);
      left -= nap;
    }
  }

  [[nodiscard]] PointResult throttled(const std::string& slow) const {
    return {.outcome = PointOutcome::throttled,
            .skipped = skipped_point(call_, PointOutcome::throttled,
                                     fmt::format("{}, after {} samples thrown away", slow, thrown_away_)),
            .thrown_away = thrown_away_};
  }

  PointResult measured(std::string kernel) {
    const Quartiles of = quartiles(seconds_);
    PointResult result{.outcome = PointOutcome::measured, .thrown_away = thrown_away_};
    result.measured.call = call_;
    result.measured.seconds = of.median;
    result.measured.kernel = std::move(kernel);
    result.measured.statistics = {.q1_seconds = of.q1,
                                  .q3_seconds = of.q3,
                                  .min_seconds = of.min,
                                  .sm_mhz_mean = clocks_ == 0 ? 0 : sm_mhz_sum_ / clocks_,
                                  .samples = static_cast<std::int64_t>(seconds_.size()),
                                  .verified = true};
    return result;
  }

  KernelDevice& device_;
  const KernelCall& call_;
  const MeasureOptions& options_;
  const LoopControls& controls_;
  std::vector<double> seconds_;
  double sampling_seconds_ = 0;
  double sm_mhz_sum_ = 0, clocks_ = 0;
  std::int64_t thrown_away_ = 0, in_a_row_ = 0;
};

PointResult skipped(const KernelCall& call, PointOutcome outcome, std::string_view detail) {
  return {.outcome = outcome, .skipped = skipped_point(call, outcome, detail)};
}

}  // namespace

std::string to_string(const MeasureOptions& options) {
  return fmt::format("at most {} warm-ups or {} s; {}; samples under {:.6g} % of the SM clock thrown away",
                     options.most_warm_ups, options.most_warm_up_seconds, to_string(options.stop),
                     100 * options.least_clock_share);
}

PointResult measure_point(KernelDevice& device, const KernelCall& call, const MeasureOptions& options,
                          const LoopControls& controls) {
  Prepared prepared = device.prepare(call, fnv1a64(to_string(call)));
  if (prepared.outcome == Prepared::Outcome::unsupported) {
    return skipped(call, PointOutcome::unsupported, prepared.reason);
  }
  if (prepared.outcome == Prepared::Outcome::out_of_memory) {
    return skipped(call, PointOutcome::out_of_memory, prepared.reason);
  }
  const Verification verification = device.verify();
  if (!is_right(verification)) {
    return skipped(call, PointOutcome::wrong_result, what_is_wrong(verification));
  }
  return Sampling(device, call, options, controls).run(std::move(prepared.kernel));
}

}  // namespace inferometer
