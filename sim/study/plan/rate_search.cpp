#include "sim/study/plan/rate_search.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

namespace inferometer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Where first guesses go: a latency limit is often lost a little below the capacity, and surely above it.
constexpr double kBelowCapacity = 0.9;
constexpr double kAboveCapacity = 1.05;

/// Five digits are finer than any tolerance, and read better in reports.
double rounded(double factor) {
  const std::string text = fmt::format("{:.5g}", factor);
  std::from_chars(text.data(), text.data() + text.size(), factor);
  return factor;
}

class RateSearch {
 public:
  explicit RateSearch(double tolerance) : tolerance_(tolerance) {}

  [[nodiscard]] bool is_done() const {
    return high_ <= low_ * (1 + tolerance_) || low_ >= kLargestRateFactor || high_ <= kSmallestRateFactor;
  }
  [[nodiscard]] RateAnswer answer() const { return {low_, high_}; }

  [[nodiscard]] double next() const {
    if (low_ == 0 && high_ == kInfinity) {
      return 1;
    }
    // Rounded guesses that do not narrow the bracket would be asked for again without end.
    for (const double guess : {kBelowCapacity * capacity_, kAboveCapacity * capacity_}) {
      const double factor = rounded(guess);
      const bool is_wanted = low_ == 0 || high_ == kInfinity || high_ > low_ * kWideBracket;
      if (is_wanted && factor > low_ * (1 + tolerance_ / 2) && factor < high_ / (1 + tolerance_ / 2) &&
          factor >= kSmallestRateFactor && factor <= kLargestRateFactor) {
        return factor;
      }
    }
    if (high_ == kInfinity) {
      return std::min(2 * low_, kLargestRateFactor);
    }
    return low_ == 0 ? std::max(rounded(high_ / 2), kSmallestRateFactor) : rounded(std::sqrt(low_ * high_));
  }

  void told(double factor, const Probe& probe) {
    (probe.meets ? low_ : high_) = factor;
    if (capacity_ == 0 && probe.load && *probe.load > 0) {
      capacity_ = factor / *probe.load;
    }
  }

 private:
  /// Guesses go only into brackets wider than they are exact.
  static constexpr double kWideBracket = 1.3;

  double tolerance_;
  double low_ = 0, high_ = kInfinity;
  double capacity_ = 0;  // as a factor; 0: not known
};

}  // namespace

std::optional<RateAnswer> find_highest_rate(double tolerance, const RateProbe& probe) {
  RateSearch search(tolerance);
  while (!search.is_done()) {
    const double factor = search.next();
    const std::optional<Probe> outcome = probe(factor);
    if (!outcome) {
      return std::nullopt;
    }
    search.told(factor, *outcome);
  }
  return search.answer();
}

}  // namespace inferometer
