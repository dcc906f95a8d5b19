#include "sim/cluster/upkeep.hpp"

#include <algorithm>
#include <cmath>

namespace inferometer {

Upkeep::Upkeep(const ClusterSetup& setup, EngineControl& control, Fleet& fleet, Timers& timers,
               Transfers& transfers, ClusterTotals& totals, UpkeepActions& actions)
    : setup_(setup),
      control_(control),
      fleet_(fleet),
      timers_(timers),
      transfers_(transfers),
      totals_(totals),
      actions_(actions),
      members_(static_cast<std::size_t>(fleet.replicas())),
      scalings_(setup.autoscaling.size()) {
}

void Upkeep::begin() {
  for (std::size_t number = 0; number < setup_.failures.events.size(); ++number) {
    timers_.set(setup_.failures.events[number].at, {Timer::Kind::befall, static_cast<std::int64_t>(number)});
  }
  for (std::size_t rule = 0; rule < setup_.autoscaling.size(); ++rule) {
    timers_.set(control_.now() + setup_.autoscaling[rule].interval,
                {Timer::Kind::autoscale, static_cast<std::int64_t>(rule)});
  }
  if (setup_.dynamic_split) {
    timers_.set(control_.now() + setup_.dynamic_split->interval, {Timer::Kind::split});
  }
}

void Upkeep::timer(const Timer& timer) {
  const auto replica = static_cast<std::int32_t>(timer.key);
  switch (timer.kind) {
    case Timer::Kind::befall:
      befall(setup_.failures.events[static_cast<std::size_t>(timer.key)]);
      break;
    case Timer::Kind::start:
      --member(replica).returns;
      start(replica);
      break;
    case Timer::Kind::boot:
      booted(replica, timer.value);
      break;
    case Timer::Kind::autoscale:
      autoscale(static_cast<std::size_t>(timer.key));
      repeat(timer.kind, timer.key, setup_.autoscaling[static_cast<std::size_t>(timer.key)].interval);
      break;
    case Timer::Kind::split:
      look_at_split();
      repeat(timer.kind, timer.key, setup_.dynamic_split->interval);
      break;
    case Timer::Kind::move:
      moved(replica);
      break;
    case Timer::Kind::snapshot:
      take_snapshot();
      break;
    default:
      break;
  }
}

// What happens at intervals would keep an idle simulation alive for ever.
void Upkeep::repeat(Timer::Kind kind, std::int64_t key, Duration interval) {
  if (control_.is_busy()) {
    timers_.set(control_.now() + interval, {kind, key});
  }
}

void Upkeep::befall(const ReplicaEvent& event) {
  const ReplicaStatus status = fleet_.status(event.replica);
  if (status == ReplicaStatus::off && member(event.replica).returns == 0) {
    return;  // nothing befalls one that was not to run, and so it does not come back from it
  }
  if (event.lasts) {
    ++member(event.replica).returns;
    timers_.set(control_.now() + *event.lasts, {Timer::Kind::start, event.replica});
  }
  if (event.kind == ReplicaEvent::Kind::drain) {
    if (status == ReplicaStatus::up) {
      drain(event.replica);
    }
    return;
  }
  if (status == ReplicaStatus::off) {
    return;
  }
  ++totals_.failures;
  switch_off(event.replica);
  actions_.replica_failed(event.replica);
}

void Upkeep::start(std::int32_t replica) {
  if (fleet_.status(replica) == ReplicaStatus::draining) {
    std::erase(draining_, replica);
    member(replica).becomes.reset();
    up(replica);
    return;
  }
  if (fleet_.status(replica) != ReplicaStatus::off) {
    return;
  }
  ++totals_.starts;
  fleet_.set_status(replica, ReplicaStatus::starting, control_.now());
  timers_.set(control_.now() + setup_.start_up.boot, {Timer::Kind::boot, replica, ++member(replica).start});
}

void Upkeep::booted(std::int32_t replica, std::int64_t start) {
  Member& one = member(replica);
  if (fleet_.status(replica) != ReplicaStatus::starting || one.start != start) {
    return;
  }
  if (setup_.start_up.loads_weights) {
    one.weights = transfers_.start({TransferPurpose::Kind::weights, replica, start}, {},
                                   {replica, fleet_.places(replica)}, fleet_.pool(replica).weights);
  }
  if (!one.weights) {
    up(replica);
  }
}

void Upkeep::weights_loaded(const TransferPurpose& purpose) {
  const auto replica = static_cast<std::int32_t>(purpose.key);
  member(replica).weights.reset();
  up(replica);
}

void Upkeep::up(std::int32_t replica) {
  fleet_.set_status(replica, ReplicaStatus::up, control_.now());
  actions_.replica_up(replica);
}

void Upkeep::drain(std::int32_t replica) {
  ++totals_.drains;
  fleet_.set_status(replica, ReplicaStatus::draining, control_.now());
  draining_.push_back(replica);
  look_at(replica);
}

void Upkeep::switch_off(std::int32_t replica) {
  std::erase(draining_, replica);
  Member& one = member(replica);
  one.becomes.reset();
  if (one.weights) {
    transfers_.cancel(*one.weights);
    one.weights.reset();
  }
  fleet_.set_status(replica, ReplicaStatus::off, control_.now());
}

bool Upkeep::has_drained(std::int32_t replica) const {
  return fleet_.status(replica) == ReplicaStatus::draining && fleet_.outstanding(replica) == 0 &&
         control_.lanes(replica).front().state().store().handed_over == 0;
}

// One that goes over to another pool does so by a timer: requests that wait for it must not reach it from
// within what made it free.
void Upkeep::look_at_drained(std::int32_t replica) {
  if (!has_drained(replica)) {
    return;
  }
  if (!member(replica).becomes) {
    control_.lanes(replica).front().store().pool.clear();  // when it is back, nothing is cached
    switch_off(replica);
  } else if (std::erase(draining_, replica) > 0) {
    timers_.set(control_.now(), {Timer::Kind::move, replica});
  }
}

void Upkeep::look_at_draining() {
  const std::vector<std::int32_t> draining = draining_;
  for (const std::int32_t replica : draining) {
    look_at(replica);
  }
}

bool Upkeep::may_come(PoolRole role) const {
  const bool is_scaled =
      std::any_of(setup_.autoscaling.begin(), setup_.autoscaling.end(),
                  [&](const AutoscalingSetup& rule) { return rule.pool == role && rule.most > 0; });
  for (std::int32_t replica = 0; replica < fleet_.replicas(); ++replica) {
    const Member& one = members_[static_cast<std::size_t>(replica)];
    const bool is_coming = fleet_.status(replica) == ReplicaStatus::starting || one.returns > 0 || is_scaled;
    if (one.becomes ? one.becomes == role : fleet_.role(replica) == role && is_coming) {
      return true;
    }
  }
  const PoolRole other = role == PoolRole::prefill ? PoolRole::decode : PoolRole::prefill;
  const bool is_split =
      setup_.dynamic_split && role != PoolRole::mixed && fleet_.candidates(other).size() > 1;
  return is_split;
}

void Upkeep::autoscale(std::size_t rule) {
  const AutoscalingSetup& scaling = setup_.autoscaling[rule];
  const auto running = fleet_.candidates(scaling.pool);
  const auto starting = fleet_.in_status(scaling.pool, ReplicaStatus::starting);
  std::int64_t load = actions_.held(scaling.pool);
  for (const std::int32_t replica : running) {
    load += fleet_.outstanding(replica);
  }
  const auto active = static_cast<std::int32_t>(running.size() + starting.size());
  // Clamped as a double: over a tiny target it is more than an integer holds.
  const auto wanted = static_cast<std::int32_t>(
      std::clamp(std::ceil(static_cast<double>(load) / scaling.target_outstanding),
                 static_cast<double>(scaling.fewest), static_cast<double>(scaling.most)));
  const double target = scaling.target_outstanding * active;
  const bool is_too_few =
      active < scaling.fewest || static_cast<double>(load) > target * (1 + scaling.tolerance);
  const bool is_too_many =
      active > scaling.most || static_cast<double>(load) < target * (1 - scaling.tolerance);
  std::optional<TimePoint>& too_many_since = scalings_[rule].too_many_since;
  if (!is_too_many || wanted >= active) {
    too_many_since.reset();
  }
  if (is_too_few && wanted > active) {
    std::vector<std::int32_t> off = fleet_.in_status(scaling.pool, ReplicaStatus::off);
    off.resize(std::min(off.size(), static_cast<std::size_t>(wanted - active)));
    for (const std::int32_t replica : off) {
      start(replica);
    }
  } else if (is_too_many && wanted < active) {
    too_many_since = too_many_since.value_or(control_.now());
    if (control_.now() - *too_many_since >= scaling.scale_down_after) {
      too_many_since.reset();
      const auto surplus = std::min(static_cast<std::size_t>(active - wanted), running.size());
      const std::vector<std::int32_t> last(running.end() - static_cast<std::ptrdiff_t>(surplus),
                                           running.end());
      for (const std::int32_t replica : last) {
        drain(replica);
      }
    }
  }
}

void Upkeep::look_at_split() {
  const bool is_one_moving = std::any_of(members_.begin(), members_.end(),
                                         [](const Member& one) { return one.becomes.has_value(); });
  if (is_one_moving) {
    return;
  }
  const DynamicSplitSetup& split = *setup_.dynamic_split;
  const auto prefill = fleet_.candidates(PoolRole::prefill);
  const auto decode = fleet_.candidates(PoolRole::decode);
  double backlog_tokens = 0;
  double tokens_per_second = 0;
  for (const std::int32_t replica : prefill) {
    backlog_tokens += static_cast<double>(fleet_.load(replica).prefill_tokens);
    tokens_per_second += fleet_.pool(replica).prefill_tokens_per_second;
  }
  double held_tokens = 0;
  double capacity_tokens = 0;
  for (const std::int32_t replica : decode) {
    const BlockPool& blocks = control_.lanes(replica).front().state().blocks();
    held_tokens += static_cast<double>(fleet_.load(replica).tokens);
    capacity_tokens += static_cast<double>(blocks.total().count() * blocks.block_size());
  }
  const auto least = [&](std::span<const std::int32_t> replicas) {
    return *std::min_element(replicas.begin(), replicas.end(), [&](std::int32_t a, std::int32_t b) {
      return fleet_.outstanding(a) < fleet_.outstanding(b);
    });
  };
  if (decode.size() > 1 &&
      (prefill.empty() || backlog_tokens > to_seconds(split.prefill_backlog) * tokens_per_second)) {
    move(least(decode), PoolRole::prefill);
  } else if (prefill.size() > 1 && (decode.empty() || held_tokens > split.decode_fill * capacity_tokens)) {
    move(least(prefill), PoolRole::decode);
  }
}

void Upkeep::move(std::int32_t replica, PoolRole role) {
  ++totals_.moves;
  member(replica).becomes = role;
  fleet_.set_status(replica, ReplicaStatus::draining, control_.now());
  draining_.push_back(replica);
  look_at(replica);
}

void Upkeep::moved(std::int32_t replica) {
  if (has_drained(replica) && member(replica).becomes) {
    fleet_.set_role(replica, *member(replica).becomes);
    member(replica).becomes.reset();
    up(replica);
  }
}

// Without a request in the system, the next snapshot would show what this one does: there is none until one
// comes.
void Upkeep::take_snapshot() {
  has_snapshot_timer_ = false;
  for (std::int32_t replica = 0; replica < fleet_.replicas(); ++replica) {
    if (fleet_.follows(replica)) {
      control_.settle_prefixes(replica);
    }
  }
  fleet_.take_snapshot();
  if (control_.in_system() > 0) {
    request_came();
  }
}

void Upkeep::request_came() {
  const Duration interval = setup_.state_interval;
  if (interval == Duration() || has_snapshot_timer_) {
    return;
  }
  has_snapshot_timer_ = true;
  const std::int64_t past = control_.now().since_start().count() / interval.count();
  timers_.set(TimePoint(interval * (past + 1)), {Timer::Kind::snapshot});
}

}  // namespace inferometer
