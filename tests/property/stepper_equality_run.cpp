#include "tests/property/stepper_equality_run.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace inferometer::testing {
namespace {

/// What policy and pricer said of the steps that run.
struct Notes {
  std::optional<Stability> stability;
  mutable std::optional<StepLine> line;
  std::vector<StepPlan::Chunk> chunks;
};

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
    return *notes_.stability;
  }
  void on_finished(const ReplicaView& view, SequenceId id) override { policy_->on_finished(view, id); }
  [[nodiscard]] RunningOrder running_order() const override { return policy_->running_order(); }

 private:
  std::unique_ptr<BatchPolicy> policy_;
  Notes& notes_;
};

class NotedPricer : public StepPricer {
 public:
  NotedPricer(std::shared_ptr<const StepPricer> pricer, const Notes& notes)
      : pricer_(std::move(pricer)), notes_(notes) {}

  [[nodiscard]] StepCost price(const StepShape& shape) const override { return pricer_->price(shape); }
  [[nodiscard]] std::optional<StepLine> line(const StepShape& shape, std::int64_t growth) const override {
    notes_.line = pricer_->line(shape, growth);
    return notes_.line;
  }

 private:
  std::shared_ptr<const StepPricer> pricer_;
  const Notes& notes_;
};

SeenStep seen(const StepRecord& step) {
  SeenStep entry;
  entry.start = step.stretch.start();
  entry.end = step.stretch.end();
  entry.cost = step.stretch.cost();
  entry.shape_decodes = step.shape.decodes;
  entry.decode_context = step.shape.decode_context;
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
  std::map<std::int64_t, std::int64_t> gaps;
  for (const TokenGap& gap : step.gaps) {
    gaps[gap.gap.count()] += gap.count;
  }
  for (const auto& [gap, count] : gaps) {
    entry.gaps.insert(entry.gaps.end(), {gap, count});
  }
  return entry;
}

class Watcher : public SimulationObserver {
 public:
  Watcher(const RandomDeployment& deployment, const Notes& notes, SeenRun& run)
      : deployment_(deployment), notes_(notes), run_(run) {}

  const Simulation* simulation = nullptr;

  void on_arrival(const Request& request, std::int64_t waiting) override {
    run_.recorder.on_arrival(request, waiting);
    run_.arrivals.push_back(request.arrival);
    require(waiting == static_cast<std::int64_t>(state().waiting().size()), "an arrival is told who waits");
  }
  void on_rejected(const RejectedRequest& request) override {
    run_.recorder.on_rejected(request);
    run_.rejected.push_back(request);
  }
  void on_finished(const FinishedRequest& request) override {
    run_.recorder.on_finished(request);
    run_.finished.push_back(request);
  }
  // The state is that of the end, and nobody who is done has left yet.
  void on_steps(const StepRecord& record) override {
    run_.recorder.on_steps(record);
    require(record.held_blocks.count() <= record.held_during(record.stretch.steps() - 1),
            "blocks only get more within a stretch");
    require(record.held_during(record.stretch.steps() - 1) == state().blocks().held().count(),
            "the last step held what is held at its end");
    visit_steps(record, [this](const StepRecord& step) { run_.steps.push_back(seen(step)); });
    if (notes_.line) {
      check_sums();
      run_.stretches.push_back(stretch_of(record));
    }
    require(record.stretch.steps() == 1 || notes_.line.has_value(), "many steps at once need a line");
  }

 private:
  [[nodiscard]] const BatchState& state() const { return simulation->replicas().front().state(); }

  void require(bool holds, const char* sentence) {
    if (!holds && run_.broken.empty()) {
      run_.broken = std::string(sentence) + ", at step " + std::to_string(run_.steps.size());
    }
  }

  void check_sums() {
    std::int64_t held = 0;
    std::int64_t context = 0;
    for (SequenceId id = state().head(); id != kNoSequence; id = state().sequence(id).next) {
      held += state().held_blocks(id);
      const bool decodes = state().sequence(id).state == Sequence::State::decoding;
      context += decodes ? state().decodes().attended(state().computed(id)) : 0;
    }
    require(held == state().blocks().held().count(), "blocks held are those of the running sequences");
    require(context == state().decodes().context(), "the context is the sum over the decoding sequences");
  }

  SeenStretch stretch_of(const StepRecord& record) {
    const Stretch& stretch = record.stretch;
    SeenStretch entry;
    entry.start = stretch.start();
    entry.end = stretch.end();
    entry.last_start = stretch.start() + stretch.time_of(stretch.steps() - 1);
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
        record.context_growth != (record.decodes > 0 ? state().decodes().context_growth() : 0));
    require(stretch.steps() <= notes_.stability->steps, "a stretch is no longer than the policy promised");
    set(Limit::promise, stretch.steps() == notes_.stability->steps);
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
    shape.decode_context += record.context_growth * next;
    const bool bends = deployment_.pricer->price(shape) != line.first + line.growth * next;
    const bool windowed_chunks = !chunks.empty() && deployment_.setup.window.has_value();
    // A chunk at its window may bend a roof that is not the higher one.
    require(bends || windowed_chunks, "a line goes on as long as prices lie on it");
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
void check_counts(const RandomDeployment& deployment, SeenRun& run) {
  std::int64_t steps = 0;
  for (const SeenStretch& stretch : run.stretches) {
    steps += stretch.steps;
  }
  const StepCounts& counts = run.counts;
  const bool alike = counts.stretches == static_cast<std::int64_t>(run.stretches.size()) &&
                     counts.in_stretches == steps &&
                     steps_of(counts) == static_cast<std::int64_t>(run.steps.size());
  const bool speaks = deployment.promise == RandomDeployment::Promise::own ||
                      deployment.promise == RandomDeployment::Promise::resting;
  const bool reasons =
      (counts.unpromised == 0 || !speaks) && (counts.without_line == 0 || !deployment.has_line);
  if (!(alike && reasons) && run.broken.empty()) {
    run.broken = alike ? "a step runs alone for no reason" : "the counts of steps add up";
  }
}

/// Arrivals are told before the end of the stretch they come in, so they are looked up afterwards.
void add_arrivals(SeenRun& run) {
  for (SeenStretch& stretch : run.stretches) {
    const auto first = std::upper_bound(run.arrivals.begin(), run.arrivals.end(), stretch.start);
    const bool came = first != run.arrivals.end() && *first <= stretch.end;
    if (!stretch.ends_on_arrival || !came) {
      continue;
    }
    if (*first <= stretch.last_start && run.broken.empty()) {
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

// --- comparing ---

void append(std::string& text, const char* name, std::int64_t value) {
  text += std::string(" ") + name + " " + std::to_string(value);
}

std::string text_of(const SeenStep& step) {
  std::string text;
  append(text, "start", step.start.since_start().count());
  append(text, "end", step.end.since_start().count());
  append(text, "compute", step.cost.compute.count());
  append(text, "bandwidth", step.cost.bandwidth.count());
  append(text, "latency", step.cost.latency.count());
  append(text, "communication", step.cost.communication.count());
  append(text, "host", step.cost.host.count());
  append(text, "shape.decodes", step.shape_decodes);
  append(text, "context", step.decode_context);
  append(text, "rows", step.sampled_rows);
  append(text, "prefill", step.prefill_tokens);
  append(text, "decodes", step.decodes);
  append(text, "emitted", step.emitted);
  append(text, "running", step.running);
  append(text, "preempted", step.preempted);
  append(text, "held", step.held_blocks);
  for (const std::int64_t value : step.chunks) {
    append(text, "chunk", value);
  }
  for (const std::int64_t value : step.gaps) {
    append(text, "gap", value);
  }
  return text;
}

std::string compare_steps(const SeenRun& got, const SeenRun& expected) {
  for (std::size_t i = 0; i < std::min(got.steps.size(), expected.steps.size()); ++i) {
    if (got.steps[i] != expected.steps[i]) {
      return "step " + std::to_string(i) + "\n got" + text_of(got.steps[i]) + "\n not" +
             text_of(expected.steps[i]);
    }
  }
  return got.steps.size() == expected.steps.size() ? "" : "number of steps";
}

bool same(const FinishedRequest& a, const FinishedRequest& b) {
  return a.id == b.id && a.session == b.session && a.arrival == b.arrival && a.admitted == b.admitted &&
         a.first_token == b.first_token && a.finished == b.finished && a.prompt == b.prompt &&
         a.output == b.output && a.preemptions == b.preemptions && a.max_new == b.max_new;
}

std::string compare_requests(const SeenRun& got, const SeenRun& expected) {
  if (got.finished.size() != expected.finished.size() || got.rejected.size() != expected.rejected.size()) {
    return "number of requests finished or rejected";
  }
  for (std::size_t i = 0; i < got.finished.size(); ++i) {
    if (!same(got.finished[i], expected.finished[i])) {
      return "finished request number " + std::to_string(i);
    }
  }
  for (std::size_t i = 0; i < got.rejected.size(); ++i) {
    const RejectedRequest& a = got.rejected[i];
    const RejectedRequest& b = expected.rejected[i];
    if (a.id != b.id || a.arrival != b.arrival || a.rejected != b.rejected || a.prompt != b.prompt) {
      return "rejected request number " + std::to_string(i);
    }
  }
  return got.arrivals == expected.arrivals ? "" : "arrivals";
}

bool same(const PhaseTotals& a, const PhaseTotals& b) {
  const bool same_work =
      a.work.has_value() == b.work.has_value() &&
      (!a.work || (a.work->flops() == b.work->flops() && a.work->hbm_bytes() == b.work->hbm_bytes()));
  return same_work && a.steps == b.steps && a.cost == b.cost && a.prefill_tokens == b.prefill_tokens &&
         a.decode_tokens == b.decode_tokens;
}

bool same(const LevelTotals& a, const LevelTotals& b) {
  return a.integral == b.integral && a.peak == b.peak;
}

bool same(const ArrivalTotals& a, const ArrivalTotals& b) {
  return a.count == b.count && a.first == b.first && a.last == b.last && a.squared_gaps == b.squared_gaps &&
         a.in_system.kept() == b.in_system.kept() && a.in_system.stride() == b.in_system.stride() &&
         a.waiting_at_last == b.waiting_at_last;
}

bool same(const std::optional<DurationStatistics>& a, const std::optional<DurationStatistics>& b) {
  if (!a || !b) {
    return a.has_value() == b.has_value();
  }
  return a->count == b->count && a->mean_ms == b->mean_ms && a->std_ms == b->std_ms &&
         a->min_ms == b->min_ms && a->max_ms == b->max_ms && a->median_ms == b->median_ms &&
         a->p50_ms == b->p50_ms && a->p90_ms == b->p90_ms && a->p95_ms == b->p95_ms && a->p99_ms == b->p99_ms;
}

std::string compare_totals(const RunTotals& a, const RunTotals& b) {
  const std::vector<std::pair<const char*, bool>> parts = {
      {"prefill steps", same(a.phases[0], b.phases[0])},
      {"decode steps", same(a.phases[1], b.phases[1])},
      {"mixed steps", same(a.phases[2], b.phases[2])},
      {"held blocks", same(a.held_blocks, b.held_blocks)},
      {"decodes", same(a.decodes, b.decodes)},
      {"running", same(a.running, b.running)},
      {"arrivals", same(a.arrivals, b.arrivals)},
      {"most waiting", a.max_waiting == b.max_waiting},
      {"preemptions", a.preemptions == b.preemptions},
      {"emitted", a.emitted == b.emitted},
      {"in the system", a.in_system == b.in_system},
      {"stays", a.stays == b.stays},
      {"most in the system", a.max_in_system == b.max_in_system},
      {"most emitted in a second", a.max_emitted_per_second == b.max_emitted_per_second},
      {"last event", a.last_event == b.last_event},
      {"waiting", a.waiting_integral() == b.waiting_integral()},
  };
  for (const auto& [name, is_same] : parts) {
    if (!is_same) {
      return std::string("totals: ") + name;
    }
  }
  return "";
}

std::string compare_gaps(const DurationDistribution& a, const DurationDistribution& b) {
  if (a.count() != b.count() || a.sum() != b.sum()) {
    return "gaps: number or sum";
  }
  for (const PercentileRule rule : {PercentileRule::linear, PercentileRule::floor_of_rank}) {
    if (!same(a.statistics(rule), b.statistics(rule))) {
      return "gaps: statistics";
    }
  }
  return "";
}

std::string compare_ends(const SeenRun& got, const SeenRun& expected) {
  const Census& a = got.census;
  const Census& b = expected.census;
  const bool same_census = a.injected == b.injected && a.completed == b.completed && a.running == b.running &&
                           a.waiting == b.waiting && a.rejected == b.rejected;
  if (!same_census) {
    return "census";
  }
  return steps_of(got.counts) == steps_of(expected.counts) ? "" : "counts of steps";
}

}  // namespace

SeenRun run_seen(const RandomDeployment& deployment, Stepper stepper) {
  SeenRun run;
  run.recorder = MetricsRecorder(1, deployment.work);
  Notes notes;
  Watcher watcher(deployment, notes, run);
  std::vector<Replica> replicas;
  replicas.emplace_back(deployment.replica(stepper),
                        std::make_unique<NotedPolicy>(deployment.policy(), notes),
                        std::make_shared<NotedPricer>(deployment.pricer, notes), watcher);
  Simulation simulation(deployment.workload(), std::move(replicas), watcher);
  watcher.simulation = &simulation;
  simulation.run();
  run.census = simulation.census();
  run.counts = simulation.replicas().front().step_counts();
  add_arrivals(run);
  check_counts(deployment, run);
  return run;
}

std::string first_difference(const SeenRun& got, const SeenRun& expected) {
  for (const std::string& difference :
       {compare_steps(got, expected), compare_requests(got, expected),
        compare_totals(got.recorder.totals(), expected.recorder.totals()),
        compare_gaps(got.recorder.gaps(), expected.recorder.gaps()), compare_ends(got, expected)}) {
    if (!difference.empty()) {
      return difference;
    }
  }
  return "";
}

}  // namespace inferometer::testing
