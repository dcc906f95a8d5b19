#pragma once

// A deployment as users make them, drawn at random: a policy with its parameters, a model on a GPU with its
// prices, and traffic made to lead the fast stepper into each of its limits. Who uses it: the test of the two
// steppers' equality.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/work_totals.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {

struct RandomDeployment {
  /// How the policy speaks of its plans.
  enum class Promise {
    own,      ///< as it was written
    none,     ///< a user's policy, which has only plan()
    bounded,  ///< never more than promise_steps steps ahead
    resting,  ///< as it was written, but the last of several decoding sequences always sits out
  };

  EngineSetup setup;  ///< its costs are not looked at
  Promise promise = Promise::own;
  std::int64_t promise_steps = 0;
  bool has_line = true;  ///< false: the pricer prices steps one by one only
  std::shared_ptr<const StepPricer> pricer;
  std::optional<WorkTotals> work;    ///< empty account of the model; none for round prices
  std::string prices;                ///< what the pricer was made of, for failure messages
  std::int64_t attention_ranks = 1;  ///< over which it spreads sequences
  std::vector<TestRequest> requests;
  std::int64_t clients = 0;  ///< 0: open loop
  Duration think{};

  [[nodiscard]] std::unique_ptr<Workload> workload() const {
    return make_list_workload(requests, clients, think);
  }
  [[nodiscard]] std::unique_ptr<BatchPolicy> policy() const;
  [[nodiscard]] ReplicaConfig replica(Stepper stepper) const;
  /// For failure messages.
  [[nodiscard]] std::string describe() const;
};

/// The same for the same seed, on any machine. `with_techniques`: engines that can may draft tokens and have
/// host memory.
RandomDeployment random_deployment(std::uint64_t seed, bool with_techniques = false);

}  // namespace inferometer::testing
