#include "sim/metrics/activity_recorder.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/int128.hpp"
#include "base/triangular.hpp"

namespace inferometer {
namespace {

/// Time on the GPU.
Duration busy(const StepCost& cost) {
  return cost.total() - cost.host - cost.bubble;
}

/// The part of a whole up to a share of the time, rounded down: differences of these add up to the whole.
std::int64_t part_until(std::int64_t whole, Duration elapsed, Duration time) {
  return static_cast<std::int64_t>(Int128{whole} * elapsed.count() / time.count());
}

}  // namespace

ActivityRecorder::ActivityRecorder(std::int64_t replicas, const WorkTotals& work, Duration period)
    : ActivityRecorder(std::vector<WorkTotals>(static_cast<std::size_t>(replicas), work), period) {
}

ActivityRecorder::ActivityRecorder(std::vector<WorkTotals> work_of_replica, Duration period)
    : no_work_(std::move(work_of_replica)), period_(period), replicas_(no_work_.size()) {
  INFEROMETER_CHECK(!no_work_.empty() && period > Duration(), "there is a replica and a period");
}

void ActivityRecorder::on_steps(const StepRecord& steps) {
  const Stretch& stretch = steps.stretch;
  for (std::int64_t done = 0; done < stretch.steps();) {
    const std::int64_t period = period_of(stretch.start() + stretch.time_of(done));
    // Those that end with the period are wholly within.
    const std::int64_t within = stretch.ended_before(end_of(period) + picoseconds(1));
    if (within > done) {
      add(steps.replica, period, sum(steps, done, within));
      done = within;
    } else {
      split(steps, done);
      ++done;
    }
  }
}

ActivityPeriod ActivityRecorder::sum(const StepRecord& steps, std::int64_t first, std::int64_t end) {
  const Stretch& stretch = steps.stretch;
  StepShape shape = steps.shape;
  shape.add_context(steps.context_growth * first);
  chunks_.assign(shape.chunks.begin(), shape.chunks.end());
  for (ChunkShape& chunk : chunks_) {
    chunk.past += chunk.tokens * first;
  }
  shape.chunks = chunks_;
  WorkTotals work = no_work_[static_cast<std::size_t>(steps.replica)];
  work.add(shape, end - first, steps.context_growth);
  return {busy(stretch.first_cost()) * (end - first) +
              busy(stretch.growth()) * (triangular(end) - triangular(first)),
          work.hbm_bytes()};
}

void ActivityRecorder::split(const StepRecord& steps, std::int64_t step) {
  const ActivityPeriod whole = sum(steps, step, step + 1);
  const Duration time = steps.stretch.time_at(step);
  const TimePoint end = steps.stretch.end_of(step);
  const TimePoint start = end - time;
  ActivityPeriod given;
  for (std::int64_t period = period_of(start); end_of(period) - period_ < end; ++period) {
    const Duration elapsed = std::min(end_of(period), end) - start;
    const ActivityPeriod so_far{Duration(part_until(whole.busy.count(), elapsed, time)),
                                Bytes(part_until(whole.hbm_bytes.count(), elapsed, time))};
    add(steps.replica, period, {so_far.busy - given.busy, so_far.hbm_bytes - given.hbm_bytes});
    given = so_far;
  }
}

void ActivityRecorder::add(std::int32_t replica, std::int64_t period, const ActivityPeriod& part) {
  std::vector<ActivityPeriod>& periods = replicas_[static_cast<std::size_t>(replica)];
  const auto place = static_cast<std::size_t>(period);
  if (periods.size() <= place) {
    periods.resize(place + 1);
  }
  periods[place].busy += part.busy;
  periods[place].hbm_bytes += part.hbm_bytes;
}

}  // namespace inferometer
