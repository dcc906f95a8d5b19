#include "sim/study/plan/size_search.hpp"

#include <algorithm>
#include <cmath>

namespace inferometer {
namespace {

/// Load at which a latency limit is met more often than not: where a first guess goes.
constexpr double kUsualLoad = 0.85;

class SizeSearch {
 public:
  explicit SizeSearch(const std::vector<std::int64_t>& units)
      : units_(units), high_(static_cast<std::ptrdiff_t>(units.size())) {}

  [[nodiscard]] bool is_done() const { return high_ - low_ <= 1; }
  [[nodiscard]] std::ptrdiff_t low() const { return low_; }

  [[nodiscard]] std::optional<std::int64_t> smallest() const {
    return is_open() ? std::nullopt : std::optional(units_[static_cast<std::size_t>(high_)]);
  }

  /// The place to look at next, between the largest that misses and the smallest that meets.
  [[nodiscard]] std::ptrdiff_t next() const {
    if (low_ < 0 && is_open()) {
      return 0;
    }
    const std::ptrdiff_t last = is_open() ? static_cast<std::ptrdiff_t>(units_.size()) - 1 : high_ - 1;
    if (guess_ > 0) {
      return std::clamp(at_least(guess_), low_ + 1, last);
    }
    if (stride_ > 0) {
      return std::clamp(goes_down_ ? high_ - stride_ : low_ + stride_, low_ + 1, last);
    }
    return is_open() ? std::clamp(at_least(2 * units_[static_cast<std::size_t>(low_)]), low_ + 1, last)
                     : low_ + (high_ - low_) / 2;
  }

  void told(std::ptrdiff_t place, const Probe& probe) {
    (probe.meets ? high_ : low_) = place;
    const auto units = static_cast<double>(units_[static_cast<std::size_t>(place)]);
    const bool is_first_guess = !has_guessed_ && probe.load.has_value() && *probe.load > 0;
    if (guess_ > 0) {
      goes_down_ = probe.meets;
      stride_ = 1;
    } else if (stride_ > 0) {
      stride_ = probe.meets == goes_down_ ? 2 * stride_ : 0;
    }
    guess_ = is_first_guess ? static_cast<std::int64_t>(std::ceil(units * *probe.load / kUsualLoad)) : 0;
    has_guessed_ = has_guessed_ || is_first_guess;
  }

 private:
  [[nodiscard]] bool is_open() const { return high_ == static_cast<std::ptrdiff_t>(units_.size()); }
  [[nodiscard]] std::ptrdiff_t at_least(std::int64_t units) const {
    return std::lower_bound(units_.begin(), units_.end(), units) - units_.begin();
  }

  const std::vector<std::int64_t>& units_;
  std::ptrdiff_t low_ = -1;  // place of the largest that misses
  std::ptrdiff_t high_;      // of the smallest that meets
  std::int64_t guess_ = 0;   // units to try next; 0: none
  bool has_guessed_ = false;
  // From a guess, that is near, in ever longer strides until the answer is passed; then by halves.
  std::ptrdiff_t stride_ = 0;
  bool goes_down_ = false;
};

}  // namespace

std::optional<SizeAnswer> find_smallest(const std::vector<std::int64_t>& units, bool ceiling_first,
                                        const SizeProbe& probe) {
  SizeSearch search(units);
  std::ptrdiff_t place = ceiling_first ? static_cast<std::ptrdiff_t>(units.size()) - 1 : search.next();
  while (!search.is_done()) {
    const std::optional<Probe> outcome = probe(units[static_cast<std::size_t>(place)]);
    if (!outcome) {
      return std::nullopt;
    }
    search.told(place, *outcome);
    place = search.is_done() ? place : search.next();
  }
  return SizeAnswer{search.smallest()};
}

}  // namespace inferometer
