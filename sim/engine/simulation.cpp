#include "sim/engine/simulation.hpp"

#include <utility>

#include "base/check.hpp"

namespace inferometer {

Simulation::Simulation(std::unique_ptr<Workload> workload, std::vector<Replica> replicas,
                       SimulationObserver& observer)
    : workload_(std::move(workload)),
      replicas_(std::move(replicas)),
      observer_(observer),
      pending_schedules_(replicas_.size()) {
  INFEROMETER_CHECK(!replicas_.empty(), "a simulation has a replica");
  post_next_arrival();
}

bool Simulation::run(std::int64_t max_events) {
  for (std::int64_t handled = 0; handled < max_events && !queue_.empty(); ++handled) {
    const Event event = queue_.pop();
    INFEROMETER_CHECK(event.time() >= now_, "the clock never goes back");
    now_ = event.time();
    ++events_;
    dispatch(event);
  }
  return !queue_.empty();
}

void Simulation::cut_off() {
  for (Replica& replica : replicas_) {
    replica.cut_off(now_);
  }
}

void Simulation::dispatch(Event event) {
  switch (event.kind()) {
    case EventKind::step_end:
      // The end that a stretch had before an arrival cut it short means nothing any more.
      if (replicas_[event.target()].running_until() == now_) {
        end_steps(event.target());
        schedule_next(event.target());
      }
      break;
    case EventKind::arrival:
      if (pending_arrival_ == now_) {
        pending_arrival_.reset();
      }
      receive_arrivals();
      break;
    case EventKind::schedule:
      if (pending_schedules_[event.target()] == now_) {
        pending_schedules_[event.target()].reset();
      }
      schedule(event.target());
      break;
  }
}

void Simulation::receive_arrivals() {
  constexpr std::uint32_t kTarget = 0;  // one replica: there is nothing to route
  for (auto next = workload_->next_arrival(); next && *next <= now_; next = workload_->next_arrival()) {
    workload_->take(request_);
    INFEROMETER_CHECK(request_.arrival == now_, "a request arrives when the workload said it would");
    ++injected_;
    interrupt(kTarget);
    observer_.on_arrival(request_, waiting_);
    if (replicas_[kTarget].enqueue(request_)) {
      ++waiting_;
    } else {
      workload_->finished(request_.id, now_);
    }
  }
  post_next_arrival();
  schedule_next(kTarget);
}

void Simulation::end_steps(std::uint32_t target) {
  replicas_[target].end_steps();
  report_departures(target);
}

// Steps that end now end before a request that comes now.
void Simulation::interrupt(std::uint32_t target) {
  const std::optional<TimePoint> end = replicas_[target].interrupt(now_);
  if (!end) {
    return;
  }
  if (*end == now_) {
    end_steps(target);
  } else {
    queue_.push(Event::at(*end, EventKind::step_end, target));
  }
}

void Simulation::schedule(std::uint32_t target) {
  Replica& replica = replicas_[target];
  if (replica.is_running()) {
    return;
  }
  const auto waiting_before = static_cast<std::int64_t>(replica.state().waiting().size());
  const Replica::Start start = replica.start_steps(now_);
  waiting_ += static_cast<std::int64_t>(replica.state().waiting().size()) - waiting_before;
  report_departures(target);
  if (start.end) {
    queue_.push(Event::at(*start.end, EventKind::step_end, target));
  } else if (start.wake_at) {
    INFEROMETER_CHECK(*start.wake_at > now_, "a policy asks to be woken later, not now");
    request_schedule(target, *start.wake_at);
  }
}

// What would be the next event is done at once.
void Simulation::schedule_next(std::uint32_t target) {
  if (replicas_[target].is_running()) {
    return;  // it decides when its step ends
  }
  if (queue_.empty() || queue_.top().time() > now_) {
    schedule(target);
  } else {
    request_schedule(target, now_);
  }
}

void Simulation::request_schedule(std::uint32_t target, TimePoint time) {
  std::optional<TimePoint>& pending = pending_schedules_[target];
  if (pending && *pending <= time) {
    return;
  }
  pending = time;
  queue_.push(Event::at(time, EventKind::schedule, target));
}

void Simulation::report_departures(std::uint32_t target) {
  const auto departed = replicas_[target].departed();
  if (departed.empty()) {
    return;
  }
  for (const std::int64_t id : departed) {
    workload_->finished(id, now_);
  }
  post_next_arrival();
}

void Simulation::post_next_arrival() {
  const std::optional<TimePoint> next = workload_->next_arrival();
  if (!next || (pending_arrival_ && *pending_arrival_ <= *next)) {
    return;
  }
  INFEROMETER_CHECK(*next >= now_, "a request never arrives in the past");
  pending_arrival_ = next;
  queue_.push(Event::at(*next, EventKind::arrival, 0));
}

StepCounts Simulation::step_counts() const {
  StepCounts counts;
  for (const Replica& replica : replicas_) {
    counts = counts + replica.step_counts();
  }
  return counts;
}

Census Simulation::census() const {
  Census census;
  census.injected = injected_;
  for (const Replica& replica : replicas_) {
    census.completed += replica.completed();
    census.rejected += replica.rejected();
    census.running += replica.state().running_count();
    census.waiting += static_cast<std::int64_t>(replica.state().waiting().size());
  }
  return census;
}

}  // namespace inferometer
