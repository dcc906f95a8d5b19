#include "sim/replica/replica.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"
#include "sim/batch/block_demand.hpp"

namespace inferometer {
namespace {

/// Until the end of simulated time. Throws ConfigError for a step that ends behind it.
Duration time_left(TimePoint now, Duration step) {
  INFEROMETER_CHECK(step.count() >= 1, "a step takes time");
  constexpr Duration kEndOfTime = seconds(static_cast<std::int64_t>(kEndOfTimeSeconds));
  const Duration left = kEndOfTime - now.since_start();
  if (step > left) {
    throw ConfigError(
        Position{"workload"},
        "the simulation would go on past 106 days, the end of simulated time; fewer requests, a "
        "higher rate or a faster deployment end sooner");
  }
  return left;
}

}  // namespace

std::string_view to_string(Stepper stepper) {
  return stepper == Stepper::fast ? "fast" : "reference";
}

Replica::Replica(const ReplicaConfig& config, std::unique_ptr<BatchPolicy> policy,
                 std::shared_ptr<const StepPricer> pricer, SimulationObserver& observer)
    : Replica(config, std::move(policy),
              std::make_shared<SequenceStore>(config.blocks, config.block_size, config.caches_prefixes),
              nullptr, observer) {
  pricer_ = std::move(pricer);
}

Replica::Replica(const ReplicaConfig& config, std::unique_ptr<BatchPolicy> policy,
                 std::shared_ptr<SequenceStore> store, std::shared_ptr<Pipeline> pipeline,
                 SimulationObserver& observer)
    : config_(config),
      policy_(std::move(policy)),
      pipeline_(std::move(pipeline)),
      observer_(observer),
      state_(std::move(store), config.attention_window, policy_->running_order()) {
  INFEROMETER_CHECK(blocks_for(TokenCount(config.max_model_len), config.block_size) <= config.blocks,
                    "one sequence of max_model_len fits into the KV cache");
  if (config.speculation) {
    INFEROMETER_CHECK(pipeline_ == nullptr, "stages of a pipeline do not speculate");
    state_.speculate(*config.speculation, config.max_model_len);
  }
  state_.store().requeue = policy_->requeue();
  if (config_.swap) {
    INFEROMETER_CHECK(pipeline_ == nullptr || pipeline_->stages() == 1, "stages would copy at other times");
    INFEROMETER_CHECK(!config_.caches_prefixes, "blocks are one sequence's alone");
    state_.store().swap_blocks = config_.swap->blocks;
  }
  if (config_.offload) {
    INFEROMETER_CHECK(pipeline_ == nullptr && config_.caches_prefixes, "what is kept is found again");
    offload_ = std::make_unique<KvOffload>(*config_.offload);
    state_.store().pool.prefixes()->keep_with(offload_.get());
  }
}

void Replica::tell_idle(TimePoint now) {
  observer_.on_idle({.replica = config_.index,
                     .lane = config_.lane,
                     .time = now,
                     .running = state_.running_count(),
                     .waiting = waiting(),
                     .held_blocks = state_.blocks().held()});
}

Replica::Start Replica::start_steps(TimePoint now) {
  INFEROMETER_CHECK(!running_, "a replica runs one step at a time");
  departed_.clear();
  load_starts_.clear();
  taken_back_.clear();
  pushed_.clear();
  gave_back_ = false;
  if (offload_) {
    offload_->set_time(now);
  }
  let_join(now);
  if (!plan_something(now) && !(let_all_join() && plan_something(now))) {
    const bool idle =
        state_.running_count() == 0 && state_.waiting().empty() && state_.store().swapped.empty();
    INFEROMETER_CHECK(idle || plan_.wake_at || waits_for_others(),
                      "a policy leaves no sequence waiting for nothing");
    tell_idle(now);
    return {std::nullopt, idle ? std::nullopt : plan_.wake_at};
  }
  const Outlook outlook = outlook_of_plan(view_of(now));
  const std::int64_t kept = kept_waiting(now);
  carry_out(now);
  begin(now, outlook);
  running_->kept_waiting = kept;
  running_->queued = waiting();
  joined_.clear();
  return {running_->stretch.end(), std::nullopt};
}

Replica::Outlook Replica::outlook_of_plan(const ReplicaView& view) const {
  if (config_.stepper == Stepper::reference) {
    return {std::nullopt, &StepCounts::by_reference};
  }
  if (state_.speculates()) {
    return {std::nullopt, &StepCounts::speculating};
  }
  const bool changes_batch =
      !plan_.admitted.empty() || !plan_.preempted.empty() || !plan_.rejected.empty() ||
      !plan_.loads.empty() || !plan_.swapped_in.empty() || copied_at_ > view.now() ||
      !state_.store().joining.empty() || !plan_.decode_except.empty() || plan_.padding.chunk_tokens > 0 ||
      (!plan_.decode && state_.decodes().count() > 0) || pipeline_ != nullptr || pushes_a_chunk();
  // Prompts whose KV is to come need fewer blocks once chunks of others have cached the same tokens.
  const bool caches_for_expected =
      state_.blocks().prefixes() != nullptr && !plan_.chunks.empty() && !state_.store().expected.empty();
  if (changes_batch || caches_for_expected || steps_before_a_prefill_ends() < kShortestStretchOfChunks) {
    return {std::nullopt, &StepCounts::changing_batch};
  }
  const Stability stability = policy_->stability(view, plan_);
  if (stability.steps <= 1) {
    return {std::nullopt, &StepCounts::unpromised};
  }
  return {stability, &StepCounts::without_line};
}

bool Replica::pushes_a_chunk() const {
  return std::any_of(plan_.chunks.begin(), plan_.chunks.end(),
                     [this](const StepPlan::Chunk& chunk) { return state_.sequence(chunk.id).pushes; });
}

std::int64_t Replica::steps_before_a_prefill_ends() const {
  std::int64_t steps = Stability::kUntilChange;
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    const std::int64_t left = state_.tokens(chunk.id) - state_.computed(chunk.id);
    INFEROMETER_CHECK(chunk.tokens >= 1, "a chunk has tokens");
    steps = std::min(steps, (left - 1) / chunk.tokens);
  }
  return steps;
}

void Replica::carry_out(TimePoint now) {
  book();
  carry_out_preemptions(now);
  swap_in_planned(now);
  for (const StepPlan::Admission& admission : plan_.admitted) {
    state_.admit(admission.id, now);
    if (admission.cached_tokens > 0) {
      note_pushed(admission.id, admission.cached_tokens, 0);
    }
  }
  for (const StepPlan::Admission& load : plan_.loads) {
    state_.begin_load(load.id);
  }
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    note_pushed(chunk.id, chunk.tokens, state_.computed(chunk.id));
  }
  if (plan_.decode) {
    for (const SequenceId id : plan_.decode_except) {
      state_.suspend_decode(id);
    }
  }
}

void Replica::note_pushed(SequenceId id, std::int64_t tokens, std::int64_t past) {
  if (state_.sequence(id).pushes) {
    pushed_.push_back({state_.sequence(id).request_id, tokens, past});
  }
}

StepShape Replica::shape_of_plan() {
  chunk_shapes_.clear();
  std::int64_t finishing_chunks = 0;
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    const std::int64_t past = state_.computed(chunk.id);
    chunk_shapes_.push_back({std::max(chunk.tokens, plan_.padding.chunk_tokens), past});
    finishing_chunks += past + chunk.tokens == state_.tokens(chunk.id) ? 1 : 0;
  }
  StepShape shape;
  shape.decodes = plan_.padding.decodes;
  shape.add_context(plan_.padding.decode_context);
  if (plan_.decode) {
    shape.decodes += state_.decodes().count();
    shape.add_context(state_.decodes().context());
  }
  shape.queries = state_.drafts() + 1;
  shape.sampled_rows = shape.decode_tokens() + finishing_chunks;
  shape.chunks = chunk_shapes_;
  return shape;
}

void Replica::begin(TimePoint now, const Outlook& outlook) {
  const StepShape shape = shape_of_plan();
  const ContextTokens context_growth = plan_.decode ? state_.decodes().context_growth() : ContextTokens{};
  const std::optional<StepLine> line =
      outlook.stability ? pricer_->line(shape, context_growth) : std::nullopt;
  if (line) {
    INFEROMETER_CHECK(line->steps >= 1 && line->growth.total() >= Duration(),
                      "a line has a step, and steps never get shorter");
    const Duration time = time_left(now, line->first.total());
    const std::int64_t steps = steps_within(*line, stretch_steps(*line, *outlook.stability), time);
    running_.emplace(now, *line, steps);
    // Who overtakes an older head of the queue lets KV come for those who stood back for that one.
    running_->ends_on_arrival = outlook.stability->ends_on_arrival || !state_.store().expected.empty();
    running_->is_stretch = true;
  } else {
    StepCost cost = pipeline_ ? pipeline_->pass(now, shape) : pricer_->price(shape);
    cost.communication += std::max(Duration(), copied_at_ - now);
    time_left(now, cost.total());
    running_.emplace(now, StepLine{cost, {}, 1}, 1);
    ++(counts_.*outlook.otherwise);
  }
  running_->shape = shape;
  running_->context_growth = context_growth;
  running_->decodes = plan_.decode ? state_.decodes().count() : 0;
  running_->held_blocks = state_.blocks().held();
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    running_->prefill_tokens += chunk.tokens;
  }
}

// At most as many as nobody finishes in but the last, no window fills up in, and the free blocks are enough
// for.
std::int64_t Replica::stretch_steps(const StepLine& line, const Stability& stability) {
  std::int64_t steps = std::min(stability.steps, line.steps);
  if (state_.decodes().count() > 0) {
    const DecodeSet& decodes = state_.decodes();
    steps = std::min({steps, decodes.steps_to_next_finish(), decodes.steps_of_same_growth()});
  }
  growing_chunks_.clear();
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    const std::int64_t past = state_.computed(chunk.id);
    const std::int64_t held = state_.held_blocks(chunk.id);
    if (held == state_.blocks().blocks_for(past + chunk.tokens)) {
      growing_chunks_.push_back({chunk.tokens, past});
    } else {
      steps = std::min(steps, (held * config_.block_size - past) / chunk.tokens);
    }
  }
  steps = std::min(steps, steps_before_a_prefill_ends());
  const BlockDemand demand(state_.decodes(), growing_chunks_);
  return 1 + demand.steps_within(state_.blocks().free().count(), 1, steps - 1);
}

std::optional<TimePoint> Replica::interrupt(TimePoint now, bool always, bool has_decided) {
  next_join_ = {now, has_decided};
  if (!running_ || !(running_->ends_on_arrival || always)) {
    return std::nullopt;
  }
  Stretch& stretch = running_->stretch;
  std::int64_t steps = steps_begun(now, has_decided);
  if (config_.plans_ahead && !always) {
    steps = std::min(steps + 1, stretch.steps());
  }
  running_->ends_on_arrival = false;  // whoever comes next finds the same step under way
  if (steps == stretch.steps()) {
    return std::nullopt;
  }
  stretch.shorten_to(steps);
  return stretch.end();
}

std::int64_t Replica::steps_begun(TimePoint now, bool has_decided) const {
  const Stretch& stretch = running_->stretch;
  const std::int64_t steps = stretch.steps_to_last(now - stretch.start());
  const bool next_begins_now = steps < stretch.steps() && stretch.end_of(steps - 1) == now;
  return steps + (has_decided && next_begins_now ? 1 : 0);
}

void Replica::settle_blocks(TimePoint now, bool has_decided) {
  if (running_ && running_->stretch.steps() > 1) {
    take_blocks_of_steps(steps_begun(now, has_decided));
  }
}

void Replica::cut_off(TimePoint now) {
  if (const std::int64_t ended = running_ ? running_->stretch.ended_by(now) : 0; ended > 0) {
    running_->stretch.shorten_to(ended);
    end_steps();
  }
}

Replica::Progress Replica::progress(TimePoint now) const {
  if (!running_) {
    return {};
  }
  const Stretch& stretch = running_->stretch;
  const std::int64_t steps = stretch.ended_by(now);
  return {steps * running_->decodes, steps * running_->prefill_tokens,
          steps < stretch.steps() ? std::optional(stretch.end_of(steps)) : std::nullopt};
}

void Replica::end_steps() {
  INFEROMETER_CHECK(running_.has_value(), "steps that end have started");
  const Running& running = *running_;
  const Stretch& stretch = running.stretch;
  const TimePoint end = stretch.end();
  departed_.clear();
  handed_over_.clear();
  StepRecord record{.replica = config_.index,
                    .lane = config_.lane,
                    .stretch = stretch,
                    .shape = running.shape,
                    .context_growth = running.context_growth,
                    .decodes = running.decodes,
                    .prefill_tokens = running.prefill_tokens,
                    .emitted = running.decodes,
                    .running = state_.running_count(),
                    .kept_waiting = running.kept_waiting,
                    .queued = running.queued,
                    .joined = joined_,
                    .waiting = waiting(),
                    .preempted = static_cast<std::int64_t>(plan_.preempted.size()) + preempted_before_,
                    .swapped_out = static_cast<std::int64_t>(plan_.swapped_out.size()) + swapped_before_,
                    .swapped_in = static_cast<std::int64_t>(plan_.swapped_in.size()),
                    .held_blocks = running.held_blocks,
                    .held_rounds = {},
                    .held_per_round = 0,
                    .gaps = {}};
  preempted_before_ = 0;
  swapped_before_ = 0;
  if (stretch.steps() > 1) {
    take_blocks_of_steps(stretch.steps());
    note_later_blocks(record);
  }
  if (offload_) {
    offload_->set_time(end);
  }
  if (plan_.decode) {
    state_.advance_decodes(stretch.end_of(0), end, stretch.steps());
    record.gaps = state_.decodes().gaps();
    record.drafted = state_.accept_drafts();
    record.emitted += record.drafted.emitted_tokens;
    for (const SequenceId id : plan_.decode_except) {
      state_.resume_decode(id);
    }
  }
  if (!plan_.chunks.empty()) {
    end_chunks(record);
  }
  counts_.stretches += running.is_stretch ? 1 : 0;
  counts_.in_stretches += running.is_stretch ? stretch.steps() : 0;
  steps_ended_ += stretch.steps();
  last_end_ = end;
  observer_.on_steps(record);
  running_.reset();
  finish_due(end);
}

// Where blocks are copied before they are taken, it matters when.
void Replica::take_blocks_of_steps(std::int64_t steps) {
  if (offload_) {
    for (std::int64_t step = running_->steps_with_blocks; step < steps; ++step) {
      offload_->set_time(running_->stretch.end_of(step - 1));
      take_blocks_up_to(step + 1);
    }
  }
  take_blocks_up_to(steps);
}

// The blocks of the first step were taken at its start.
void Replica::take_blocks_up_to(std::int64_t steps) {
  std::int64_t& done = running_->steps_with_blocks;
  if (steps <= done) {
    return;
  }
  const std::int64_t needed = BlockDemand(state_.decodes(), growing_chunks_).between(done, steps);
  const BlockCount before = state_.blocks().held();
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    state_.take_chunk_blocks(chunk.id, chunk.tokens * steps);
  }
  state_.take_blocks(BlockCount(needed) - (state_.blocks().held() - before));
  done = steps;
}

void Replica::note_later_blocks(StepRecord& record) {
  const BlockDemand demand(state_.decodes(), growing_chunks_);
  held_rounds_.clear();
  held_rounds_.push_back(record.held_blocks.count());
  for (std::int64_t step = 1; step < std::min(record.stretch.steps(), demand.period()); ++step) {
    held_rounds_.push_back(held_rounds_.back() + demand.at(step));
  }
  record.held_rounds = held_rounds_;
  record.held_per_round = demand.per_period();
}

void Replica::end_chunks(StepRecord& record) {
  gaps_.assign(record.gaps.begin(), record.gaps.end());
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    const BatchState::ChunkEnd end =
        state_.end_chunk(chunk.id, chunk.tokens * record.stretch.steps(), record.stretch.end());
    record.emitted += end.emitted ? 1 : 0;
    if (end.gap) {
      gaps_.push_back({*end.gap, 1});  // computed anew after a preemption
    }
    if (end.finished) {
      finished_.push_back(chunk.id);
    }
  }
  record.gaps = gaps_;
}

void Replica::finish_due(TimePoint now) {
  for (SequenceId id = state_.next_finished(); id != kNoSequence; id = state_.next_finished()) {
    finished_.push_back(id);
  }
  if (finished_.empty()) {
    return;
  }
  // The calendar and the chunk list have orders of their own; everyone outside sees the order of arrival.
  std::sort(finished_.begin(), finished_.end(), [&](SequenceId a, SequenceId b) {
    return state_.sequence(a).request_id < state_.sequence(b).request_id;
  });
  for (const SequenceId id : finished_) {
    policy_->on_finished(ReplicaView(state_, now), id);
    const Sequence& sequence = state_.sequence(id);
    if (sequence.prompt_only) {
      handed_over_.push_back({sequence.request_id,
                              id,
                              {config_.index, sequence.admitted, sequence.first_token, sequence.preemptions,
                               sequence.cached, sequence.recached}});
      state_.hand_over(id);
      continue;
    }
    FinishedRequest request = state_.finish(id, now);
    request.replica = config_.index;
    ++completed_;
    departed_.push_back(request.id);
    observer_.on_finished(request);
  }
  finished_.clear();
}

}  // namespace inferometer
