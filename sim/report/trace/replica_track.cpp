#include "sim/report/trace/replica_track.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace inferometer {
namespace {

std::string name_of(const StepRecord& step) {
  if (step.prefill_tokens == 0) {
    return fmt::format("decode {}", step.decodes);
  }
  return step.decodes == 0 ? fmt::format("prefill {}", step.prefill_tokens)
                           : fmt::format("mixed {}+{}", step.prefill_tokens, step.decodes);
}

/// Adds to what is there of the same name: stages of a pipeline run the same operators.
void add(std::vector<OperatorTime>& times, const OperatorTime& one) {
  const auto same = std::find_if(times.begin(), times.end(),
                                 [&](const OperatorTime& other) { return other.name == one.name; });
  if (same == times.end()) {
    times.push_back(one);
  } else {
    same->time += one.time;
  }
}

}  // namespace

ReplicaTrack::ReplicaTrack(std::int64_t number, TraceReplica replica, const TraceWindow& window,
                           const TraceSink& sink)
    : number_(number),
      replica_(std::move(replica)),
      window_(window),
      sink_(sink),
      waiting_("waiting", replica_thread(number, 0), window),
      blocks_("KV blocks", replica_thread(number, 0), window) {
  const TraceThread process = replica_thread(number, 0);
  sink_.write(name_event("process_name", process, replica_.name + " (" + replica_.detail + ")"));
  sink_.write(order_event(process));
  for (std::int64_t lane = 0; lane < replica_.lanes; ++lane) {
    const bool is_only = replica_.lanes == 1;
    const TraceThread thread = replica_thread(number, lane);
    sink_.write(name_event("thread_name", thread, is_only ? "steps" : fmt::format("micro-batch {}", lane)));
    running_.emplace_back(is_only ? "running" : fmt::format("running, micro-batch {}", lane), process,
                          window);
  }
}

void ReplicaTrack::ran(const StepRecord& steps) {
  if (window_.is_past(steps.stretch.start())) {
    return;
  }
  visit_steps(steps, [this](const StepRecord& step) {
    count(step);
    if (window_.touches(step.stretch.start(), step.stretch.end())) {
      show(step);
    }
  });
}

void ReplicaTrack::count(const StepRecord& step) {
  const TimePoint start = step.stretch.start();
  running_[static_cast<std::size_t>(step.lane)].set(start, step.running, sink_);
  blocks_.set(start, step.held_blocks.count(), sink_);
  std::int64_t waiting = step.queued;
  waiting_.set(start, waiting, sink_);
  for (const QueueJoin& join : step.joined) {
    waiting_.set(join.time, ++waiting, sink_);
  }
}

void ReplicaTrack::idle(const IdleRecord& idle) {
  running_[static_cast<std::size_t>(idle.lane)].set(idle.time, idle.running, sink_);
  waiting_.set(idle.time, idle.waiting, sink_);
  blocks_.set(idle.time, idle.held_blocks.count(), sink_);
}

void ReplicaTrack::show(const StepRecord& step) {
  const TraceThread thread = replica_thread(number_, step.lane);
  const TimePoint start = step.stretch.start();
  const auto mark = [&](std::int64_t sequences, const char* what) {
    if (sequences > 0) {
      sink_.write(TraceEvent('i', thread, fmt::format("{} {}", what, sequences))
                      .at(start)
                      .on_thread()
                      .in("step")
                      .text());
    }
  };
  mark(step.preempted - step.swapped_out, "preempted");
  mark(step.swapped_out, "swapped out");
  mark(step.swapped_in, "swapped in");
  TraceEvent event('X', thread, name_of(step));
  event.at(start).lasting(step.stretch.time()).in("step");
  event.argument("prefill_tokens", step.prefill_tokens)
      .argument("decodes", step.decodes)
      .argument("decode_context", step.shape.decode_context)
      .argument("running", step.running)
      .argument("waiting", step.queued)
      .argument("kv_blocks", step.held_blocks.count());
  if (step.shape.decode_window_context > 0) {
    event.argument("decode_window_context", step.shape.decode_window_context);
  }
  add_prices(step, event);
  sink_.write(event.text());
}

void ReplicaTrack::add_prices(const StepRecord& step, TraceEvent& event) const {
  const StepCost& cost = step.stretch.first_cost();
  event.begin_group("time_us")
      .argument("compute", cost.compute)
      .argument("bandwidth", cost.bandwidth)
      .argument("latency", cost.latency)
      .argument("communication", cost.communication)
      .argument("host", cost.host)
      .argument("bubble", cost.bubble)
      .end_group();
  std::vector<OperatorTime> times;
  for (const auto& stage : replica_.stages) {
    for (const OperatorTime& one : stage->operator_times(step.shape)) {
      add(times, one);
    }
  }
  Duration other = cost.total() - cost.host - cost.bubble;
  event.begin_group("operators_us");
  for (const OperatorTime& one : times) {
    event.argument(one.name, one.time);
    other -= one.time;
  }
  if (other != Duration()) {
    event.argument("other", other);
  }
  event.end_group();
}

void ReplicaTrack::finish(TimePoint end) {
  for (TraceCounter& running : running_) {
    running.finish(end, sink_);
  }
  waiting_.finish(end, sink_);
  blocks_.finish(end, sink_);
}

}  // namespace inferometer
