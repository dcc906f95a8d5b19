#pragma once

// What a run computed, to compare with what the GPU could have: achieved FLOP/s and bytes/s. Who uses it:
// metrics, one accumulator a phase. Only sums of the step shapes are kept, so adding a step is O(chunks) and
// exact in any order.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "costmodel/attention_work.hpp"
#include "costmodel/model_spec.hpp"
#include "costmodel/model_split.hpp"
#include "costmodel/step_shape.hpp"

namespace inferometer {

class WorkTotals {
 public:
  /// Throws ConfigError when the model cannot be split so. With several ranks of attention the work is that
  /// of the mean one, though some may have a sequence more than others. Of a replica whose layers are spread
  /// over the stages of a pipeline, the model is the whole one, too, though a GPU does its stage's share
  /// alone. With p stages p micro-batches are in flight, and every one of them takes its own time from end to
  /// end: over the seconds of all of them together (p a second of the replica) the work of whole models is
  /// again that of one GPU, the mean over the stages.
  WorkTotals(const ModelSpec& model, const ModelSplit& split);

  void add(const StepShape& shape) { add(shape, 1, {}); }

  /// So many steps: `shape` is that of the first, and each adds `context_growth` to the decode contexts and
  /// the tokens of every chunk to its past. O(1) without chunks, else O(chunks * steps).
  void add(const StepShape& shape, std::int64_t steps, const ContextTokens& context_growth);

  /// Of one step on its own, added to nothing. Without chunks linear in the decode contexts. O(chunks).
  [[nodiscard]] StepWork of_step(const StepShape& shape) const;

  /// Of one GPU, so far: of the shapes as they were given, without the padding of CUDA graphs. Equal to the
  /// sums over the steps' operators where ranks have as much.
  /// Bytes stop at 2^63 - 1, a month of simulated time under full load.
  [[nodiscard]] Flops flops() const;
  [[nodiscard]] Bytes hbm_bytes() const;
  /// The same without an end, for the sums of many replicas.
  [[nodiscard]] double hbm_bytes_unbounded() const;

 private:
  [[nodiscard]] Int128 hbm_bytes_sum() const;
  /// Of the routed experts of all layers.
  [[nodiscard]] StepWork experts(std::int64_t tokens) const;

  /// Work of one kind in a step: `once` when there is any of it, and so much for each unit.
  struct Linear {
    std::int64_t once = 0;
    std::int64_t per_unit = 0;
  };

  ModelSpec model_;
  ModelSplit split_;
  AttentionWork attention_;
  /// By tokens, of steps of usual size: the experts they reach are no straight line.
  std::shared_ptr<const std::vector<StepWork>> experts_;
  Linear token_flops_, row_flops_, token_bytes_, row_bytes_;

  std::int64_t steps_ = 0;
  std::int64_t sampling_steps_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t rows_ = 0;
  AttentionWork::Counts attended_;
  StepWork experts_sum_;
};

}  // namespace inferometer
