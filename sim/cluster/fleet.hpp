#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "sim/cluster/cluster_setup.hpp"
#include "sim/cluster/prefix_follower.hpp"
#include "sim/router/router.hpp"

namespace inferometer {

enum class ReplicaStatus : std::uint8_t {
  off,
  starting,
  up,
  draining,  ///< finishes what it has, takes nothing more
};

/// Which replicas there are, what each is for at present, how much has been sent to it, and who gets the next
/// request.
class Fleet {
 public:
  /// `loads` and `prefixes` tell of replicas as they are. All outlive the fleet.
  Fleet(const ClusterSetup& setup, const LoadSource& loads, const PrefixSource& prefixes);

  [[nodiscard]] std::int32_t replicas() const { return static_cast<std::int32_t>(members_.size()); }
  /// The pool whose hardware a replica has.
  [[nodiscard]] const PoolSetup& pool(std::int32_t replica) const {
    return setup_.pools[member(replica).pool];
  }
  [[nodiscard]] const std::vector<GpuPlace>& places(std::int32_t replica) const;
  [[nodiscard]] PoolRole role(std::int32_t replica) const { return member(replica).role; }
  [[nodiscard]] ReplicaStatus status(std::int32_t replica) const { return member(replica).status; }
  /// Requests sent to a replica that have not left it.
  [[nodiscard]] std::int64_t outstanding(std::int32_t replica) const {
    return outstanding_[static_cast<std::size_t>(replica)];
  }
  [[nodiscard]] std::int64_t outstanding() const { return total_outstanding_; }
  /// Requests ever sent to a replica.
  [[nodiscard]] std::int64_t routed(std::int32_t replica) const { return member(replica).routed; }
  /// As it is, whatever routers may see.
  [[nodiscard]] ReplicaLoad load(std::int32_t replica) const { return loads_.load(replica); }
  /// Replicas of a role that take requests, ascending.
  [[nodiscard]] std::span<const std::int32_t> candidates(PoolRole role) const {
    return candidates_[static_cast<std::size_t>(role)];
  }
  /// Replicas of a role in a status. O(replicas).
  [[nodiscard]] std::vector<std::int32_t> in_status(PoolRole role, ReplicaStatus status) const;

  /// Who gets the request, by the router of the role. Precondition: there is a candidate.
  [[nodiscard]] std::int32_t choose(PoolRole role, const Request& request, TimePoint now);
  void sent(std::int32_t replica);
  void left(std::int32_t replica, std::int64_t requests);

  /// O(replicas).
  void set_status(std::int32_t replica, ReplicaStatus status, TimePoint now);
  void set_role(std::int32_t replica, PoolRole role);
  /// From now on it counts how long replicas are there. To be called once, before any status changes that
  /// count.
  void start_paying(TimePoint now);
  /// Time from then on up to `end` that the replica has not been off; `end` may lie before what has happened
  /// since. O(times it went off).
  [[nodiscard]] Duration paid(std::int32_t replica, TimePoint end) const;
  /// Whether replicas have come or gone since, or some were off.
  [[nodiscard]] bool comes_and_goes() const { return comes_and_goes_; }

  /// To be called before any request has come, with the prefix cache of the replica: where routers see caches
  /// as of the last snapshot, they are followed.
  void follow(std::int32_t replica, PrefixCache& cache);
  [[nodiscard]] bool follows(std::int32_t replica) const {
    return replica < static_cast<std::int32_t>(snapshot_.prefixes.size()) &&
           snapshot_.prefixes[static_cast<std::size_t>(replica)] != nullptr;
  }
  /// From now on routers see the replicas as they are at present, until the next call. The caches that are
  /// followed have settled. O(replicas + what has changed in caches).
  void take_snapshot();

 private:
  struct Member {
    std::size_t pool = 0;
    std::size_t place = 0;  // in the pool
    PoolRole role = PoolRole::mixed;
    ReplicaStatus status = ReplicaStatus::up;
    TimePoint since{};                                     // the last change between off and not
    std::vector<std::pair<TimePoint, TimePoint>> spans{};  // while it was not off, before that
    std::int64_t routed = 0;
  };
  struct Snapshot final : LoadSource, PrefixSource {
    [[nodiscard]] ReplicaLoad load(std::int32_t replica) const override {
      return loads[static_cast<std::size_t>(replica)];
    }
    [[nodiscard]] std::span<const std::int64_t> tokens_at_least() const override { return tokens; }
    [[nodiscard]] std::int64_t cached_tokens(std::int32_t replica, const Request& request) const override {
      const PrefixFollower* const one = prefixes[static_cast<std::size_t>(replica)].get();
      return one == nullptr ? 0 : one->cached_tokens(request);
    }
    std::vector<ReplicaLoad> loads;
    std::vector<std::unique_ptr<PrefixFollower>> prefixes;  // of those that are followed
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> outstanding;
  };

  [[nodiscard]] const Member& member(std::int32_t replica) const {
    return members_[static_cast<std::size_t>(replica)];
  }
  Member& member(std::int32_t replica) { return members_[static_cast<std::size_t>(replica)]; }
  void list_candidates();
  void forget(std::int32_t replica);

  const ClusterSetup& setup_;
  const LoadSource& loads_;
  const PrefixSource& prefixes_;
  std::vector<Member> members_;
  std::vector<std::int64_t> outstanding_;
  std::int64_t total_outstanding_ = 0;
  bool comes_and_goes_ = false;
  std::array<std::vector<std::int32_t>, kPoolRoles> candidates_;
  std::array<std::unique_ptr<Router>, kPoolRoles> routers_;
  Snapshot snapshot_;  // in use when routers learn of replicas only now and then
};

}  // namespace inferometer
