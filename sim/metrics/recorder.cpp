#include "sim/metrics/recorder.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace inferometer {
namespace {

std::vector<std::int32_t> numbered_through(const std::vector<RecordedPool>& pools) {
  std::vector<std::int32_t> pool_of_replica;
  for (std::size_t pool = 0; pool < pools.size(); ++pool) {
    pool_of_replica.insert(pool_of_replica.end(), static_cast<std::size_t>(pools[pool].replicas),
                           static_cast<std::int32_t>(pool));
  }
  return pool_of_replica;
}

bool are_one_by_one(const std::vector<RecordedPool>& pools) {
  return pools.size() == 1 && pools.front().all_lanes() == 1;
}

}  // namespace

bool meets(const RequestRecord& request, const RequestLimits& limits) {
  const Int128 gaps = request.output - 1;
  return (!limits.ttft || request.time_to_first_token() <= *limits.ttft) &&
         (!limits.tpot || request.generation().count() <= gaps * limits.tpot->count()) &&
         (!limits.e2el || request.latency() <= *limits.e2el);
}

MetricsRecorder::MetricsRecorder(std::int64_t replicas, const std::optional<WorkTotals>& work,
                                 const RecorderOptions& options)
    : MetricsRecorder({RecordedPool{.replicas = replicas, .work = work}}, {}, options) {
}

MetricsRecorder::MetricsRecorder(std::vector<RecordedPool> pools, std::vector<std::int32_t> pool_of_replica,
                                 const RecorderOptions& options)
    : pools_(std::move(pools)),
      pool_of_replica_(std::move(pool_of_replica)),
      one_by_one_(are_one_by_one(pools_)),
      options_(options),
      latencies_(options.percentiles),
      gaps_(options.percentiles),
      busiest_second_(one_by_one_) {
  if (pool_of_replica_.empty()) {
    pool_of_replica_ = numbered_through(pools_);
  }
  std::int64_t replicas = 0;
  for (const RecordedPool& pool : pools_) {
    INFEROMETER_CHECK(pool.replicas >= 1 && pool.lanes >= 1, "there is a replica to record");
    replicas += pool.replicas;
    PoolTotals totals;
    for (PhaseTotals& phase : totals.phases) {
      phase.work = pool.work;
    }
    totals_.pools.push_back(totals);
  }
  INFEROMETER_CHECK(replicas > 0 && this->replicas() == replicas, "each replica is in a pool");
}

void MetricsRecorder::on_arrival(const Request& request, std::int64_t waiting) {
  ArrivalTotals& arrivals = totals_.arrivals;
  const TimePoint sent = request.arrival - options_.frontend;
  if (arrivals.count == 0) {
    arrivals.first = sent;
  } else {
    const Int128 gap = (sent - arrivals.last).count();
    arrivals.squared_gaps += gap * gap;
  }
  ++arrivals.count;
  arrivals.last = sent;
  arrivals.in_system.add(totals_.in_system);
  arrivals.waiting_at_last = waiting;
  arrivals.with_content += request.content.empty() ? 0 : 1;
  ++totals_.in_system;
  totals_.max_in_system = std::max(totals_.max_in_system, totals_.in_system);
  totals_.stays -= sent.since_start().count();
  totals_.last_event = std::max(totals_.last_event, request.arrival);
}

void MetricsRecorder::on_rejected(const RejectedRequest& request) {
  leave(request.rejected);
  std::vector<RejectionCount>& counts = request.is_lost ? totals_.losses : totals_.rejections;
  auto count = std::find_if(counts.begin(), counts.end(),
                            [&](const RejectionCount& other) { return other.reason == request.reason; });
  if (count == counts.end()) {
    count = counts.insert(count, {std::string(request.reason), 0});
  }
  ++count->requests;
  if (options_.keep_records) {
    rejected_.push_back({request.id, request.arrival - options_.frontend, request.prompt});
  }
}

void MetricsRecorder::on_steps(const StepRecord& steps) {
  if (one_by_one_) {
    add_steps(steps, totals_.pools.front());
    return;
  }
  PoolTotals& pool = totals_.pools[place_of_pool(steps.replica)];
  pool.phases[static_cast<std::size_t>(phase_of(steps))].cost.make_room(steps.stretch.time());
  add_steps(steps, pool);
}

void MetricsRecorder::add_steps(const StepRecord& steps, PoolTotals& pool) {
  const Stretch& stretch = steps.stretch;
  const std::int64_t count = stretch.steps();
  const bool is_single = count == 1;  // every other record, and it needs no multiplications
  const Duration time = is_single ? stretch.time_at(0) : stretch.time();
  const TimePoint end = stretch.start() + time;
  PhaseTotals& phase = pool.phases[static_cast<std::size_t>(phase_of(steps))];
  phase.steps += count;
  phase.cost.add(is_single ? stretch.first_cost() : stretch.cost());
  phase.prefill_tokens += steps.prefill_tokens * count;
  phase.decode_tokens += steps.decodes * count + steps.drafted.emitted_tokens;
  if (phase.work) {
    phase.work->add(steps.shape, count, steps.context_growth);
  }
  pool.held_blocks.add_held(steps, time);
  pool.decodes.add(steps.decodes, time);
  pool.running.add(steps.running, time);
  pool.max_waiting = std::max({pool.max_waiting, steps.kept_waiting, steps.waiting});
  pool.preemptions += steps.preempted;
  if (steps.drafted.drafts > 0) {
    pool.drafted.add(steps.drafted);
  }
  totals_.last_event = std::max(totals_.last_event, end);
  busiest_second_.add(steps, end);
  add_gaps(steps);
}

void MetricsRecorder::on_finished(const FinishedRequest& request) {
  leave(request.finished);
  const RequestRecord record{request.id,
                             request.session,
                             request.arrival - options_.frontend,
                             request.admitted,
                             request.first_token,
                             request.finished,
                             static_cast<std::int32_t>(request.prompt),
                             static_cast<std::int32_t>(request.output),
                             request.preemptions,
                             static_cast<std::int32_t>(request.max_new),
                             request.replica,
                             request.prefill_replica,
                             request.retries,
                             static_cast<std::int32_t>(request.cached.total()),
                             request.handover};
  FinishTotals& finished = totals_.finished;
  ++finished.count;
  finished.prompt_tokens += record.prompt;
  finished.output_tokens += record.output;
  finished.good += meets(record, options_.limits) ? 1 : 0;
  finished.last = std::max(finished.last, record.finished);
  finished.lengths.add({record.prompt, record.output, record.max_new});
  add_prefixes(request, record.time_to_first_token());
  latencies_.ttft.add_single(record.time_to_first_token());
  latencies_.e2el.add_single(record.latency());
  latencies_.queue_delay.add_single(record.queue_delay());
  if (record.output > 1) {
    latencies_.tpot.add_single(record.time_per_output_token());
  }
  if (record.was_handed_over()) {
    latencies_.handover.add_single(record.handover);
  }
  fairness_.add(request.priority, record.time_to_first_token(), record.latency(), record.output);
  if (options_.keep_records) {
    finished_.push_back(record);
  }
}

void MetricsRecorder::add_prefixes(const FinishedRequest& request, Duration ttft) {
  PrefixTotals& prefixes = totals_.finished.prefixes;
  const bool is_hit = request.cached.total() > 0;
  (is_hit ? prefixes.ttft_of_hits : prefixes.ttft_of_misses) += ttft.count();
  if (is_hit) {
    ++prefixes.hits;
    prefixes.cached = prefixes.cached + request.cached;
  }
  if (request.preemptions > 0) {
    prefixes.recached = prefixes.recached + request.recached;
  }
}

const ChunkedColumn<RequestRecord>& MetricsRecorder::finished() const {
  INFEROMETER_CHECK(options_.keep_records, "records of requests were kept");
  return finished_;
}

const ChunkedColumn<RejectedRecord>& MetricsRecorder::rejected() const {
  INFEROMETER_CHECK(options_.keep_records, "records of requests were kept");
  return rejected_;
}

// Sequences that joined at the last step's end come as a group of their own with the same gap: together they
// continue the progression of the steps before.
void MetricsRecorder::add_gaps(const StepRecord& steps) {
  for (std::size_t i = 0; i < steps.gaps.size();) {
    const Duration gap = steps.gaps[i].gap;
    std::int64_t count = 0;
    for (; i < steps.gaps.size() && steps.gaps[i].gap == gap; ++i) {
      count += steps.gaps[i].count;
    }
    gaps_.add(gap, count);
  }
  const Stretch& stretch = steps.stretch;
  if (stretch.steps() > 1 && steps.decodes > 0) {
    gaps_.add_progression(stretch.time_at(1), stretch.growth().total(), stretch.steps() - 1, steps.decodes);
  }
}

}  // namespace inferometer
