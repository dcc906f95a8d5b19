#pragma once

// A prefix cache whose answers a test writes down.

#include <map>
#include <vector>

#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {

struct KnownPrefixes : PrefixLookup {
  std::map<SequenceId, CachedPrefix> at_first;  ///< by request number, while the plan admits nobody
  std::map<SequenceId, CachedPrefix> later;     ///< likewise, once it does; who is not here stays as at first

  CachedPrefix find(const StepPlan& plan, SequenceId id) override {
    const bool changed = !plan.admitted.empty() && later.count(id) > 0;
    const auto& answers = changed ? later : at_first;
    const auto place = answers.find(id);
    return place == answers.end() ? CachedPrefix{} : place->second;
  }

  /// The first plan of an engine in whose queue these requests stand, numbered from 0 on.
  StepPlan plan_for(const EngineSetup& setup, const std::vector<TestRequest>& requests) {
    BatchState state(BlockCount(setup.blocks), setup.block_size, std::nullopt, RunningOrder::admission);
    for (const TestRequest& one : requests) {
      Request request;
      request.prompt = TokenCount(one.prompt);
      request.output = TokenCount(one.output);
      request.max_new = TokenCount(std::max(one.output, one.max_new));
      state.enqueue(request, setup.max_model_len - one.prompt);
    }
    StepPlan plan;
    make_policy(setup)->plan(ReplicaView(state, TimePoint(), this), plan);
    return plan;
  }
};

}  // namespace inferometer::testing
