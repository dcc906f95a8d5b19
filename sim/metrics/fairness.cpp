#include "sim/metrics/fairness.hpp"

#include <algorithm>

namespace inferometer {

void FairnessTotals::add(std::int32_t priority, Duration ttft, Duration latency, std::int64_t output_tokens) {
  const std::int64_t per_token = (latency.count() + output_tokens / 2) / output_tokens;
  ++count_;
  sum_ += per_token;
  squares_.add(Int128{per_token} * per_token);
  auto place =
      std::lower_bound(priorities_.begin(), priorities_.end(), priority,
                       [](const Priority& other, std::int32_t number) { return other.priority < number; });
  if (place == priorities_.end() || place->priority != priority) {
    too_many_ = too_many_ || priorities_.size() == kMostPriorities;
    if (too_many_) {
      priorities_.clear();
      return;
    }
    place = priorities_.insert(place, Priority(priority));
  }
  ++place->completed;
  place->ttft.add_single(ttft);
  place->e2el.add_single(latency);
}

std::optional<double> FairnessTotals::jain_index() const {
  if (count_ == 0) {
    return std::nullopt;
  }
  const auto sum = static_cast<double>(sum_);
  return sum * sum / (static_cast<double>(count_) * squares_.value());
}

std::vector<const FairnessTotals::Priority*> FairnessTotals::priorities() const {
  std::vector<const Priority*> all;
  for (const Priority& priority : priorities_) {
    all.push_back(&priority);
  }
  return all.size() > 1 ? all : std::vector<const Priority*>{};
}

}  // namespace inferometer
