#include "calibration/device/comparison.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace inferometer {

void Comparison::add(std::int64_t index, double got, double want, double allowed) {
  ++found_.compared;
  const double error = std::fabs(got - want) / allowed;
  if (!(error <= 1)) {
    add_wrong(fmt::format("output {}: {:.6g}, reference {:.6g}", index, got, want));
  }
  // NaN stays, once found.
  if (std::isnan(error) || error > found_.worst_error) {
    found_.worst_error = error;
  }
}

void Comparison::add_wrong(const std::string& what) {
  wrong_ = true;
  if (found_.first_wrong.empty()) {
    found_.first_wrong = what;
  }
}

void Comparison::add_nonfinite(std::uint64_t nans, std::uint64_t infinities) {
  if (nans > 0) {
    found_.worst_error = std::numeric_limits<double>::quiet_NaN();
    add_wrong(fmt::format("{} outputs are NaN", nans));
  }
  if (infinities > 0) {
    add_wrong(fmt::format("{} outputs are infinite", infinities));
  }
}

Verification Comparison::result() const {
  Verification result = found_;
  result.passed = !wrong_ && found_.compared > 0;
  if (found_.compared == 0 && result.first_wrong.empty()) {
    result.first_wrong = "nothing was compared";
  }
  return result;
}

}  // namespace inferometer
