#pragma once

// Small simulations with round numbers: requests from a list, steps whose price can be worked out in the
// head, and a log of every step that names who did what.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/simulation.hpp"

namespace inferometer::testing {

struct TestRequest {
  TimePoint arrival;
  std::int64_t prompt = 1;
  std::int64_t output = 1;
  std::int64_t max_new = 0;  ///< 0: as much as it will emit
  std::int64_t session = -1;
  std::vector<ContentRun> content{};  ///< empty: unlike any other
  std::uint64_t output_content = 0;
  std::int32_t priority = 0;
};

/// A request that arrives at such a microsecond.
TestRequest request_at(std::int64_t arrival_us, std::int64_t prompt, std::int64_t output,
                       std::int64_t max_new = 0);

/// Requests in the given order, which must be that of their arrivals. With `clients` > 0 a closed loop: of
/// the given requests only the first `clients` come on their own; each later one `think` after any request
/// has left.
std::unique_ptr<Workload> make_list_workload(std::vector<TestRequest> requests, std::int64_t clients = 0,
                                             Duration think = {});

/// A step costs, in microseconds: fixed + per_token * tokens + per_context * decode context +
/// per_window_context * decode context within the window + per_past * cached tokens below the chunks +
/// per_row * sampled rows.
struct StepCosts {
  std::int64_t fixed = 10;
  std::int64_t per_token = 1;
  std::int64_t per_context = 0;
  std::int64_t per_past = 0;
  std::int64_t per_row = 0;
  std::int64_t per_window_context = 0;
};
std::shared_ptr<const StepPricer> make_test_pricer(const StepCosts& costs);

/// An engine as a scenario would describe it, but for the memory: its usable blocks are given.
struct EngineSetup {
  std::string policy;
  std::string keys;  ///< further engine keys, as YAML flow entries: "watermark: 0.1, reserve: max_model_len"
  std::int64_t blocks = 100;
  std::int64_t block_size = 4;
  std::int64_t max_model_len = 100;
  std::int64_t max_num_seqs = 8;
  std::optional<std::int64_t> window{};
  StepCosts costs{};
  Stepper stepper = Stepper::reference;
  bool plans_ahead = false;  ///< async_scheduling
  std::optional<SpeculationRule> speculation{};
  std::optional<KvOffloadConfig> offload{};
  std::optional<KvSwapConfig> swap{};  ///< must be there when `keys` say preemption_mode: swap
};

/// The replica that the setup describes.
ReplicaConfig replica_config(const EngineSetup& setup);

/// The policy as a scenario would make it: from the registry, its keys read by the engine table.
std::unique_ptr<BatchPolicy> make_policy(const EngineSetup& setup);

/// Writes down what a simulation does.
class StepLog : public SimulationObserver {
 public:
  struct Step {
    TimePoint start, end;
    std::int64_t held_blocks = 0;
    std::int64_t emitted = 0;
    std::map<std::int64_t, std::int64_t> gaps;  ///< picoseconds between tokens -> how many
    bool operator==(const Step&) const = default;
  };

  void on_rejected(const RejectedRequest& request) override;
  void on_steps(const StepRecord& steps) override;
  void on_finished(const FinishedRequest& request) override;

  /// Called by the policy that make_simulation() wraps around the one under test.
  void note_plan(const ReplicaView& view, const StepPlan& plan);

  /// One line a step, with request numbers and times in microseconds:
  /// "0-26 | prefill 0+16 1+4 | decode 2 | preempt 3 | wait 4 | free 5"; "swap out" names whom a plan
  /// preempts so, "swap in" who comes back and decodes; parts without content are left out, and "wait" counts
  /// the queue at the step's end. A rejection is a line of its own: "12 | reject 3".
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<FinishedRequest>& finished() const { return finished_; }
  [[nodiscard]] const std::vector<RejectedRequest>& rejected() const { return rejected_; }
  /// "arrived 0, admitted 0, first 26, done 60, preempted 1" in microseconds, or "none".
  [[nodiscard]] std::string outcome(std::int64_t request_id) const;

  std::int64_t total_blocks = 0;

 private:
  void add_step(const StepRecord& step);

  std::vector<std::string> lines_;
  std::vector<Step> steps_;
  std::vector<FinishedRequest> finished_;
  std::vector<RejectedRequest> rejected_;
  std::string planned_;
};

/// One replica of `setup`. `log` may be null; then `observer` alone sees what happens.
std::unique_ptr<Simulation> make_simulation(const EngineSetup& setup, std::unique_ptr<Workload> workload,
                                            SimulationObserver& observer, StepLog* log = nullptr);

/// Runs the requests to the end.
StepLog run_to_end(const EngineSetup& setup, std::vector<TestRequest> requests);

}  // namespace inferometer::testing
