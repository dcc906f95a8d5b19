#pragma once

#include <cstdint>

#include "base/triangular.hpp"
#include "base/units.hpp"
#include "costmodel/step_pricer.hpp"

namespace inferometer {

/// Successive steps whose costs lie on a straight line, and so all that can be said of their times without
/// going through them: step j takes a + b j, the first k take a k + b k (k - 1) / 2. In whole picoseconds,
/// equal to the sum of the steps. One step is the shortest stretch. Everything is O(1).
class Stretch {
 public:
  /// Precondition: 1 <= steps <= line.steps, and all steps together end within simulated time.
  Stretch(TimePoint start, const StepLine& line, std::int64_t steps)
      : start_(start),
        line_(line),
        first_ps_(line.first.total().count()),
        growth_ps_(line.growth.total().count()),
        steps_(steps) {}
  /// A single step.
  Stretch(TimePoint start, const StepCost& cost) : Stretch(start, StepLine{cost, {}, 1}, 1) {}

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] TimePoint start() const { return start_; }
  [[nodiscard]] TimePoint end() const { return start_ + time_of(steps_); }
  [[nodiscard]] Duration time() const { return time_of(steps_); }
  [[nodiscard]] const StepCost& first_cost() const { return line_.first; }
  /// What each step costs more than the one before.
  [[nodiscard]] const StepCost& growth() const { return line_.growth; }
  /// Of all steps together.
  [[nodiscard]] StepCost cost() const { return line_.first * steps_ + line_.growth * triangular(steps_); }

  /// Of step number `step`, from 0 on.
  [[nodiscard]] Duration time_at(std::int64_t step) const { return Duration(first_ps_ + growth_ps_ * step); }
  [[nodiscard]] TimePoint end_of(std::int64_t step) const { return start_ + time_of(step + 1); }
  /// Of the first `steps` steps together.
  [[nodiscard]] Duration time_of(std::int64_t steps) const {
    return Duration(first_ps_ * steps + growth_ps_ * triangular(steps));
  }

  /// The fewest steps, at least one, that take so long or longer. Precondition: all of them do.
  [[nodiscard]] std::int64_t steps_to_last(Duration time) const;
  /// Steps that end before `time`.
  [[nodiscard]] std::int64_t ended_before(TimePoint time) const {
    return end() < time ? steps_ : steps_to_last(time - start_) - 1;
  }
  /// Steps that end at `time` or before.
  [[nodiscard]] std::int64_t ended_by(TimePoint time) const { return ended_before(time + picoseconds(1)); }

  /// Precondition: 1 <= steps <= steps().
  void shorten_to(std::int64_t steps) { steps_ = steps; }

 private:
  TimePoint start_;
  StepLine line_;
  std::int64_t first_ps_, growth_ps_;
  std::int64_t steps_;
};

/// The most steps of a line, up to `most`, that together take at most `limit`; 0 when not even one does.
/// O(log most).
std::int64_t steps_within(const StepLine& line, std::int64_t most, Duration limit);

}  // namespace inferometer
