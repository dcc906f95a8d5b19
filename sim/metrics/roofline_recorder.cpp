#include "sim/metrics/roofline_recorder.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "base/triangular.hpp"

namespace inferometer {
namespace {

constexpr int kMantissaBits = 52;  // of an IEEE double
constexpr int kExponentBias = 1023;
constexpr int kPartBits = 2;  // four places to each doubling
constexpr std::int64_t kParts = std::int64_t{1} << kPartBits;

/// Places for the values from 2^lowest up to 2^(lowest + doublings).
struct LogAxis {
  int lowest, doublings;

  [[nodiscard]] constexpr std::int64_t places() const { return doublings * kParts; }
  /// Never falls when the value grows: exponent and leading bits of the mantissa, read as a number.
  [[nodiscard]] std::int64_t place_of(double value) const {
    const auto bits = std::bit_cast<std::int64_t>(value);
    const std::int64_t place = (bits >> (kMantissaBits - kPartBits)) - (kExponentBias + lowest) * kParts;
    return std::clamp<std::int64_t>(place, 0, places() - 1);
  }
};

/// From a step that reads weights for a fraction of a token to prompts of a million tokens.
constexpr LogAxis kIntensity{-4, 24};
/// FLOPs per picosecond, of steps in which a GPU does 10^6 FLOPs a second up to 10^17.
constexpr LogAxis kPerformance{-20, 37};

}  // namespace

RooflineCells::RooflineCells()
    : number_of_(static_cast<std::size_t>(kIntensity.places() * kPerformance.places())) {
}

std::size_t RooflineCells::place_of(const StepWork& work, Duration time) {
  const auto flops = static_cast<double>(work.flops);
  const std::int64_t row = kIntensity.place_of(flops / static_cast<double>(work.hbm_bytes));
  const std::int64_t column = kPerformance.place_of(flops / static_cast<double>(time.count()));
  return static_cast<std::size_t>(row * kPerformance.places() + column);
}

std::vector<RooflineCell> RooflineCells::filled() const {
  std::vector<RooflineCell> filled;
  for (const std::uint16_t number : number_of_) {
    if (number != 0) {
      filled.push_back(cells_[number - std::size_t{1}]);
    }
  }
  return filled;
}

RooflineRecorder::RooflineRecorder(const std::vector<RecordedPool>& pools) {
  INFEROMETER_CHECK(!pools.empty(), "there is a pool to record");
  for (const RecordedPool& pool : pools) {
    INFEROMETER_CHECK(pool.work.has_value(), "the work of a step is known");
    pool_of_replica_.insert(pool_of_replica_.end(), static_cast<std::size_t>(pool.replicas),
                            static_cast<std::int32_t>(pools_.size()));
    pools_.push_back({*pool.work, {}});
  }
}

void RooflineRecorder::on_steps(const StepRecord& steps) {
  const auto place = static_cast<std::size_t>(pool_of_replica_[static_cast<std::size_t>(steps.replica)]);
  Pool& pool = pools_[place];
  RooflineCells& cells = pool.phases[static_cast<std::size_t>(phase_of(steps))];
  if (steps.shape.chunks.empty()) {
    add_decodes(steps, pool.work, cells);
  } else {
    add_one_by_one(steps, pool.work, cells);
  }
}

// Work and time of step j are straight lines, so that neither intensity nor performance turns around: steps
// of one cell follow each other. Quotients of integers below 2^53 (4 * 10^15 FLOPs, more than a step of
// decodes has) are rounded without changing their order, so this holds for places to the last step.
void RooflineRecorder::add_decodes(const StepRecord& steps, const WorkTotals& model, RooflineCells& cells) {
  const Stretch& stretch = steps.stretch;
  const auto work_at = [&](std::int64_t step) {
    StepShape shape = steps.shape;
    shape.add_context(steps.context_growth * step);
    return model.of_step(shape);
  };
  const auto place_at = [&](std::int64_t step) {
    return RooflineCells::place_of(work_at(step), stretch.time_at(step));
  };
  const std::int64_t count = stretch.steps();
  for (std::int64_t from = 0; from < count;) {
    const StepWork first = work_at(from);
    const std::size_t place = RooflineCells::place_of(first, stretch.time_at(from));
    std::int64_t last = from;  // in the same cell
    for (std::int64_t beyond = count; last + 1 < beyond;) {
      const std::int64_t next = beyond == count ? count - 1 : last + (beyond - last) / 2;
      if (place_at(next) == place) {
        last = next;
      } else {
        beyond = next;
      }
    }
    const std::int64_t end = last + 1;
    const std::int64_t length = end - from;
    RooflineCell& cell = cells.at(place);
    cell.steps += length;
    cell.time += (stretch.time_of(end) - stretch.time_of(from)).count();
    cell.flops += first.flops * length;
    cell.hbm_bytes += first.hbm_bytes * length;
    if (length > 1) {
      const StepWork second = work_at(from + 1);
      cell.flops += (second.flops - first.flops) * triangular(length);
      cell.hbm_bytes += (second.hbm_bytes - first.hbm_bytes) * triangular(length);
    }
    from = end;
  }
}

void RooflineRecorder::add_one_by_one(const StepRecord& steps, const WorkTotals& model,
                                      RooflineCells& cells) {
  StepShape shape = steps.shape;
  if (steps.stretch.steps() > 1) {
    chunks_.assign(shape.chunks.begin(), shape.chunks.end());
    shape.chunks = chunks_;
  }
  for (std::int64_t step = 0; step < steps.stretch.steps(); ++step) {
    const StepWork work = model.of_step(shape);
    const Duration time = steps.stretch.time_at(step);
    RooflineCell& cell = cells.at(RooflineCells::place_of(work, time));
    ++cell.steps;
    cell.time += time.count();
    cell.flops += work.flops;
    cell.hbm_bytes += work.hbm_bytes;
    if (step + 1 < steps.stretch.steps()) {
      shape.add_context(steps.context_growth);
      for (ChunkShape& chunk : chunks_) {
        chunk.past += chunk.tokens;
      }
    }
  }
}

}  // namespace inferometer
