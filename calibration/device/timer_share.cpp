#include "calibration/device/timer_share.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace inferometer {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

TimerShare timer_share(std::vector<double> seconds_of_few, std::vector<double> seconds_of_many) {
  const double few = median(std::move(seconds_of_few));
  const double many = median(std::move(seconds_of_many));
  const double per_kernel = std::max(0.0, (many - few) / (kManyEmptyKernels - kFewEmptyKernels));
  return {.own_seconds = std::max(0.0, few - kFewEmptyKernels * per_kernel),
          .per_kernel_seconds = per_kernel};
}

}  // namespace inferometer
