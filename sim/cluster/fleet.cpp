#include "sim/cluster/fleet.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {

std::string_view to_string(PoolRole role) {
  switch (role) {
    case PoolRole::mixed:
      return "mixed";
    case PoolRole::prefill:
      return "prefill";
    case PoolRole::decode:
      return "decode";
  }
  return "";
}

Fleet::Fleet(const ClusterSetup& setup, const LoadSource& loads, const PrefixSource& prefixes)
    : setup_(setup), loads_(loads), prefixes_(prefixes) {
  for (std::size_t pool = 0; pool < setup.pools.size(); ++pool) {
    const PoolSetup& pool_setup = setup.pools[pool];
    for (std::int32_t place = 0; place < pool_setup.replicas; ++place) {
      members_.push_back({.pool = pool,
                          .place = static_cast<std::size_t>(place),
                          .role = pool_setup.role,
                          .status = place < pool_setup.at_start ? ReplicaStatus::up : ReplicaStatus::off});
    }
    routers_[static_cast<std::size_t>(pool_setup.role)] = pool_setup.make_router();
  }
  outstanding_.resize(members_.size());
  list_candidates();
  if (setup.state_interval > Duration()) {
    snapshot_.loads.resize(members_.size());
    snapshot_.prefixes.resize(members_.size());
    snapshot_.tokens.resize(members_.size());
    snapshot_.outstanding.resize(members_.size());
  }
}

const std::vector<GpuPlace>& Fleet::places(std::int32_t replica) const {
  return pool(replica).places[member(replica).place];
}

std::vector<std::int32_t> Fleet::in_status(PoolRole role, ReplicaStatus status) const {
  std::vector<std::int32_t> found;
  for (std::int32_t replica = 0; replica < replicas(); ++replica) {
    if (member(replica).role == role && member(replica).status == status) {
      found.push_back(replica);
    }
  }
  return found;
}

std::int32_t Fleet::choose(PoolRole role, const Request& request, TimePoint now) {
  const auto index = static_cast<std::size_t>(role);
  const std::vector<std::int32_t>& candidates = candidates_[index];
  INFEROMETER_CHECK(!candidates.empty(), "somebody takes requests of the role");
  const bool is_late = setup_.state_interval > Duration();
  const std::int32_t chosen = routers_[index]->choose(
      request, is_late ? RouterView(candidates, snapshot_.outstanding, snapshot_, now, &snapshot_)
                       : RouterView(candidates, outstanding_, loads_, now, &prefixes_));
  INFEROMETER_CHECK(std::binary_search(candidates.begin(), candidates.end(), chosen),
                    "a router chooses among those that take requests");
  return chosen;
}

void Fleet::sent(std::int32_t replica) {
  ++outstanding_[static_cast<std::size_t>(replica)];
  ++total_outstanding_;
  ++member(replica).routed;
}

void Fleet::left(std::int32_t replica, std::int64_t requests) {
  outstanding_[static_cast<std::size_t>(replica)] -= requests;
  total_outstanding_ -= requests;
  INFEROMETER_CHECK(outstanding(replica) >= 0, "no more requests leave a replica than were sent to it");
}

void Fleet::set_status(std::int32_t replica, ReplicaStatus status, TimePoint now) {
  Member& one = member(replica);
  const bool was_off = one.status == ReplicaStatus::off;
  const bool is_off = status == ReplicaStatus::off;
  if (was_off != is_off) {
    comes_and_goes_ = true;
    if (is_off) {
      one.spans.emplace_back(one.since, now);
      forget(replica);
    }
    one.since = now;
  }
  one.status = status;
  list_candidates();
}

void Fleet::set_role(std::int32_t replica, PoolRole role) {
  forget(replica);
  member(replica).role = role;
  list_candidates();
}

void Fleet::start_paying(TimePoint now) {
  comes_and_goes_ = false;
  for (Member& one : members_) {
    one.spans.clear();
    one.since = now;
    comes_and_goes_ = comes_and_goes_ || one.status == ReplicaStatus::off;
  }
}

Duration Fleet::paid(std::int32_t replica, TimePoint end) const {
  const Member& one = member(replica);
  Duration paid;
  for (const auto& [from, to] : one.spans) {
    paid += std::max(Duration(), std::min(to, end) - from);
  }
  const bool is_running = one.status != ReplicaStatus::off && end > one.since;
  return paid + (is_running ? end - one.since : Duration());
}

void Fleet::follow(std::int32_t replica, PrefixCache& cache) {
  const bool is_read = std::any_of(routers_.begin(), routers_.end(), [](const auto& router) {
    return router != nullptr && router->reads_caches();
  });
  if (setup_.state_interval > Duration() && is_read) {
    auto& follower = snapshot_.prefixes[static_cast<std::size_t>(replica)];
    follower = std::make_unique<PrefixFollower>(cache.block_size());
    cache.listen(follower.get());
  }
}

void Fleet::take_snapshot() {
  snapshot_.outstanding = outstanding_;
  for (std::int32_t replica = 0; replica < replicas(); ++replica) {
    const auto place = static_cast<std::size_t>(replica);
    snapshot_.loads[place] = loads_.load(replica);
    snapshot_.tokens[place] = snapshot_.loads[place].tokens;
    if (follows(replica)) {
      snapshot_.prefixes[place]->catch_up();
    }
  }
}

void Fleet::forget(std::int32_t replica) {
  if (Router* const router = routers_[static_cast<std::size_t>(member(replica).role)].get()) {
    router->forget(replica);
  }
}

void Fleet::list_candidates() {
  for (std::vector<std::int32_t>& list : candidates_) {
    list.clear();
  }
  for (std::int32_t replica = 0; replica < replicas(); ++replica) {
    if (member(replica).status == ReplicaStatus::up) {
      candidates_[static_cast<std::size_t>(member(replica).role)].push_back(replica);
    }
  }
}

}  // namespace inferometer
