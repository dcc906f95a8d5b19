#pragma once

#include <memory>
#include <vector>

#include "base/units.hpp"
#include "costmodel/step_pricer.hpp"
#include "costmodel/step_shape.hpp"

namespace inferometer {

/// The stages of a replica's pipeline as its micro-batches pass through them, in the order in which they were
/// begun: a stage takes the next one when it has finished the one before and the stage before has handed it
/// on. Host time delays a micro-batch and holds no stage.
class Pipeline {
 public:
  /// A pricer for each stage, the first first (costmodel/pipeline.hpp); at least one.
  explicit Pipeline(std::vector<std::shared_ptr<const StepPricer>> stages);

  [[nodiscard]] std::size_t stages() const { return stages_.size(); }

  /// A micro-batch enters now. What it costs until it leaves the last stage and its host work is done,
  /// waiting for stages included (StepCost::bubble). Precondition: `now` is not before that of the call
  /// before. O(stages).
  StepCost pass(TimePoint now, const StepShape& shape);

  /// Whatever is in it is gone.
  void clear(TimePoint now);

 private:
  std::vector<std::shared_ptr<const StepPricer>> stages_;
  std::vector<TimePoint> free_from_;  // by stage
};

}  // namespace inferometer
