#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/step_pricer.hpp"
#include "sim/batch/batch_state.hpp"
#include "sim/replica/observer.hpp"
#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

struct ReplicaConfig {
  std::int32_t index = 0;
  std::int64_t block_size = 16;
  BlockCount blocks;               ///< usable KV blocks
  std::int64_t max_model_len = 0;  ///< longest prompt plus output; must fit into the blocks
  std::optional<std::int64_t> attention_window;
};

/// One copy of the model on its GPUs: a batch state, a policy, a step pricer. Advances one engine step at a
/// time: a step is planned and priced at its start and takes effect at its end (the reference stepper,
/// written to be obviously right). The engine owns the clock and calls start_step() when the replica is free
/// and end_step() when the time it returned has come.
class Replica {
 public:
  Replica(const ReplicaConfig& config, std::unique_ptr<BatchPolicy> policy,
          std::shared_ptr<const StepPricer> pricer, SimulationObserver& observer);

  /// Queues the request; false (and the observer is told why) when it can never run: a prompt that leaves no
  /// room for a token in max_model_len. Longer outputs are cut at max_model_len, as engines do.
  bool enqueue(const Request& request);

  /// What start_step() led to.
  struct Start {
    std::optional<TimePoint> step_end;  ///< a step runs until then
    std::optional<TimePoint> wake_at;   ///< no step, but ask again then
  };
  /// Precondition: no step is running.
  Start start_step(TimePoint now);
  /// Precondition: a step is running and ends now.
  void end_step();

  [[nodiscard]] bool in_step() const { return step_.has_value(); }
  [[nodiscard]] const BatchState& state() const { return state_; }
  /// Ids of the requests that left in the last start_step() (rejected) or end_step() (finished), ascending.
  [[nodiscard]] std::span<const std::int64_t> departed() const { return departed_; }
  [[nodiscard]] std::int64_t completed() const { return completed_; }
  [[nodiscard]] std::int64_t rejected() const { return rejected_; }
  /// Requests whose output was cut at max_model_len.
  [[nodiscard]] std::int64_t truncated() const { return truncated_; }

 private:
  struct RunningStep {
    RunningStep(TimePoint now, std::int64_t decoding, const StepShape& priced, const StepPricer& pricer)
        : start(now),
          decodes(decoding),
          shape(priced),
          cost(pricer.price(priced)),
          end(end_of_step(now, cost.total())) {}

    TimePoint start;
    std::int64_t decodes;
    StepShape shape;
    StepCost cost;
    TimePoint end;
  };

  /// Throws ConfigError behind the end of simulated time.
  static TimePoint end_of_step(TimePoint now, Duration time);

  void reject_unrunnable(TimePoint now);
  [[nodiscard]] std::int64_t kept_waiting(TimePoint now) const;
  void carry_out(TimePoint now);
  void begin(TimePoint now);
  std::int64_t end_chunks();
  void finish_due(TimePoint now);

  ReplicaConfig config_;
  std::unique_ptr<BatchPolicy> policy_;
  std::shared_ptr<const StepPricer> pricer_;
  SimulationObserver& observer_;
  BatchState state_;
  StepPlan plan_;
  std::optional<RunningStep> step_;
  std::int64_t kept_waiting_ = 0;  // when the step started
  std::vector<ChunkShape> chunk_shapes_;
  std::vector<TokenGap> gaps_;
  std::vector<std::int64_t> departed_;
  std::vector<SequenceId> finished_;
  std::int64_t completed_ = 0;
  std::int64_t rejected_ = 0;
  std::int64_t truncated_ = 0;
};

}  // namespace inferometer
