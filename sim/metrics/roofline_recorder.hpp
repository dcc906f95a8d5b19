#pragma once

// Where the steps of a run lie on the roofline of a GPU: FLOPs per byte of device memory against FLOPs per
// second, of one GPU, host time included. A histogram over the logarithms of both, by pool and phase; each
// cell keeps the sums of what lies in it, so that it can be drawn at its own mean. Who uses it: `inferometer
// run --report`. The roofline: Williams, Waterman, Patterson, CACM 52(4), 2009.

#include <array>
#include <cstdint>
#include <vector>

#include "base/int128.hpp"
#include "base/units.hpp"
#include "costmodel/work_totals.hpp"
#include "sim/metrics/recorder.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

/// Steps of about the same intensity and performance. A GPU's FLOPs and bytes; of a pipeline, the whole
/// model's over the time from end to end, as in WorkTotals.
struct RooflineCell {
  std::int64_t steps = 0;
  Int128 time = 0;  ///< picoseconds
  Int128 flops = 0, hbm_bytes = 0;

  /// FLOPs per byte. Precondition of both: steps > 0.
  [[nodiscard]] double intensity() const {
    return static_cast<double>(flops) / static_cast<double>(hbm_bytes);
  }
  [[nodiscard]] double flops_per_second() const {
    return static_cast<double>(flops) / static_cast<double>(time) * kPicosecondsPerSecond;
  }
  friend bool operator==(const RooflineCell&, const RooflineCell&) = default;
};

/// The cells of one phase. Four to each doubling, of intensity and of performance: as wide as a seventh to a
/// quarter of the value.
class RooflineCells {
 public:
  RooflineCells();

  /// What is beyond the grid counts at its border. Precondition: bytes, time > 0.
  static std::size_t place_of(const StepWork& work, Duration time);
  RooflineCell& at(std::size_t place) {
    std::uint16_t& number = number_of_[place];
    if (number == 0) {
      cells_.emplace_back();
      number = static_cast<std::uint16_t>(cells_.size());
    }
    return cells_[number - std::size_t{1}];
  }
  /// Those with steps in them, by intensity, then performance. O(grid).
  [[nodiscard]] std::vector<RooflineCell> filled() const;

 private:
  std::vector<std::uint16_t> number_of_;  // by place; 0: none yet
  std::vector<RooflineCell> cells_;       // number 1 first
};

/// Constant memory, some 30 kB a pool and phase. O(chunks) a single step; a stretch of decode steps costs
/// O(log steps) for each cell that it crosses, other stretches O(chunks x steps). Each step counts in the
/// cell it belongs to, so either stepper gives the same.
class RooflineRecorder final : public SimulationObserver {
 public:
  using Phases = std::array<RooflineCells, kStepPhases>;  // by StepPhase

  /// Replicas are numbered through, pool by pool. Precondition: a pool at least, each with its work.
  explicit RooflineRecorder(const std::vector<RecordedPool>& pools);

  void on_steps(const StepRecord& steps) override;

  [[nodiscard]] std::size_t pools() const { return pools_.size(); }
  [[nodiscard]] std::vector<RooflineCell> cells(std::size_t pool, StepPhase phase) const {
    return pools_[pool].phases[static_cast<std::size_t>(phase)].filled();
  }

 private:
  struct Pool {
    WorkTotals work;  // empty: it knows what a step does
    Phases phases;
  };

  static void add_decodes(const StepRecord& steps, const WorkTotals& model, RooflineCells& cells);
  void add_one_by_one(const StepRecord& steps, const WorkTotals& model, RooflineCells& cells);

  std::vector<Pool> pools_;
  std::vector<std::int32_t> pool_of_replica_;
  std::vector<ChunkShape> chunks_;  // of the step looked at
};

}  // namespace inferometer
