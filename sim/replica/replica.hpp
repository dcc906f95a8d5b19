#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "costmodel/step_pricer.hpp"
#include "sim/batch/batch_state.hpp"
#include "sim/replica/observer.hpp"
#include "sim/replica/stretch.hpp"
#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

/// How a replica advances. Both give the same results, to the picosecond.
enum class Stepper {
  fast,       ///< as many steps at once as the policy, the price and the memory let be alike
  reference,  ///< one engine step at a time, written to be obviously right
};

std::string_view to_string(Stepper stepper);

struct ReplicaConfig {
  std::int32_t index = 0;
  std::int64_t block_size = 16;
  BlockCount blocks;               ///< usable KV blocks
  std::int64_t max_model_len = 0;  ///< longest prompt plus output; must fit into the blocks
  std::optional<std::int64_t> attention_window;
  Stepper stepper = Stepper::fast;
};

/// How the steps of a replica were run, and why not all in stretches. The parts add up to the steps.
struct StepCounts {
  std::int64_t stretches = 0;       ///< runs of steps alike, of one or more steps
  std::int64_t in_stretches = 0;    ///< steps run in them
  std::int64_t changing_batch = 0;  ///< single steps that admit, preempt, reject or end a prefill
  std::int64_t unpromised = 0;      ///< single steps because the policy does not say how long its plan holds
  std::int64_t without_line = 0;    ///< single steps because the pricer knows no line
  std::int64_t by_reference = 0;    ///< single steps of the reference stepper

  [[nodiscard]] std::int64_t single() const {
    return changing_batch + unpromised + without_line + by_reference;
  }
  friend StepCounts operator+(const StepCounts& a, const StepCounts& b) {
    return {a.stretches + b.stretches,   a.in_stretches + b.in_stretches, a.changing_batch + b.changing_batch,
            a.unpromised + b.unpromised, a.without_line + b.without_line, a.by_reference + b.by_reference};
  }
};

/// One copy of the model on its GPUs: a batch state, a policy, a step pricer. Advances by single engine steps
/// or by stretches of them; a step is planned and priced at its start and takes effect at its end. The engine
/// owns the clock: it calls start_steps() when the replica is free and end_steps() when the time it returned
/// has come.
class Replica {
 public:
  Replica(const ReplicaConfig& config, std::unique_ptr<BatchPolicy> policy,
          std::shared_ptr<const StepPricer> pricer, SimulationObserver& observer);

  /// Queues the request; false (and the observer is told why) when it can never run: a prompt that leaves no
  /// room for a token in max_model_len. Longer outputs are cut at max_model_len, as engines do.
  bool enqueue(const Request& request);

  /// What start_steps() led to.
  struct Start {
    std::optional<TimePoint> end;      ///< steps run until then, unless they are interrupted
    std::optional<TimePoint> wake_at;  ///< no step, but ask again then
  };
  /// Precondition: no step is running.
  Start start_steps(TimePoint now);
  /// To be called before a request is queued at `now`: if it could change the plan, a stretch ends with the
  /// step under way, as it would have done if every step had been planned. Returns the new end, when there is
  /// one; it may be `now`, and then the steps must be ended before the request comes.
  std::optional<TimePoint> interrupt(TimePoint now);
  /// Precondition: steps are running and end now.
  void end_steps();

  /// The simulation stops for good: of a running stretch, the steps that have ended by `now` take effect.
  void cut_off(TimePoint now);

  [[nodiscard]] bool is_running() const { return running_.has_value(); }
  /// When the running steps end; nothing when none run.
  [[nodiscard]] std::optional<TimePoint> running_until() const {
    return running_ ? std::optional(running_->stretch.end()) : std::nullopt;
  }
  /// While steps run: as of the start of the first, its blocks taken.
  [[nodiscard]] const BatchState& state() const { return state_; }
  /// Ids of the requests that left in the last start_steps() (rejected) or end_steps() (finished), ascending.
  [[nodiscard]] std::span<const std::int64_t> departed() const { return departed_; }
  [[nodiscard]] std::int64_t completed() const { return completed_; }
  [[nodiscard]] std::int64_t rejected() const { return rejected_; }
  /// Requests whose output was cut at max_model_len.
  [[nodiscard]] std::int64_t truncated() const { return truncated_; }
  [[nodiscard]] const StepCounts& step_counts() const { return counts_; }

 private:
  struct Running {
    Running(TimePoint start, const StepLine& line, std::int64_t steps) : stretch(start, line, steps) {}

    Stretch stretch;
    StepShape shape;
    std::int64_t decodes = 0;
    std::int64_t context_growth = 0;
    std::int64_t kept_waiting = 0;  // when the first step started
    bool is_stretch = false;
    bool ends_on_arrival = false;
  };
  /// Whether more than one step may be run for a plan, and how a single one is counted.
  struct Outlook {
    std::optional<Stability> stability;
    std::int64_t StepCounts::*otherwise;
  };
  static constexpr std::int64_t kShortestStretchOfChunks = 2;

  [[nodiscard]] Outlook outlook_of_plan(const ReplicaView& view) const;
  [[nodiscard]] std::int64_t steps_before_a_prefill_ends() const;
  [[nodiscard]] std::int64_t kept_waiting(TimePoint now) const;
  void reject_unrunnable(TimePoint now);
  void carry_out(TimePoint now);
  [[nodiscard]] StepShape shape_of_plan();
  void begin(TimePoint now, const Outlook& outlook);
  [[nodiscard]] std::int64_t stretch_steps(const StepLine& line, const Stability& stability);
  void take_later_blocks(StepRecord& record);
  void end_chunks(StepRecord& record);
  void finish_due(TimePoint now);

  ReplicaConfig config_;
  std::unique_ptr<BatchPolicy> policy_;
  std::shared_ptr<const StepPricer> pricer_;
  SimulationObserver& observer_;
  BatchState state_;
  StepPlan plan_;
  std::optional<Running> running_;
  std::vector<ChunkShape> chunk_shapes_;
  std::vector<ChunkShape> growing_chunks_;  // of the running stretch: those that take blocks as they grow
  std::vector<std::int64_t> held_rounds_;
  std::vector<TokenGap> gaps_;
  std::vector<std::int64_t> departed_;
  std::vector<SequenceId> finished_;
  std::int64_t completed_ = 0;
  std::int64_t rejected_ = 0;
  std::int64_t truncated_ = 0;
  StepCounts counts_;
};

}  // namespace inferometer
