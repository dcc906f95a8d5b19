#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "costmodel/step_pricer.hpp"
#include "sim/batch/batch_state.hpp"
#include "sim/batch/kv_swap.hpp"
#include "sim/kvcache/kv_offload.hpp"
#include "sim/replica/observer.hpp"
#include "sim/replica/pipeline.hpp"
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
  std::int32_t lane = 0;  ///< which of the micro-batches of a pipeline
  std::int64_t block_size = 16;
  BlockCount blocks;               ///< usable KV blocks
  std::int64_t max_model_len = 0;  ///< longest prompt plus output; must fit into the blocks
  std::int64_t max_num_seqs = 0;   ///< most sequences running at once, here
  std::optional<std::int64_t> attention_window;
  std::optional<SpeculationRule> speculation{};  ///< decodes draft tokens; without a pipeline only
  /// The plan of a step is made when the step before begins: who arrives later is not in it. Without a
  /// pipeline only.
  bool plans_ahead = false;
  bool caches_prefixes = false;  ///< blocks keep what they had in them until they are taken again
  /// Blocks that are taken again are kept below the GPU; with `caches_prefixes` and without a pipeline only.
  std::optional<KvOffloadConfig> offload{};
  /// Host memory for sequences that the policy swaps out; without `caches_prefixes` and a pipeline only.
  std::optional<KvSwapConfig> swap{};
  /// Most tokens of one step; what KV below the GPU is worth is what its tokens cost in such steps.
  std::int64_t step_tokens = 0;
  Stepper stepper = Stepper::fast;
};

/// How the steps of a replica were run, and why not all in stretches. The parts add up to the steps.
struct StepCounts {
  std::int64_t stretches = 0;       ///< runs of steps alike, of one or more steps
  std::int64_t in_stretches = 0;    ///< steps run in them
  std::int64_t changing_batch = 0;  ///< single steps that admit, preempt, reject or end a prefill
  std::int64_t unpromised = 0;      ///< single steps because the policy does not say how long its plan holds
  std::int64_t without_line = 0;    ///< single steps because the pricer knows no line
  std::int64_t speculating = 0;     ///< single steps because what is accepted is not known before
  std::int64_t by_reference = 0;    ///< single steps of the reference stepper

  [[nodiscard]] std::int64_t single() const {
    return changing_batch + unpromised + without_line + speculating + by_reference;
  }
  friend StepCounts operator+(const StepCounts& a, const StepCounts& b) {
    return {a.stretches + b.stretches,           a.in_stretches + b.in_stretches,
            a.changing_batch + b.changing_batch, a.unpromised + b.unpromised,
            a.without_line + b.without_line,     a.speculating + b.speculating,
            a.by_reference + b.by_reference};
  }
};

/// A prompt whose prefill has ended here and whose KV is to go elsewhere; its blocks are held until
/// release().
struct HandOver {
  std::int64_t request_id = 0;
  SequenceId sequence = kNoSequence;
  PromptResult result;
};

/// A chunk of such a prompt in the step that has just begun.
struct PushedChunk {
  std::int64_t request_id = 0;
  std::int64_t tokens = 0;
  std::int64_t past = 0;  ///< tokens of the prompt computed before
};

/// A sequence whose KV comes from elsewhere, and for which blocks have just been taken, or taken back.
struct LoadStart {
  std::int64_t request_id = 0;
  SequenceId sequence = kNoSequence;
  std::int64_t cached_tokens = 0;  ///< of the prompt, whose KV is there already
};

/// What was lost with a replica.
struct Evacuated {
  Request request;
  std::int32_t retries = 0;
  std::int64_t emitted = 0;  ///< tokens that had come out of it here
};

/// One copy of the model on its GPUs: a batch state, a policy, a step pricer. Advances by single engine steps
/// or by stretches of them; a step is planned and priced at its start and takes effect at its end. The engine
/// owns the clock: it calls start_steps() when the replica is free and end_steps() when the time it returned
/// has come. A replica with a pipeline is several of these, one for each micro-batch in flight, over one
/// SequenceStore and one Pipeline; what concerns the queue may be asked of any of them.
class Replica : private PrefixLookup {
 public:
  Replica(const ReplicaConfig& config, std::unique_ptr<BatchPolicy> policy,
          std::shared_ptr<const StepPricer> pricer, SimulationObserver& observer);
  /// A micro-batch of a pipeline.
  Replica(const ReplicaConfig& config, std::unique_ptr<BatchPolicy> policy,
          std::shared_ptr<SequenceStore> store, std::shared_ptr<Pipeline> pipeline,
          SimulationObserver& observer);

  /// Whether the request can ever run: its prompt leaves room for a token in max_model_len.
  [[nodiscard]] bool accepts(const Request& request) const {
    return request.prompt.count() < config_.max_model_len;
  }
  /// Queues the request; false (and the observer is told why) when it can never run. Longer outputs are cut
  /// at max_model_len, as engines do.
  bool enqueue(const Request& request, std::int32_t retries = 0);
  /// Queues the prompt alone: with its first token it is handed over. `pushes`: each chunk is told as it
  /// begins. Precondition: accepts(request).
  void enqueue_prompt(const Request& request, std::int32_t retries, bool pushes);
  /// Queues a request whose KV comes from elsewhere. Precondition: accepts(request), and interrupt().
  SequenceId expect(const Request& request, const Expectation& expectation);

  /// What start_steps() led to.
  struct Start {
    std::optional<TimePoint> end;      ///< steps run until then, unless they are interrupted
    std::optional<TimePoint> wake_at;  ///< no step, but ask again then
  };
  /// Precondition: no step is running.
  Start start_steps(TimePoint now);
  /// To be called before a request is queued at `now`: if it could change the plan, a stretch ends with the
  /// step under way (or, where that one's successor is planned, with the successor), as it would have done if
  /// every step had been planned. Returns the new end, when there is
  /// one; it may be `now`, and then the steps must be ended before the request comes. `always`: whether it
  /// could or not; to be called before anything else is done to the queue or the blocks from outside.
  /// `has_decided`: a step that begins now has begun already, as replicas decide one after the other.
  std::optional<TimePoint> interrupt(TimePoint now, bool always = false, bool has_decided = false);
  /// Precondition: steps are running and end now.
  void end_steps();

  /// The simulation stops for good: of a running stretch, the steps that have ended by `now` take effect.
  void cut_off(TimePoint now);
  /// The replica breaks down: steps that have ended by `now` take effect, those under way do not, and nothing
  /// runs any more. To be called for each micro-batch, then evacuate() for one. O(running).
  void fail(TimePoint now);
  /// Empties queue and blocks. Returns what was there, by request; not what was handed over, whose KV is gone
  /// too. O(sequences).
  std::vector<Evacuated> evacuate(TimePoint now);

  [[nodiscard]] bool is_running() const { return running_.has_value(); }
  /// When the running steps end; nothing when none run.
  [[nodiscard]] std::optional<TimePoint> running_until() const {
    return running_ ? std::optional(running_->stretch.end()) : std::nullopt;
  }
  /// Steps that have begun get their blocks, and what they compute is cached. As interrupt() has it for
  /// `has_decided`.
  void settle_blocks(TimePoint now, bool has_decided);
  /// While steps run: as of the start of the first, its blocks taken.
  [[nodiscard]] const BatchState& state() const { return state_; }
  /// For KV that comes and goes. Precondition of a change: interrupt(now, true) of every micro-batch.
  [[nodiscard]] SequenceStore& store() { return state_.store(); }
  /// Of the queue that micro-batches share: those that wait for blocks or a seat, and not for KV from another
  /// replica; those swapped out included.
  [[nodiscard]] std::int64_t waiting() const {
    const SequenceStore& store = state_.store();
    return static_cast<std::int64_t>(store.waiting.size() + store.joining.size() + store.ready.size() +
                                     store.swapped.size() + loads_.size());
  }

  // --- KV that comes back from host memory and disk (replica_offload.cpp) ---
  /// When the next sequence has its KV; nothing when none waits for any.
  [[nodiscard]] std::optional<TimePoint> next_load_end() const {
    return loads_.empty() ? std::nullopt : std::optional(loads_.front().end);
  }
  /// Those that have it now wait to run. Precondition: interrupt(now, true).
  void end_loads(TimePoint now);
  /// nullptr without host memory.
  [[nodiscard]] const KvOffload* offload() const { return offload_.get(); }

  /// What went to host memory and back with sequences that were swapped out (replica_swap.cpp).
  [[nodiscard]] const KvSwapCounts& swap_counts() const { return swap_counts_; }

  /// Tokens emitted and prompt tokens run by steps that have ended by `now` but have not taken effect.
  struct Progress {
    std::int64_t emitted = 0;
    std::int64_t prefilled = 0;
    /// End of the step under way: until then it stays so, if nothing else changes. Nothing: longer.
    std::optional<TimePoint> until{};
  };
  [[nodiscard]] Progress progress(TimePoint now) const;

  /// Ids of the requests that left in the last start_steps() (rejected) or end_steps() (finished), ascending.
  [[nodiscard]] std::span<const std::int64_t> departed() const { return departed_; }
  /// Of the last end_steps(), by request.
  [[nodiscard]] std::span<const HandOver> handed_over() const { return handed_over_; }
  /// Of the last start_steps().
  [[nodiscard]] std::span<const LoadStart> load_starts() const { return load_starts_; }
  [[nodiscard]] std::span<const LoadStart> taken_back() const { return taken_back_; }
  [[nodiscard]] std::span<const PushedChunk> pushed() const { return pushed_; }
  /// Whether the last start_steps() gave back blocks or places in the queue.
  [[nodiscard]] bool gave_back() const { return gave_back_; }
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
    ContextTokens context_growth;
    std::int64_t kept_waiting = 0;  // when the first step started
    std::int64_t queued = 0;        // once it had
    std::int64_t prefill_tokens = 0;
    BlockCount held_blocks;  // during the first step
    std::int64_t steps_with_blocks = 1;
    bool is_stretch = false;
    bool ends_on_arrival = false;
  };
  /// Whether more than one step may be run for a plan, and how a single one is counted.
  struct Outlook {
    std::optional<Stability> stability;
    std::int64_t StepCounts::*otherwise;
  };
  /// How much of the plan has got its blocks.
  struct Booked {
    std::size_t preempted = 0, chunks = 0, admitted = 0, loads = 0;
    bool decode = false;
  };
  /// Of a sequence, from below the GPU.
  struct Load {
    SequenceId id = kNoSequence;
    PrefixSources found;
    TimePoint end;
  };
  static constexpr std::int64_t kShortestStretchOfChunks = 2;

  void tell_idle(TimePoint now);
  SequenceId queue(const Request& request, std::int64_t output_limit, std::int32_t retries);
  void note_joined();
  [[nodiscard]] bool was_planned_without(const SequenceStore::Joining& joining, TimePoint now) const;
  void let_join(TimePoint now);
  bool let_all_join();
  [[nodiscard]] std::int64_t cut_output(const Request& request);
  void take_in();
  [[nodiscard]] LoadStart load_start(SequenceId id) const;
  /// What the policy sees, with the prefixes that are cached where they are.
  [[nodiscard]] ReplicaView view_of(TimePoint now) {
    return {state_, now, state_.blocks().prefixes() == nullptr ? nullptr : this};
  }
  bool plan_something(TimePoint now);
  [[nodiscard]] bool plan_runs_a_step() const;
  bool spare_the_oldest();
  [[nodiscard]] bool waits_for_others() const;
  [[nodiscard]] Outlook outlook_of_plan(const ReplicaView& view) const;
  [[nodiscard]] bool pushes_a_chunk() const;
  [[nodiscard]] std::int64_t steps_before_a_prefill_ends() const;
  [[nodiscard]] std::int64_t kept_waiting(TimePoint now) const;
  void reject_unrunnable(TimePoint now);
  CachedPrefix find(const StepPlan& plan, SequenceId id) override;
  void book();
  void book_chunks(Sequence::State state);
  [[nodiscard]] std::int64_t decode_blocks_of_plan() const;
  void carry_out(TimePoint now);
  void note_pushed(SequenceId id, std::int64_t tokens, std::int64_t past);
  [[nodiscard]] StepShape shape_of_plan();
  void begin(TimePoint now, const Outlook& outlook);
  [[nodiscard]] std::int64_t stretch_steps(const StepLine& line, const Stability& stability);
  [[nodiscard]] std::int64_t steps_begun(TimePoint now, bool has_decided) const;
  void take_blocks_of_steps(std::int64_t steps);
  void take_blocks_up_to(std::int64_t steps);
  [[nodiscard]] std::int64_t worth_loading(SequenceId id, const CachedPrefix& cached) const;
  [[nodiscard]] Duration time_to_compute(std::int64_t tokens, std::int64_t past) const;
  void book_loads();
  bool spare_a_load();
  [[nodiscard]] std::int64_t tokens_to_draft() const;
  [[nodiscard]] std::int64_t prompt_tokens_ahead() const;
  void carry_out_preemptions(TimePoint now);
  void swap_in_planned(TimePoint now);
  void copy_swapped(std::int64_t blocks, TimePoint now);
  void note_later_blocks(StepRecord& record);
  void end_chunks(StepRecord& record);
  void finish_due(TimePoint now);

  ReplicaConfig config_;
  std::unique_ptr<BatchPolicy> policy_;
  std::shared_ptr<const StepPricer> pricer_;  // or, of a micro-batch,
  std::shared_ptr<Pipeline> pipeline_;
  SimulationObserver& observer_;
  BatchState state_;
  StepPlan plan_;
  Booked booked_;
  std::unique_ptr<KvOffload> offload_;  // stays where the blocks know it to be
  std::deque<Load> loads_;              // by their ends
  KvSwapCounts swap_counts_;
  TimePoint copied_at_;  // when all KV that was swapped is where it belongs: no step begins before
  std::optional<Running> running_;
  std::int64_t steps_ended_ = 0;
  std::optional<TimePoint> last_end_;  // of the last step; none since a failure
  std::vector<ChunkShape> chunk_shapes_;
  std::vector<ChunkShape> growing_chunks_;  // of the running stretch: those that take blocks as they grow
  std::vector<std::int64_t> held_rounds_;
  std::vector<TokenGap> gaps_;
  std::vector<QueueJoin> joined_;  // while the running steps ran
  QueueJoin next_join_;            // as of the last interrupt()
  std::vector<std::int64_t> departed_;
  std::vector<HandOver> handed_over_;
  std::vector<LoadStart> load_starts_;
  std::vector<LoadStart> taken_back_;
  std::vector<PushedChunk> pushed_;
  bool gave_back_ = false;
  std::int64_t preempted_before_ = 0;  // since the last step, by plans that ran none
  std::int64_t swapped_before_ = 0;    // ... of them, to host memory
  std::vector<SequenceId> finished_;
  std::int64_t completed_ = 0;
  std::int64_t rejected_ = 0;
  std::int64_t truncated_ = 0;
  StepCounts counts_;
};

}  // namespace inferometer
