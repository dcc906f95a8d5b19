#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/plain_scheduler.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {

/// An engine and its traffic, drawn at random: KV memory from just enough for one sequence to plenty, bursts,
/// simultaneous arrivals, prompts that can never run, closed loops. Times are whole microseconds, so that
/// arrivals often fall on the end of a step.
struct RandomScenario {
  PlainEngine engine;  ///< engine.setup.keys says the same as its other fields
  std::vector<TestRequest> requests;
  std::int64_t clients = 0;  ///< 0: open loop
  Duration think{};

  [[nodiscard]] std::unique_ptr<Workload> workload() const {
    return make_list_workload(requests, clients, think);
  }
  /// For failure messages.
  [[nodiscard]] std::string describe() const;
};

/// The same for the same arguments, on any machine.
RandomScenario random_scenario(const std::string& policy, std::uint64_t seed);

}  // namespace inferometer::testing
