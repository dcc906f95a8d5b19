#include "sim/metrics/busiest_second.hpp"

namespace inferometer {
namespace {

constexpr Duration kSecond = seconds(1);

}  // namespace

void BusiestSecond::add_by_second(const StepRecord& steps) {
  for (std::int64_t done = 0; done < steps.stretch.steps();) {
    const TimePoint end = steps.stretch.end_of(done);
    if (end < start_ || end >= end_) {
      open(end.since_start().count() / kSecond.count());
    }
    const std::int64_t upto = steps.stretch.ended_before(end_);
    add_to_open(steps.emitted * (upto - done));
    done = upto;
  }
}

void BusiestSecond::open(std::int64_t second) {
  const auto place = static_cast<std::size_t>(second);
  if (in_order_) {
    open_tokens_ = 0;
  } else {
    if (tokens_.size() <= place) {
      tokens_.resize(place + 1);
    }
    tokens_[static_cast<std::size_t>(open_)] = open_tokens_;
    open_tokens_ = tokens_[place];
  }
  open_ = second;
  start_ = TimePoint(kSecond * second);
  end_ = TimePoint(kSecond * (second + 1));
}

}  // namespace inferometer
