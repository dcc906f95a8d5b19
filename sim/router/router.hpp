#pragma once

// Which replica gets a request. One router a file in sim/router/impl/, without a header, registered by one
// line in builtin.cpp.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/config/table.hpp"
#include "base/registry.hpp"
#include "base/units.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// What a router may know of a replica, but for what it has cached.
struct ReplicaLoad {
  std::int64_t outstanding = 0;     ///< requests sent there that have not left
  std::int64_t waiting = 0;         ///< of them, not running
  std::int64_t tokens = 0;          ///< their prompt tokens and the tokens emitted so far
  std::int64_t prefill_tokens = 0;  ///< prompt tokens not computed yet
  std::int64_t kv_capacity = 0;     ///< tokens that its KV blocks hold
};

/// Where loads come from: the replicas themselves, or a snapshot taken some time ago.
class LoadSource {
 public:
  virtual ~LoadSource() = default;
  /// O(1).
  [[nodiscard]] virtual ReplicaLoad load(std::int32_t replica) const = 0;
  /// By replica: at most load().tokens, which is then asked for only where this is less than the least found
  /// so far. Valid until a load is asked for; loads asked for change it in place.
  [[nodiscard]] virtual std::span<const std::int64_t> tokens_at_least() const = 0;
};

/// Where it comes from what replicas have cached: they themselves, or a snapshot taken some time ago.
class PrefixSource {
 public:
  virtual ~PrefixSource() = default;
  /// Tokens from the start of the request's prompt whose KV the replica has cached: whole blocks of its own,
  /// fewer than the prompt has. O(content runs of the prompt).
  [[nodiscard]] virtual std::int64_t cached_tokens(std::int32_t replica, const Request& request) const = 0;
};

/// The replicas of a pool as a router sees them. Never a replica itself.
class RouterView {
 public:
  /// All outlive the view. `outstanding` is indexed by replica. Without `prefixes` nothing is cached.
  RouterView(std::span<const std::int32_t> candidates, std::span<const std::int64_t> outstanding,
             const LoadSource& loads, TimePoint now = TimePoint(), const PrefixSource* prefixes = nullptr)
      : candidates_(candidates), outstanding_(outstanding), loads_(loads), now_(now), prefixes_(prefixes) {}

  [[nodiscard]] TimePoint now() const { return now_; }

  /// Numbers of the replicas that take requests, ascending; at least one.
  [[nodiscard]] std::span<const std::int32_t> candidates() const { return candidates_; }
  /// Cheaper than load().outstanding.
  [[nodiscard]] std::int64_t outstanding(std::int32_t replica) const {
    return outstanding_[static_cast<std::size_t>(replica)];
  }
  [[nodiscard]] ReplicaLoad load(std::int32_t replica) const { return loads_.load(replica); }
  /// LoadSource::tokens_at_least().
  [[nodiscard]] std::span<const std::int64_t> tokens_at_least() const { return loads_.tokens_at_least(); }
  /// PrefixSource::cached_tokens().
  [[nodiscard]] std::int64_t cached_tokens(std::int32_t replica, const Request& request) const {
    return prefixes_ == nullptr ? 0 : prefixes_->cached_tokens(replica, request);
  }

 private:
  std::span<const std::int32_t> candidates_;
  std::span<const std::int64_t> outstanding_;
  const LoadSource& loads_;
  TimePoint now_;
  const PrefixSource* prefixes_;
};

/// Called once for each request, as it is sent to a pool. Contract: deterministic, O(candidates) and, where
/// it looks at prompts, as much for each of their content runs; returns one of the candidates. They come and
/// go with failures, drains and scaling: a router remembers replicas by number, never by place.
class Router {
 public:
  virtual ~Router() = default;
  virtual std::int32_t choose(const Request& request, const RouterView& view) = 0;
  /// Whether it asks what replicas have cached, which has a price where it learns of them now and then.
  [[nodiscard]] virtual bool reads_caches() const { return false; }
  /// The replica was switched off, has failed or has changed pools: it has nothing cached when it is back.
  virtual void forget(std::int32_t replica) { (void)replica; }
};

/// A router under its name in a scenario.
struct RouterEntry {
  std::string name;
  std::string summary;    ///< one sentence, with the system it is modelled on
  std::vector<Key> keys;  ///< parameters beyond those every router has
  /// Why the traffic gives this router nothing to decide by ("no request has a session"); empty: it does.
  /// Absent: any traffic will do.
  std::function<std::string(const Values& workload)> missing_data{};
  /// `seed` and `path` name the router's own random stream.
  std::function<std::unique_ptr<Router>(const Values& router, std::uint64_t seed, const std::string& path)>
      make;
};

using RouterRegistry = Registry<RouterEntry>;

/// round_robin, random, least_outstanding, least_tokens, power_of_two, session_affinity, cache_aware,
/// kv_aware, prefix_scorer, conductor.
void register_builtin_routers(RouterRegistry& registry);

/// A section `router` of a scenario: keys of every router (policy, state_interval), then those of each
/// registered one.
Table router_table(const RouterRegistry& registry);

}  // namespace inferometer
