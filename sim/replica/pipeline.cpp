#include "sim/replica/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace inferometer {

Pipeline::Pipeline(std::vector<std::shared_ptr<const StepPricer>> stages)
    : stages_(std::move(stages)), free_from_(stages_.size()) {
  INFEROMETER_CHECK(!stages_.empty(), "a pipeline has a stage");
}

StepCost Pipeline::pass(TimePoint now, const StepShape& shape) {
  StepCost whole;
  TimePoint time = now;
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    const StepCost cost = stages_[stage]->price(shape);
    const TimePoint start = std::max(time, free_from_[stage]);
    whole = whole + cost;
    whole.bubble += start - time;
    time = start + (cost.total() - cost.host);
    free_from_[stage] = time;
  }
  return whole;
}

void Pipeline::clear(TimePoint now) {
  std::fill(free_from_.begin(), free_from_.end(), now);
}

}  // namespace inferometer
