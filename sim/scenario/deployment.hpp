#pragma once

// What a scenario's settings amount to: memory, blocks, prices, a replica ready to run.

#include <memory>
#include <string>
#include <vector>

#include "costmodel/memory_footprint.hpp"
#include "costmodel/step_pricer.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/replica/replica.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {

/// Shared by every simulation of one scenario: building it costs milliseconds, running it does not change it.
struct Deployment {
  MemoryFootprint memory;
  ReplicaConfig replica;
  EngineLimits limits;
  PricerLimits pricer_limits;
  std::shared_ptr<const StepPricer> pricer;
  std::vector<std::string> notes;  ///< what was decided for the user and may surprise: one sentence each
};

/// Throws ConfigError: the model does not fit (by how much, and which tensor_parallel would), limits that
/// contradict each other.
Deployment make_deployment(const Scenario& scenario);

/// A fresh replica of the deployment, whose observer must outlive it.
Replica make_replica(const Scenario& scenario, const Deployment& deployment, SimulationObserver& observer);

/// The scenario's traffic on one replica.
Simulation make_simulation(const Scenario& scenario, const Deployment& deployment,
                           SimulationObserver& observer);

}  // namespace inferometer
