#include "sim/batch/acceptance_estimate.hpp"

namespace inferometer {

void AcceptanceEstimate::add(const DraftCounts& step, std::int64_t drafts) {
  if (drafts == 0) {
    if (++steps_without_ == kStepsToForget) {
      forget_half();
    }
    return;
  }
  steps_without_ = 0;
  const std::int64_t all_right = step.accepted_by_position[static_cast<std::size_t>(drafts - 1)];
  right_ += step.accepted_tokens;
  looked_at_ +=
      step.accepted_tokens + (step.drafts - all_right);  // whoever was not right throughout had one wrong
  while (looked_at_ > kMemory) {
    forget_half();
  }
}

void AcceptanceEstimate::forget_half() {
  right_ /= 2;
  looked_at_ /= 2;
  steps_without_ = 0;
}

}  // namespace inferometer
