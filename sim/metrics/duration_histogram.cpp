#include "sim/metrics/duration_histogram.hpp"

namespace inferometer {

void DurationHistogram::add_progression(Duration first, Duration difference, std::int64_t length,
                                        std::int64_t count) {
  std::int64_t low = first.count();
  std::int64_t step = difference.count();
  std::int64_t high = low + step * (length - 1);
  if (step < 0) {
    std::swap(low, high);
    step = -step;
  }
  while (DurationBucket::highest_like(low) < high) {
    const std::int64_t terms = (DurationBucket::highest_like(low) - low) / step + 1;
    add(Duration(low), terms * count);
    low += terms * step;
    length -= terms;
  }
  add(Duration(low), length * count);
}

}  // namespace inferometer
