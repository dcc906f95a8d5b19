#include "sim/scenario/cluster_config.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "sim/scenario/cluster_table.hpp"

namespace inferometer {
namespace {

/// As of all that is looked at again and again: between two requests many shorter ones would take for ever.
constexpr Duration kShortestInterval = milliseconds(1);

/// No replica comes back later; boot and weights end before time does.
constexpr Duration kLastReturn = seconds(2400LL * 3600);

std::optional<PoolRole> role_named(std::string_view name) {
  const auto found = std::find_if(kPoolOrder.begin(), kPoolOrder.end(),
                                  [&](PoolRole role) { return to_string(role) == name; });
  return found == kPoolOrder.end() ? std::nullopt : std::optional(*found);
}

std::optional<std::size_t> place_of(const std::vector<PoolSpec>& pools, std::optional<PoolRole> role) {
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].role == role) {
      return i;
    }
  }
  return std::nullopt;
}

std::string names_of(const std::vector<PoolSpec>& pools) {
  std::vector<std::string> names;
  for (const PoolSpec& pool : pools) {
    names.emplace_back(to_string(pool.role));
  }
  return join_alternatives(names, "and");
}

/// The section that holds for a pool's router.
std::string router_key(const Values& cluster, PoolRole role) {
  const std::string own = std::string(to_string(role)) + "_router";
  return role != PoolRole::mixed && cluster.has(own) ? own : "router";
}

class ClusterReader {
 public:
  ClusterReader(const Values& cluster, const std::vector<PoolSpec>& pools, std::vector<std::int64_t> replicas,
                Diagnostics& diagnostics)
      : cluster_(cluster), pools_(pools), replicas_(std::move(replicas)), diagnostics_(diagnostics) {}

  ClusterSetup read() {
    read_admission(cluster_.section("admission"));
    read_failures(cluster_.section("failures"));
    const Values& start_up = cluster_.section("start_up");
    setup_.start_up = {start_up.duration("boot"), start_up.flag("load_weights")};
    for (const Values* const scaling : cluster_.sections("autoscaling")) {
      read_autoscaling(*scaling);
    }
    if (cluster_.has("dynamic_split")) {
      read_dynamic_split(cluster_.section("dynamic_split"));
    }
    read_state_interval(cluster_.section("router"));
    check_pool_routers();
    return std::move(setup_);
  }

 private:
  void read_admission(const Values& admission) {
    if (admission.has("max_outstanding")) {
      setup_.admission.max_outstanding = admission.count("max_outstanding");
    }
    if (admission.has("ttft")) {
      setup_.admission.ttft = admission.duration("ttft");
    }
  }

  void read_failures(const Values& failures) {
    setup_.failures.retry = failures.text("on_failure") == "retry";
    for (const Values* const section : failures.sections("events")) {
      read_event(*section);
    }
    std::stable_sort(setup_.failures.events.begin(), setup_.failures.events.end(),
                     [](const ReplicaEvent& a, const ReplicaEvent& b) { return a.at < b.at; });
  }

  void read_event(const Values& section) {
    const bool fails = section.has("fail");
    if (fails == section.has("drain")) {
      diagnostics_.add(section.where(),
                       "cluster.failures.events: an event names the replica that it befalls, as "
                       "fail or as drain, " +
                           std::string(fails ? "not both" : "e.g. \"fail: decode 0\""));
      return;
    }
    const char* const key = fails ? "fail" : "drain";
    const std::optional<std::int32_t> replica = replica_named(section.text(key), section.where(key));
    if (!replica) {
      return;
    }
    ReplicaEvent event;
    event.at = TimePoint() + section.duration("at");
    event.kind = fails ? ReplicaEvent::Kind::fail : ReplicaEvent::Kind::drain;
    event.replica = *replica;
    if (section.has("for")) {
      event.lasts = section.duration("for");
      if (*event.lasts > kLastReturn - section.duration("at")) {
        diagnostics_.add(section.where("for"),
                         "cluster.failures.events: the replica would be back after more than 2400 h");
        return;
      }
    }
    setup_.failures.events.push_back(event);
  }

  /// "decode 0" as a number among all replicas.
  std::optional<std::int32_t> replica_named(const std::string& text, const Position& where) {
    const std::size_t space = text.find(' ');
    const std::string pool = text.substr(0, space);
    std::int64_t number = -1;
    if (space != std::string::npos) {
      const char* const end = text.data() + text.size();
      const auto [rest, fault] = std::from_chars(text.data() + space + 1, end, number);
      number = fault == std::errc() && rest == end ? number : -1;
    }
    const std::optional<std::size_t> place = place_of(pools_, role_named(pool));
    if (number < 0 || !role_named(pool)) {
      diagnostics_.add(where,
                       "cluster.failures.events: expected a pool and the number of a replica such as "
                       "\"decode 0\", found " +
                           quoted_excerpt(text));
      return std::nullopt;
    }
    if (!place || number >= replicas_[*place]) {
      const std::string there = !place ? "the pools are " + names_of(pools_)
                                       : "its replicas are 0 to " + std::to_string(replicas_[*place] - 1);
      diagnostics_.add(where,
                       "cluster.failures.events: there is no replica " + quoted_excerpt(text) + "; " + there);
      return std::nullopt;
    }
    std::int64_t before = 0;
    for (std::size_t i = 0; i < *place; ++i) {
      before += replicas_[i];
    }
    return static_cast<std::int32_t>(before + number);
  }

  void read_autoscaling(const Values& section) {
    const std::string path = "cluster.autoscaling";
    AutoscalingSetup scaling;
    scaling.pool = *role_named(section.text("pool"));
    scaling.interval = section.duration("interval");
    scaling.target_outstanding = section.number("target_outstanding");
    scaling.tolerance = section.number("tolerance");
    scaling.scale_down_after = section.duration("scale_down_after");
    const std::int64_t fewest = section.count("min"), most = section.count("max");
    scaling.fewest = static_cast<std::int32_t>(fewest);
    scaling.most = static_cast<std::int32_t>(most);
    const std::optional<std::size_t> place = place_of(pools_, scaling.pool);
    if (!place) {
      diagnostics_.add(section.where("pool"), path + ": there is no pool " + section.text("pool") +
                                                  "; the pools are " + names_of(pools_));
      return;
    }
    if (!scaled_.insert(scaling.pool).second) {
      diagnostics_.add(section.where(), path + ": pool " + section.text("pool") + " is scaled twice");
    }
    if (fewest > most) {
      diagnostics_.add(section.where("min"), path + ": min " + std::to_string(fewest) + " is more than max " +
                                                 std::to_string(most));
      return;
    }
    const std::int64_t at_start = pools_[*place].replicas;
    if (at_start < fewest || at_start > most) {
      diagnostics_.add(section.where(), path + ": pool " + section.text("pool") + " starts with " +
                                            std::to_string(at_start) + " replicas, which is not from min " +
                                            std::to_string(fewest) + " to max " + std::to_string(most));
    }
    setup_.autoscaling.push_back(scaling);
  }

  /// A replica that changes sides must be one that the other pool could have.
  void read_dynamic_split(const Values& section) {
    setup_.dynamic_split = {section.duration("interval"), section.duration("prefill_backlog"),
                            section.number("decode_fill")};
    const std::optional<std::size_t> prefill = place_of(pools_, PoolRole::prefill);
    const std::optional<std::size_t> decode = place_of(pools_, PoolRole::decode);
    if (!prefill || !decode) {
      diagnostics_.add(section.where(), "cluster.dynamic_split needs pools for prefill and decode");
      return;
    }
    const PoolSpec& a = pools_[*prefill];
    const PoolSpec& b = pools_[*decode];
    if (a.gpu.name != b.gpu.name || a.split() != b.split() || a.pipeline_parallel != b.pipeline_parallel) {
      diagnostics_.add(section.where(),
                       "cluster.dynamic_split moves replicas between prefill and decode, which "
                       "must have the same gpu and the same degrees of parallelism");
    }
  }

  void read_state_interval(const Values& router) {
    setup_.state_interval = router.duration("state_interval");
    if (setup_.state_interval > Duration() && setup_.state_interval < kShortestInterval) {
      diagnostics_.add(router.where("state_interval"),
                       "cluster.router.state_interval: expected 0 s or at least 1 ms");
    }
  }

  void check_pool_routers() {
    for (const PoolRole role : {PoolRole::prefill, PoolRole::decode}) {
      const std::string key = std::string(to_string(role)) + "_router";
      if (!cluster_.has(key)) {
        continue;
      }
      if (!cluster_.section("pools").has(to_string(role))) {
        diagnostics_.add(cluster_.where(key), "cluster." + key + ": there is no pool " +
                                                  std::string(to_string(role)) + "; the pools are " +
                                                  names_of(pools_));
      }
      if (cluster_.section(key).given("state_interval")) {
        diagnostics_.add(cluster_.section(key).where("state_interval"),
                         "cluster." + key +
                             ".state_interval: all routers learn of replicas together; it goes "
                             "with cluster.router");
      }
    }
  }

  const Values& cluster_;
  const std::vector<PoolSpec>& pools_;
  std::vector<std::int64_t> replicas_;
  Diagnostics& diagnostics_;
  std::set<PoolRole> scaled_;
  ClusterSetup setup_;
};

/// A router that needs something of the traffic says so before anything runs.
void check_routers(const Values& scenario, const std::vector<PoolSpec>& pools, const RouterRegistry& routers,
                   Diagnostics& diagnostics) {
  const Values& cluster = scenario.section("cluster");
  std::set<std::string> done;
  for (const PoolSpec& pool : pools) {
    const std::string key = router_key(cluster, pool.role);
    const RouterEntry* const entry = routers.find(cluster.section(key).text("policy"));
    INFEROMETER_CHECK(entry != nullptr, "the router table only takes registered routers");
    if (!done.insert(key).second || !entry->missing_data) {
      continue;
    }
    const std::string missing = entry->missing_data(scenario.section("workload"));
    if (!missing.empty()) {
      diagnostics.add(cluster.section(key).where("policy"),
                      "cluster." + key + " " + entry->name + " has nothing to decide by: " + missing);
    }
  }
}

}  // namespace

std::vector<std::int64_t> most_replicas(const Values& scenario, const std::vector<PoolSpec>& pools) {
  std::vector<std::int64_t> most;
  for (const PoolSpec& pool : pools) {
    most.push_back(pool.replicas);
  }
  if (scenario.has("cluster")) {
    for (const Values* const scaling : scenario.section("cluster").sections("autoscaling")) {
      if (const auto place = place_of(pools, role_named(scaling->text("pool")))) {
        most[*place] = std::max(most[*place], scaling->count("max"));
      }
    }
  }
  return most;
}

ClusterSetup read_cluster(const Values& scenario, const std::vector<PoolSpec>& pools,
                          const RouterRegistry& routers, Diagnostics& diagnostics) {
  if (!scenario.has("cluster")) {
    return {};
  }
  check_routers(scenario, pools, routers, diagnostics);
  return ClusterReader(scenario.section("cluster"), pools, most_replicas(scenario, pools), diagnostics)
      .read();
}

void add_router_note(const Values& scenario, const std::vector<PoolSpec>& pools,
                     std::vector<std::string>& notes) {
  if (!scenario.has("cluster") || !place_of(pools, PoolRole::decode)) {
    return;
  }
  const Values& cluster = scenario.section("cluster");
  const Values& router = cluster.section(router_key(cluster, PoolRole::decode));
  if (router.text("policy") == "kv_aware" && router.number("overlap_weight") > 0) {
    notes.emplace_back(
        "router kv_aware of pool decode counts cached blocks as prefill that is spared, and decode replicas "
        "compute no prompts: decode_router: {policy: kv_aware, overlap_weight: 0} leaves them out, as Dynamo "
        "does");
  }
}

std::function<std::unique_ptr<Router>()> router_maker(const Values& scenario, PoolRole role,
                                                      const RouterRegistry& routers, std::uint64_t seed) {
  Values section;
  if (scenario.has("cluster")) {
    const Values& cluster = scenario.section("cluster");
    section = cluster.section(router_key(cluster, role));
  } else {
    Diagnostics none;
    section = parse(router_table(routers), ConfigNode(), none);
  }
  const RouterEntry* const entry = routers.find(section.text("policy"));
  INFEROMETER_CHECK(entry != nullptr, "the router table only takes registered routers");
  const std::string path = "router/" + std::string(to_string(role));
  return [make = entry->make, section, seed, path] { return make(section, seed, path); };
}

}  // namespace inferometer
