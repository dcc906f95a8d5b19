#include "sim/metrics/recorder.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {
namespace {

StepPhase phase_of(const StepRecord& step) {
  if (step.prefill_tokens == 0) {
    return StepPhase::decode;
  }
  return step.decodes == 0 ? StepPhase::prefill : StepPhase::mixed;
}

}  // namespace

MetricsRecorder::MetricsRecorder(std::int64_t replicas, const std::optional<WorkTotals>& work)
    : waiting_(static_cast<std::size_t>(replicas)) {
  INFEROMETER_CHECK(replicas >= 1, "there is a replica to record");
  for (PhaseTotals& phase : totals_.phases) {
    phase.work = work;
  }
}

void MetricsRecorder::on_arrival(const Request& request) {
  ArrivalTotals& arrivals = totals_.arrivals;
  if (arrivals.count == 0) {
    arrivals.first = request.arrival;
  } else {
    const Int128 gap = (request.arrival - arrivals.last).count();
    arrivals.squared_gaps += gap * gap;
  }
  ++arrivals.count;
  arrivals.last = request.arrival;
  arrivals.in_system.add(totals_.in_system);
  arrivals.waiting_at_last = all_waiting_;
  ++totals_.in_system;
  totals_.max_in_system = std::max(totals_.max_in_system, totals_.in_system);
  totals_.stays -= request.arrival.since_start().count();
  totals_.last_event = request.arrival;
}

void MetricsRecorder::on_rejected(const RejectedRequest& request) {
  leave(request.rejected);
  totals_.last_event = request.rejected;
  auto reason = std::find(reasons_.begin(), reasons_.end(), request.reason);
  if (reason == reasons_.end()) {
    reason = reasons_.emplace(reasons_.end(), request.reason);
  }
  rejected_.push_back(
      {request.id, request.arrival, request.prompt, static_cast<std::int32_t>(reason - reasons_.begin())});
}

void MetricsRecorder::on_step(const StepRecord& step) {
  const Duration time = step.end - step.start;
  PhaseTotals& phase = totals_.phases[static_cast<std::size_t>(phase_of(step))];
  ++phase.steps;
  phase.cost = phase.cost + step.cost;
  phase.prefill_tokens += step.prefill_tokens;
  phase.decode_tokens += step.decodes;
  if (phase.work) {
    phase.work->add(step.shape);
  }
  totals_.held_blocks.add(step.held_blocks.count(), time);
  totals_.decodes.add(step.decodes, time);
  totals_.running.add(step.running, time);
  totals_.max_waiting = std::max({totals_.max_waiting, step.kept_waiting, step.waiting});
  totals_.preemptions += step.preempted;
  totals_.last_event = step.end;
  count_emitted(step.end, step.emitted);
  add_gaps(step.gaps);
  set_waiting(step.replica, step.waiting);
}

void MetricsRecorder::on_finished(const FinishedRequest& request) {
  leave(request.finished);
  finished_.push_back({request.id, request.session, request.arrival, request.admitted, request.first_token,
                       request.finished, static_cast<std::int32_t>(request.prompt),
                       static_cast<std::int32_t>(request.output), request.preemptions,
                       static_cast<std::int32_t>(request.max_new)});
}

void MetricsRecorder::leave(TimePoint time) {
  --totals_.in_system;
  totals_.stays += time.since_start().count();
}

void MetricsRecorder::count_emitted(TimePoint end, std::int64_t emitted) {
  constexpr Duration kSecond = seconds(1);
  totals_.emitted += emitted;
  if (end >= second_end_) {
    const std::int64_t whole = end.since_start().count() / kSecond.count();
    second_end_ = TimePoint(kSecond * (whole + 1));
    second_emitted_ = 0;
  }
  second_emitted_ += emitted;
  totals_.max_emitted_per_second = std::max(totals_.max_emitted_per_second, second_emitted_);
}

// Sequences that joined at the last step's end come as a group of their own with the same gap: together they
// continue the progression of the steps before.
void MetricsRecorder::add_gaps(std::span<const TokenGap> gaps) {
  for (std::size_t i = 0; i < gaps.size();) {
    const Duration gap = gaps[i].gap;
    std::int64_t count = 0;
    for (; i < gaps.size() && gaps[i].gap == gap; ++i) {
      count += gaps[i].count;
    }
    gaps_.add(gap, count);
  }
}

void MetricsRecorder::set_waiting(std::int32_t replica, std::int64_t waiting) {
  std::int64_t& before = waiting_[static_cast<std::size_t>(replica)];
  all_waiting_ += waiting - before;
  before = waiting;
}

}  // namespace inferometer
