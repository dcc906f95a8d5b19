#pragma once

// What a scenario's settings amount to: memory, blocks and prices of each pool, the cluster they make,
// replicas ready to run.

#include <memory>
#include <string>
#include <vector>

#include "sim/cluster/cluster_setup.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/scenario/cluster_hardware.hpp"
#include "sim/scenario/pool_deployment.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// Shared by every simulation of one scenario: building it costs milliseconds, running it does not change it.
struct Deployment {
  std::vector<PoolDeployment> pools;            ///< at least one
  std::shared_ptr<const ClusterSetup> cluster;  ///< its pools in the same order
  bool is_single = true;  ///< one replica on its own, to which nothing of a cluster happens
  NetworkModel network = NetworkModel::ideal;
  std::vector<std::string> notes;  ///< what was decided for the user and may surprise: one sentence each

  [[nodiscard]] PoolDeployment& front() { return pools.front(); }
  [[nodiscard]] const PoolDeployment& front() const { return pools.front(); }
  /// Most replicas of a pool, by its place.
  [[nodiscard]] std::int64_t replicas(std::size_t pool) const { return cluster->pools[pool].replicas; }
  /// How the replicas of all pools advance.
  void set_stepper(Stepper stepper);
  /// False with SimGrid, of which there is one in a process: simulations must then follow each other.
  [[nodiscard]] bool can_run_side_by_side() const { return network != NetworkModel::simgrid; }
};

/// Throws ConfigError: the model does not fit on a pool (by how much, and which tensor_parallel would),
/// limits that contradict each other, too few nodes, pools whose KV caches do not fit each other. `sibling`,
/// when not null: of a scenario that differs in nothing but traffic, seed and numbers of replicas, whose
/// tables of prices are then taken where they are the same, which saves most of the time.
Deployment make_deployment(const Scenario& scenario, const Deployment* sibling = nullptr);

/// Of the pool that requests enter.
Duration frontend_latency(const Scenario& scenario);

/// The scenario's traffic on its replicas, which it reaches frontend_latency() after it was sent.
Simulation make_simulation(const Scenario& scenario, const Deployment& deployment,
                           SimulationObserver& observer);

}  // namespace inferometer
