#pragma once

// A cluster drawn at random: pools of replicas with routers, a split of prefill and decode, a network,
// failures, scaling, and traffic that meets the ends of steps and transfers. Who uses it: the property tests
// of the engine of clusters.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster/cluster_setup.hpp"
#include "tests/support/random_deployment.hpp"

namespace inferometer::testing {

enum class NetworkKind { none, ideal, shared_link, simgrid };

/// The replicas of a pool.
struct RandomPool {
  RandomDeployment replica;  ///< engine, promise and price of one; its requests are not looked at
  std::vector<std::shared_ptr<const StepPricer>> stages;  ///< of its pipeline; empty: it has none
  std::string router;                                     ///< its section, for failure messages
};

struct RandomCluster {
  ClusterSetup setup;
  NetworkKind network = NetworkKind::none;
  std::vector<RandomPool> pools;  ///< as in the setup
  std::vector<TestRequest> requests;
  std::int64_t clients = 0;  ///< 0: open loop
  Duration think{};

  [[nodiscard]] std::unique_ptr<Workload> workload() const {
    return make_list_workload(requests, clients, think);
  }
  /// All micro-batches of all replicas.
  [[nodiscard]] std::vector<Replica> lanes(Stepper stepper, SimulationObserver& observer) const;
  [[nodiscard]] bool is_split() const { return setup.disaggregation.has_value(); }
  /// For failure messages.
  [[nodiscard]] std::string describe() const;
};

/// The same for the same seed, on any machine. `allows_simgrid`: one in a hundred has that network, of which
/// a process may have one at a time.
RandomCluster random_cluster(std::uint64_t seed, bool allows_simgrid = false);

}  // namespace inferometer::testing
