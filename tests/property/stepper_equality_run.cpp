#include "tests/property/stepper_equality_run.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tests/support/random_content.hpp"

namespace inferometer::testing {
namespace {

/// What policy and pricer said of the steps that run.
struct Notes {
  std::optional<Stability> stability;
  mutable std::optional<StepLine> line;
  mutable std::int64_t loading = 0;  // sequences whose KV is on its way from host memory, as the steps begin
  std::vector<StepPlan::Chunk> chunks;
  std::int64_t beside_queue = 0;  // plans of chunks that are not promised while somebody waits
  const Simulation* simulation = nullptr;
};

std::int64_t loading(const Simulation& simulation) {
  const std::vector<Sequence>& sequences = simulation.lanes().front().state().store().sequences;
  return std::count_if(sequences.begin(), sequences.end(),
                       [](const Sequence& s) { return s.state == Sequence::State::loading; });
}

class NotedPolicy : public BatchPolicy {
 public:
  NotedPolicy(std::unique_ptr<BatchPolicy> policy, Notes& notes)
      : policy_(std::move(policy)), notes_(notes) {}

  void plan(const ReplicaView& view, StepPlan& plan) override {
    policy_->plan(view, plan);
    notes_.chunks = plan.chunks;
    notes_.stability.reset();
    notes_.line.reset();
  }
  [[nodiscard]] Stability stability(const ReplicaView& view, const StepPlan& plan) const override {
    notes_.stability = policy_->stability(view, plan);
    const bool is_promised = notes_.stability->steps > 1;
    notes_.beside_queue += !is_promised && !plan.chunks.empty() && !view.waiting().empty() ? 1 : 0;
    return *notes_.stability;
  }
  void on_finished(const ReplicaView& view, SequenceId id) override { policy_->on_finished(view, id); }
  [[nodiscard]] RunningOrder running_order() const override { return policy_->running_order(); }
  [[nodiscard]] std::int64_t queue_rank(const Sequence& sequence) const override {
    return policy_->queue_rank(sequence);
  }
  [[nodiscard]] Requeue requeue() const override { return policy_->requeue(); }

 private:
  std::unique_ptr<BatchPolicy> policy_;
  Notes& notes_;
};

class NotedPricer : public StepPricer {
 public:
  NotedPricer(std::shared_ptr<const StepPricer> pricer, const Notes& notes)
      : pricer_(std::move(pricer)), notes_(notes) {}

  [[nodiscard]] StepCost price(const StepShape& shape) const override { return pricer_->price(shape); }
  [[nodiscard]] std::optional<StepLine> line(const StepShape& shape,
                                             const ContextTokens& growth) const override {
    notes_.line = pricer_->line(shape, growth);
    notes_.loading = loading(*notes_.simulation);
    return notes_.line;
  }

 private:
  std::shared_ptr<const StepPricer> pricer_;
  const Notes& notes_;
};

class Watcher : public SimulationObserver {
 public:
  Watcher(const RandomDeployment& deployment, const Notes& notes, SeenRun& run)
      : deployment_(deployment), notes_(notes), run_(run) {}

  void on_arrival(const Request& request, std::int64_t waiting) override {
    run_.recorder.on_arrival(request, waiting);
    run_.sketch.on_arrival(request, waiting);
    run_.arrivals.push_back(request.arrival);
    const SequenceStore& store = state().store();
    const auto queued =
        static_cast<std::int64_t>(store.waiting.size() + store.joining.size() + store.swapped.size());
    require(waiting == queued + loading(*notes_.simulation), "an arrival is told who waits");
  }
  void on_rejected(const RejectedRequest& request) override {
    run_.recorder.on_rejected(request);
    run_.sketch.on_rejected(request);
    run_.rejected.push_back(request);
  }
  void on_finished(const FinishedRequest& request) override {
    run_.recorder.on_finished(request);
    run_.sketch.on_finished(request);
    run_.finished.push_back(request);
  }
  // The state is that of the end, and nobody who is done has left yet.
  void on_steps(const StepRecord& record) override {
    run_.recorder.on_steps(record);
    run_.sketch.on_steps(record);
    require(record.held_blocks.count() <= record.held_during(record.stretch.steps() - 1),
            "blocks only get more within a stretch");
    require(record.held_during(record.stretch.steps() - 1) == state().blocks().held().count(),
            "the last step held what is held at its end");
    visit_steps(record, [this](const StepRecord& step) { run_.steps.push_back(seen_step(step)); });
    if (notes_.line) {
      check_sums();
      run_.stretches.push_back(stretch_of(record));
    }
    require(record.stretch.steps() == 1 || notes_.line.has_value(), "many steps at once need a line");
  }

 private:
  [[nodiscard]] const Replica& replica() const { return notes_.simulation->lanes().front(); }
  [[nodiscard]] const BatchState& state() const { return replica().state(); }

  void require(bool holds, const char* sentence) {
    if (!holds && run_.broken.empty()) {
      run_.broken = std::string(sentence) + ", at step " + std::to_string(run_.steps.size());
    }
  }

  void check_sums() {
    std::int64_t held = 0;
    ContextTokens context;
    for (SequenceId id = state().head(); id != kNoSequence; id = state().sequence(id).next) {
      held += own_blocks(state().store(), id, state().held_blocks(id));
      const bool decodes = state().sequence(id).state == Sequence::State::decoding;
      if (decodes) {
        context += state().decodes().attended(state().computed(id));
      }
    }
    for (const SequenceId id : state().waiting()) {
      held += own_blocks(state().store(), id, state().held_blocks(id));
    }
    const std::vector<Sequence>& sequences = state().store().sequences;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const bool loads = sequences[i].state == Sequence::State::loading;
      held += loads ? own_blocks(state().store(), static_cast<SequenceId>(i), sequences[i].held_blocks) : 0;
    }
    held = held_with_cached(state().store(), held);
    require(held == state().blocks().held().count(), "blocks held are those of the sequences");
    require(context == state().decodes().context(), "the context is the sum over the decoding sequences");
  }

  SeenStretch stretch_of(const StepRecord& record) {
    const Stretch& stretch = record.stretch;
    SeenStretch entry;
    entry.start = stretch.start();
    entry.end = stretch.end();
    // Who comes during a step ends the stretch with it, or where the next one is planned by then, with that.
    const std::int64_t lag = deployment_.setup.plans_ahead ? 1 : 0;
    const auto end_of = [&](std::int64_t steps) {
      return stretch.start() + stretch.time_of(std::max<std::int64_t>(0, steps));
    };
    entry.too_early = end_of(stretch.steps() - 1 - lag);
    entry.last_heard = end_of(stretch.steps() - lag);
    entry.steps = stretch.steps();
    entry.has_chunks = !record.shape.chunks.empty();
    entry.has_decodes = record.decodes > 0;
    entry.ends_on_arrival = notes_.stability->ends_on_arrival;
    const auto set = [&](Limit limit, bool reached) {
      entry.limits[static_cast<std::size_t>(limit)] = reached;
    };
    set(Limit::finish, someone_is_done());
    set(Limit::prefill, next_chunk_ends_a_prefill());
    set(Limit::blocks, blocks_of_next_step() > state().blocks().free().count());
    set(Limit::window,
        record.context_growth != (record.decodes > 0 ? state().decodes().context_growth() : ContextTokens{}));
    require(stretch.steps() <= notes_.stability->steps, "a stretch is no longer than the policy promised");
    set(Limit::promise, stretch.steps() == notes_.stability->steps);
    set(Limit::host_load,
        loading(*notes_.simulation) < notes_.loading || replica().next_load_end() == stretch.end());
    if (stretch.steps() == notes_.line->steps) {
      set_bend(record, entry);
    }
    return entry;
  }

  [[nodiscard]] bool someone_is_done() const {
    for (SequenceId id = state().head(); id != kNoSequence; id = state().sequence(id).next) {
      if (state().emitted(id) == state().sequence(id).output) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool next_chunk_ends_a_prefill() const {
    return std::any_of(notes_.chunks.begin(), notes_.chunks.end(), [this](const StepPlan::Chunk& chunk) {
      return state().tokens(chunk.id) - state().computed(chunk.id) <= chunk.tokens;
    });
  }

  [[nodiscard]] std::int64_t blocks_of_next_step() const {
    std::int64_t blocks = 0;
    for (SequenceId id = state().head(); id != kNoSequence; id = state().sequence(id).next) {
      const Sequence& sequence = state().sequence(id);
      if (sequence.state == Sequence::State::decoding && sequence.grows &&
          state().computed(id) % state().blocks().block_size() == 0) {
        ++blocks;
      }
    }
    for (const StepPlan::Chunk& chunk : notes_.chunks) {
      const std::int64_t needed =
          ceil_div(state().computed(chunk.id) + chunk.tokens, state().blocks().block_size());
      blocks += std::max<std::int64_t>(0, needed - state().held_blocks(chunk.id));
    }
    return blocks;
  }

  /// Whether the fullest rank of attention gets a whole number of tokens more with each step.
  [[nodiscard]] bool is_shared_evenly(const StepRecord& record) const {
    const std::int64_t decodes = record.shape.decodes;
    const std::int64_t of_rank = ceil_div(decodes, deployment_.attention_ranks);
    return record.shape.chunks.empty() &&
           (decodes == 0 || (record.context_growth.full * of_rank % decodes == 0 &&
                             record.context_growth.windowed * of_rank % decodes == 0));
  }

  /// The pricer ended its line here: it must have had to.
  void set_bend(const StepRecord& record, SeenStretch& entry) {
    const StepLine& line = *notes_.line;
    const std::int64_t next = line.steps;
    std::vector<ChunkShape> chunks(record.shape.chunks.begin(), record.shape.chunks.end());
    for (ChunkShape& chunk : chunks) {
      chunk.past += chunk.tokens * next;
    }
    StepShape shape = record.shape;
    shape.chunks = chunks;
    shape.add_context(record.context_growth * next);
    const bool bends = deployment_.pricer->price(shape) != line.first + line.growth * next;
    const bool windowed_chunks = !chunks.empty() && deployment_.setup.window.has_value();
    // A chunk at its window may bend a roof that is not the higher one; measured prices may go on as they
    // were beyond a knot, and those of the fullest rank where the context is shared out with another
    // remainder.
    const bool has_knots = deployment_.pricer->basis().level == CostLevel::calibrated;
    const bool is_shared_out = deployment_.attention_ranks > 1 && !is_shared_evenly(record);
    require(bends || windowed_chunks || has_knots || is_shared_out,
            "a line goes on as long as prices lie on it");
    Limit limit = windowed_chunks ? Limit::chunk_window : Limit::roof;
    if ((line.first.host + line.growth.host * next).count() < 0) {
      limit = Limit::host;
    }
    entry.limits[static_cast<std::size_t>(limit)] = true;
  }

  const RandomDeployment& deployment_;
  const Notes& notes_;
  SeenRun& run_;
};

std::int64_t steps_of(const StepCounts& counts) {
  return counts.in_stretches + counts.single();
}

/// Every step is counted once, and run alone only for a reason.
void check_counts(const RandomDeployment& deployment, const Notes& notes, SeenRun& run) {
  std::int64_t steps = 0;
  for (const SeenStretch& stretch : run.stretches) {
    steps += stretch.steps;
  }
  const StepCounts& counts = run.counts;
  const bool alike = counts.stretches == static_cast<std::int64_t>(run.stretches.size()) &&
                     counts.in_stretches == steps &&
                     steps_of(counts) == static_cast<std::int64_t>(run.steps.size());
  // These say nothing of some plans: SGLang's of prompts and of an open batch, TensorRT-LLM's of prompts.
  const bool is_reticent = deployment.setup.policy == "sglang" || deployment.setup.policy == "trtllm";
  const bool speaks = !is_reticent && (deployment.promise == RandomDeployment::Promise::own ||
                                       deployment.promise == RandomDeployment::Promise::resting);
  // Chunks that run may put into the prefix cache what who waits begins with.
  const std::int64_t may_find_more =
      deployment.replica(Stepper::fast).caches_prefixes ? notes.beside_queue : 0;
  const bool reasons =
      (counts.unpromised == may_find_more || !speaks) && (counts.without_line == 0 || !deployment.has_line);
  if (!(alike && reasons) && run.broken.empty()) {
    run.broken = alike ? "a step runs alone for no reason" : "the counts of steps add up";
  }
}

/// Arrivals are told before the end of the stretch they come in, so they are looked up afterwards.
void add_arrivals(SeenRun& run) {
  for (SeenStretch& stretch : run.stretches) {
    const auto first = std::upper_bound(run.arrivals.begin(), run.arrivals.end(), stretch.start);
    const bool came = first != run.arrivals.end() && *first <= stretch.last_heard;
    if (!stretch.ends_on_arrival || !came) {
      continue;
    }
    if (*first <= stretch.too_early && run.broken.empty()) {
      run.broken = "an arrival ends the stretch with the step under way";
    }
    const Limit limit = *first == stretch.end ? Limit::arrival_at_end : Limit::arrival;
    stretch.limits[static_cast<std::size_t>(limit)] = true;
  }
  for (const SeenStretch& stretch : run.stretches) {
    if (std::count(stretch.limits.begin(), stretch.limits.end(), true) == 0 && run.broken.empty()) {
      run.broken = "a stretch ends where something limits it, not at " +
                   std::to_string(stretch.end.since_start().count()) + " ps";
    }
  }
}

}  // namespace

SeenStep seen_step(const StepRecord& step) {
  SeenStep entry;
  entry.start = step.stretch.start();
  entry.end = step.stretch.end();
  entry.cost = step.stretch.cost();
  entry.shape_decodes = step.shape.decodes;
  entry.decode_context = step.shape.decode_context;
  entry.decode_window_context = step.shape.decode_window_context;
  entry.sampled_rows = step.shape.sampled_rows;
  for (const ChunkShape& chunk : step.shape.chunks) {
    entry.chunks.insert(entry.chunks.end(), {chunk.tokens, chunk.past});
  }
  entry.decodes = step.decodes;
  entry.prefill_tokens = step.prefill_tokens;
  entry.emitted = step.emitted;
  entry.running = step.running;
  entry.preempted = step.preempted;
  entry.held_blocks = step.held_blocks.count();
  entry.queries = step.shape.queries;
  entry.accepted = step.drafted.accepted_tokens;
  std::map<std::int64_t, std::int64_t> gaps;
  for (const TokenGap& gap : step.gaps) {
    gaps[gap.gap.count()] += gap.count;
  }
  for (const auto& [gap, count] : gaps) {
    entry.gaps.insert(entry.gaps.end(), {gap, count});
  }
  return entry;
}

SeenRun run_seen(const RandomDeployment& deployment, Stepper stepper) {
  SeenRun run;
  run.recorder = MetricsRecorder(1, deployment.work);
  run.sketch = MetricsRecorder(1, deployment.work,
                               {.percentiles = Percentiles::sketch, .keep_records = false, .limits = {}});
  Notes notes;
  Watcher watcher(deployment, notes, run);
  std::vector<Replica> replicas;
  replicas.emplace_back(deployment.replica(stepper),
                        std::make_unique<NotedPolicy>(deployment.policy(), notes),
                        std::make_shared<NotedPricer>(deployment.pricer, notes), watcher);
  Simulation simulation(deployment.workload(), std::move(replicas), watcher);
  notes.simulation = &simulation;
  simulation.run();
  run.census = simulation.census();
  const Replica& replica = simulation.lanes().front();
  run.counts = replica.step_counts();
  run.offload = replica.offload() == nullptr ? KvOffloadCounts{} : replica.offload()->counts();
  add_arrivals(run);
  check_counts(deployment, notes, run);
  return run;
}

}  // namespace inferometer::testing
