#include "sim/metrics/timeline_recorder.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "sim/metrics/held_blocks.hpp"

namespace inferometer {
namespace {

void join(PoolBin& bin, const PoolBin& next) {
  bin.in_steps += next.in_steps;
  bin.held_blocks += next.held_blocks;
  bin.running += next.running;
  bin.decoding += next.decoding;
  bin.most_held = std::max(bin.most_held, next.most_held);
  bin.most_running = std::max(bin.most_running, next.most_running);
  bin.most_decoding = std::max(bin.most_decoding, next.most_decoding);
}

/// Puts neighbours together by twos; an odd one at the end stays.
template <class Bin, class Join>
void halve(std::vector<Bin>& bins, Join join_two) {
  for (std::size_t i = 0; 2 * i < bins.size(); ++i) {
    bins[i] = bins[2 * i];
    if (2 * i + 1 < bins.size()) {
      join_two(bins[i], bins[2 * i + 1]);
    } else {
      join_two(bins[i], Bin{});
    }
  }
  bins.resize((bins.size() + 1) / 2);
}

/// What goes on all through a part of a record's steps.
void add_levels(const StepRecord& steps, Duration time, PoolBin& bin) {
  bin.in_steps += time.count();
  bin.running += Int128{steps.running} * time.count();
  bin.decoding += Int128{steps.decodes} * time.count();
  bin.most_running = std::max(bin.most_running, steps.running);
  bin.most_decoding = std::max(bin.most_decoding, steps.decodes);
}

/// Blocks held from the record's start up to a moment of it, times picoseconds, and just before it.
struct HeldUntil {
  Int128 integral = 0;
  std::int64_t blocks = 0;
};

HeldUntil held_until(const StepRecord& steps, TimePoint time) {
  const Stretch& stretch = steps.stretch;
  const std::int64_t ended = stretch.ended_by(time);
  const Int128 integral = held_integral(steps, ended);
  const Duration begun = time - (stretch.start() + stretch.time_of(ended));
  if (begun == Duration()) {
    return {integral, steps.held_during(ended - 1)};
  }
  const std::int64_t held = steps.held_during(ended);
  return {integral + Int128{held} * begun.count(), held};
}

}  // namespace

Duration Timeline::length_of(std::size_t bin) const {
  return std::min(width, end - start_of(bin));
}

Int128 Timeline::waiting(std::size_t bin) const {
  Int128 waiting = requests[bin].in_system;
  for (const PoolTimeline& pool : pools) {
    waiting -= pool.bins[bin].running;
  }
  return waiting;
}

TimelineRecorder::TimelineRecorder(const std::vector<RecordedPool>& pools, const TimelineOptions& options)
    : most_bins_(options.most_bins), width_(options.width) {
  INFEROMETER_CHECK(!pools.empty() && most_bins_ >= 2 && most_bins_ % 2 == 0 && width_ > Duration(),
                    "there is a pool, and bins that can be put together");
  for (const RecordedPool& pool : pools) {
    pool_of_replica_.insert(pool_of_replica_.end(), static_cast<std::size_t>(pool.replicas),
                            static_cast<std::int32_t>(pools_.size()));
    pools_.push_back({pool.name, pool.replicas, pool.lanes, {}});
  }
}

void TimelineRecorder::on_arrival(const Request& request, std::int64_t waiting) {
  Traffic& traffic = count(request.arrival, 1);
  traffic.most_waiting = std::max(traffic.most_waiting, waiting);
}

void TimelineRecorder::on_rejected(const RejectedRequest& request) {
  count(request.rejected, -1);
}

void TimelineRecorder::on_finished(const FinishedRequest& request) {
  count(request.finished, -1);
}

void TimelineRecorder::on_steps(const StepRecord& steps) {
  const Stretch& stretch = steps.stretch;
  const Duration time = stretch.time();
  const TimePoint end = stretch.start() + time;
  // The last picosecond of the steps: a bin that ends with them holds them.
  const std::size_t last = place_of(end - picoseconds(1));
  last_event_ = std::max(last_event_, end);
  const auto pool = static_cast<std::size_t>(pool_of_replica_[static_cast<std::size_t>(steps.replica)]);
  std::vector<PoolBin>& bins = pools_[pool].bins;
  if (stretch.start() < recent_start_) {
    spread(steps, bins);
    return;
  }
  PoolBin& bin = bins[last];
  add_levels(steps, time, bin);
  bin.held_blocks += held_integral(steps, stretch.steps());
  bin.most_held = std::max(bin.most_held, steps.held_during(stretch.steps() - 1));
}

// Called once the last bin is there.
void TimelineRecorder::spread(const StepRecord& steps, std::vector<PoolBin>& bins) {
  const TimePoint end = steps.stretch.end();
  TimePoint from = steps.stretch.start();
  Int128 held_before = 0;
  for (auto place = static_cast<std::size_t>(from.since_start().count() / width_.count()); from < end;
       ++place) {
    const TimePoint to = std::min(end_of(place), end);
    const HeldUntil held = held_until(steps, to);
    PoolBin& bin = bins[place];
    add_levels(steps, to - from, bin);
    bin.held_blocks += held.integral - held_before;
    bin.most_held = std::max(bin.most_held, held.blocks);
    held_before = held.integral;
    from = to;
  }
}

TimelineRecorder::Traffic& TimelineRecorder::count(TimePoint time, std::int64_t change) {
  last_event_ = std::max(last_event_, time);
  const std::size_t place = place_of(time);
  Traffic& traffic = traffic_[place];
  traffic.until_end += Int128{change} * (recent_end_ - time).count();
  traffic.change += change;
  return traffic;
}

std::size_t TimelineRecorder::place_of(TimePoint time) {
  if (time >= recent_start_ && time < recent_end_) {
    return recent_;
  }
  const auto needed = [&] { return static_cast<std::size_t>(time.since_start().count() / width_.count()); };
  while (needed() >= most_bins_) {
    widen();
  }
  recent_ = needed();
  recent_end_ = end_of(recent_);
  recent_start_ = recent_end_ - width_;
  make_room(recent_ + 1);
  return recent_;
}

void TimelineRecorder::make_room(std::size_t bins) {
  if (traffic_.size() < bins) {
    traffic_.resize(bins);
    for (Pool& pool : pools_) {
      pool.bins.resize(bins);
    }
  }
}

void TimelineRecorder::widen() {
  for (Pool& pool : pools_) {
    halve(pool.bins, join);
  }
  // Who came in the first of two bins is there all through the second.
  halve(traffic_, [this](Traffic& traffic, const Traffic& next) {
    traffic.until_end += next.until_end + Int128{traffic.change} * width_.count();
    traffic.change += next.change;
    traffic.most_waiting = std::max(traffic.most_waiting, next.most_waiting);
  });
  width_ = width_ * 2;
}

Timeline TimelineRecorder::timeline() const {
  Timeline timeline{width_, last_event_, {}, {}};
  const auto bins = static_cast<std::size_t>(ceil_div(last_event_.since_start().count(), width_.count()));
  std::int64_t in_system = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    const Traffic traffic = i < traffic_.size() ? traffic_[i] : Traffic{};
    Int128 integral = traffic.until_end + Int128{in_system} * width_.count();
    in_system += traffic.change;
    integral -= Int128{in_system} * (width_ - timeline.length_of(i)).count();
    timeline.requests.push_back({integral, traffic.most_waiting});
  }
  for (const Pool& pool : pools_) {
    timeline.pools.push_back({pool.name, pool.replicas, pool.lanes, pool.bins});
    timeline.pools.back().bins.resize(bins);
  }
  return timeline;
}

}  // namespace inferometer
