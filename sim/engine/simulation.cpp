#include "sim/engine/simulation.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace inferometer {

Simulation::Simulation(std::unique_ptr<Workload> workload, std::vector<Replica> replica,
                       SimulationObserver& observer)
    : Simulation(std::move(workload), std::move(replica), nullptr, observer) {
  INFEROMETER_CHECK(lanes_.size() == 1, "several replicas need a cluster that says who gets what");
}

Simulation::Simulation(std::unique_ptr<Workload> workload, std::vector<Replica> lanes,
                       std::shared_ptr<const ClusterSetup> cluster, SimulationObserver& observer)
    : workload_(std::move(workload)),
      lanes_(std::move(lanes)),
      observer_(observer),
      pending_schedules_(lanes_.size()),
      pending_load_ends_(lanes_.size()) {
  INFEROMETER_CHECK(!lanes_.empty(), "a simulation has a replica");
  if (cluster) {
    for (const PoolSetup& pool : cluster->pools) {
      for (std::int32_t replica = 0; replica < pool.replicas; ++replica) {
        const auto count = static_cast<std::uint32_t>(pool.pipeline);
        ranges_.push_back({static_cast<std::uint32_t>(replica_of_.size()), count});
        replica_of_.resize(replica_of_.size() + count, static_cast<std::uint32_t>(ranges_.size() - 1));
      }
    }
    INFEROMETER_CHECK(replica_of_.size() == lanes_.size(), "every micro-batch belongs to a replica");
    coordinator_.emplace(std::move(cluster), static_cast<EngineControl&>(*this));
  } else {
    ranges_.push_back({0, 1});
    replica_of_.push_back(0);
  }
  waiting_there_.resize(ranges_.size());
  if (coordinator_) {
    coordinator_->begin();
  }
  post_next_arrival();
}

bool Simulation::run(std::int64_t max_events) {
  for (std::int64_t handled = 0; handled < max_events && !queue_.empty(); ++handled) {
    const Event event = queue_.pop();
    INFEROMETER_CHECK(event.time() >= now_, "the clock never goes back");
    ++events_;
    if (!is_void(event)) {
      now_ = event.time();
      dispatch(event);
    }
  }
  INFEROMETER_CHECK(!queue_.empty() || in_system() == 0, "every request leaves in the end");
  return !queue_.empty();
}

void Simulation::cut_off() {
  for (Replica& lane : lanes_) {
    lane.cut_off(now_);
  }
}

// The end that a stretch or a transfer had before something cut it short means nothing any more, nor does the
// clock stop there. A run is over with its last request: what a cluster has on its schedule or on the way for
// later serves nobody, and nobody pays for it.
bool Simulation::is_void(Event event) const {
  const EventKind kind = event.kind();
  const bool is_late = (kind == EventKind::timer || kind == EventKind::transfer) && !is_busy();
  return is_late || (kind == EventKind::step_end && lanes_[event.target()].running_until() != event.time()) ||
         (kind == EventKind::load_end && lanes_[event.target()].next_load_end() != event.time()) ||
         (kind == EventKind::transfer && pending_transfer_ != event.time());
}

void Simulation::dispatch(Event event) {
  switch (event.kind()) {
    case EventKind::step_end:
      end_steps(event.target());
      schedule_next(event.target());
      break;
    case EventKind::load_end:
      end_loads(event.target());
      schedule_next(event.target());
      break;
    case EventKind::transfer:
      pending_transfer_.reset();
      coordinator_->transfers_ended();
      post_next_transfer();
      break;
    case EventKind::timer:
      coordinator_->timer(event.target());
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
  for (auto next = workload_->next_arrival(); next && *next <= now_; next = workload_->next_arrival()) {
    workload_->take(request_);
    INFEROMETER_CHECK(request_.arrival == now_, "a request arrives when the workload said it would");
    ++injected_;
    if (coordinator_) {
      observer_.on_arrival(request_, waiting_ + coordinator_->held() + coordinator_->in_transit());
      coordinator_->arrive(request_);
    } else {
      send_to_only_replica();
    }
  }
  post_next_arrival();
  if (!coordinator_) {
    schedule_next(0);
  }
}

void Simulation::send_to_only_replica() {
  interrupt_lane(0, false);
  observer_.on_arrival(request_, waiting_);
  if (lanes_.front().enqueue(request_)) {
    ++waiting_;
    ++waiting_there_.front();
  } else {
    ++left_;
    workload_->finished(request_.id, now_);
  }
}

void Simulation::end_steps(std::uint32_t lane) {
  lanes_[lane].end_steps();
  report_departures(lane);
  if (coordinator_) {
    coordinator_->steps_ended(static_cast<std::int32_t>(replica_of_[lane]), lanes_[lane]);
    wake_neighbours(lane);
  }
}

void Simulation::end_loads(std::uint32_t lane) {
  interrupt_lane(lane, true);
  lanes_[lane].end_loads(now_);
  if (coordinator_) {
    coordinator_->load_changed(static_cast<std::int32_t>(replica_of_[lane]));
  }
  post_next_load_end(lane);
}

// Loads of a replica follow each other: the next one to end is known, and only a failure takes it back.
void Simulation::post_next_load_end(std::uint32_t lane) {
  const std::optional<TimePoint> next = lanes_[lane].next_load_end();
  if (next && next != pending_load_ends_[lane]) {
    queue_.push(Event::at(*next, EventKind::load_end, lane));
  }
  pending_load_ends_[lane] = next;
}

// Steps that end now end before what comes now.
void Simulation::interrupt_lane(std::uint32_t lane, bool always) {
  const std::optional<TimePoint> end = lanes_[lane].interrupt(now_, always, has_decided(lane));
  if (!end) {
    return;
  }
  if (*end == now_) {
    end_steps(lane);
  } else {
    queue_.push(Event::at(*end, EventKind::step_end, lane));
  }
}

void Simulation::schedule(std::uint32_t lane) {
  Replica& replica = lanes_[lane];
  if (replica.is_running()) {
    return;
  }
  last_decided_ = decided_at_ == now_ ? std::max(last_decided_, lane) : lane;
  decided_at_ = now_;
  const Replica::Start start = replica.start_steps(now_);
  recount_waiting(lane);
  post_next_load_end(lane);
  report_departures(lane);
  if (start.end) {
    queue_.push(Event::at(*start.end, EventKind::step_end, lane));
  } else if (start.wake_at) {
    INFEROMETER_CHECK(*start.wake_at > now_, "a policy asks to be woken later, not now");
    request_schedule(lane, *start.wake_at);
  }
  if (coordinator_) {
    coordinator_->steps_begun(static_cast<std::int32_t>(replica_of_[lane]), replica);
  }
  if (replica.gave_back()) {
    wake_neighbours(lane);
  }
}

// What would be the next event is done at once.
void Simulation::schedule_next(std::uint32_t lane) {
  if (lanes_[lane].is_running()) {
    return;  // it decides when its step ends
  }
  if (queue_.empty() || queue_.top().time() > now_) {
    schedule(lane);
  } else {
    request_schedule(lane, now_);
  }
}

void Simulation::request_schedule(std::uint32_t lane, TimePoint time) {
  std::optional<TimePoint>& pending = pending_schedules_[lane];
  if (pending && *pending <= time) {
    return;
  }
  pending = time;
  queue_.push(Event::at(time, EventKind::schedule, lane));
}

void Simulation::report_departures(std::uint32_t lane) {
  const auto departed = lanes_[lane].departed();
  if (departed.empty()) {
    return;
  }
  left_ += static_cast<std::int64_t>(departed.size());
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

void Simulation::post_next_transfer() {
  const std::optional<TimePoint> next = coordinator_->next_transfer_end();
  if (next != pending_transfer_ && next) {
    queue_.push(Event::at(*next, EventKind::transfer, 0));
  }
  pending_transfer_ = next;
}

void Simulation::recount_waiting(std::uint32_t lane) {
  const std::int64_t waiting = lanes_[lane].waiting();
  std::int64_t& known = waiting_there_[replica_of_[lane]];
  waiting_ += waiting - known;
  known = waiting;
}

// What one micro-batch gives back, another one may have waited for.
void Simulation::wake_neighbours(std::uint32_t lane) {
  const LaneRange range = ranges_[replica_of_[lane]];
  if (range.count == 1) {
    return;
  }
  for (std::uint32_t other = range.first; other < range.first + range.count; ++other) {
    if (other != lane && !lanes_[other].is_running()) {
      request_schedule(other, now_);
    }
  }
}

std::span<Replica> Simulation::lanes(std::int32_t replica) {
  const LaneRange range = ranges_[static_cast<std::size_t>(replica)];
  return std::span(lanes_).subspan(range.first, range.count);
}

void Simulation::interrupt(std::int32_t replica, bool always) {
  const LaneRange range = ranges_[static_cast<std::size_t>(replica)];
  for (std::uint32_t lane = range.first; lane < range.first + range.count; ++lane) {
    interrupt_lane(lane, always);
  }
}

void Simulation::settle_prefixes(std::int32_t replica) {
  const LaneRange range = ranges_[static_cast<std::size_t>(replica)];
  for (std::uint32_t lane = range.first; lane < range.first + range.count; ++lane) {
    lanes_[lane].settle_blocks(now_, has_decided(lane));
  }
}

std::int64_t Simulation::cached_tokens(std::int32_t replica, const Request& request) {
  const std::uint32_t lane = ranges_[static_cast<std::size_t>(replica)].first;
  const PrefixCache* prefixes = lanes_[lane].state().blocks().prefixes();
  if (prefixes == nullptr || request.content.empty()) {
    return 0;
  }
  settle_prefixes(replica);
  return prefixes->cached_tokens(request);
}

void Simulation::look_for_work(std::int32_t replica) {
  coordinator_->load_changed(replica);
  const LaneRange range = ranges_[static_cast<std::size_t>(replica)];
  recount_waiting(range.first);
  for (std::uint32_t lane = range.first; lane < range.first + range.count; ++lane) {
    if (!lanes_[lane].is_running()) {
      request_schedule(lane, now_);
    }
  }
}

std::vector<Evacuated> Simulation::fail(std::int32_t replica) {
  const LaneRange range = ranges_[static_cast<std::size_t>(replica)];
  for (std::uint32_t lane = range.first; lane < range.first + range.count; ++lane) {
    lanes_[lane].fail(now_);
  }
  std::vector<Evacuated> lost = lanes_[range.first].evacuate(now_);
  coordinator_->load_changed(replica);
  recount_waiting(range.first);
  return lost;
}

void Simulation::set_timer(TimePoint time, std::uint32_t timer) {
  queue_.push(Event::at(time, EventKind::timer, timer));
}

void Simulation::leave(std::int64_t request_id) {
  ++left_;
  workload_->finished(request_id, now_);
  post_next_arrival();
}

bool Simulation::is_busy() const {
  return in_system() > 0 || workload_->next_arrival().has_value();
}

StepCounts Simulation::step_counts() const {
  StepCounts counts;
  for (const Replica& lane : lanes_) {
    counts = counts + lane.step_counts();
  }
  return counts;
}

Census Simulation::census() const {
  Census census;
  census.injected = injected_;
  for (const Replica& lane : lanes_) {
    census.completed += lane.completed();
    census.rejected += lane.rejected();
    census.running += lane.state().running_count();
  }
  for (const LaneRange& range : ranges_) {
    census.waiting += lanes_[range.first].waiting();
  }
  if (coordinator_) {
    const ClusterTotals& totals = coordinator_->totals();
    census.completed += totals.completed;
    census.rejected += totals.rejected + totals.lost;
    census.waiting += coordinator_->held();
    census.in_transit = coordinator_->in_transit();
  }
  return census;
}

}  // namespace inferometer
