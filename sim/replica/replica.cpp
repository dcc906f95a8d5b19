#include "sim/replica/replica.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"

namespace inferometer {

Replica::Replica(const ReplicaConfig& config, std::unique_ptr<BatchPolicy> policy,
                 std::shared_ptr<const StepPricer> pricer, SimulationObserver& observer)
    : config_(config),
      policy_(std::move(policy)),
      pricer_(std::move(pricer)),
      observer_(observer),
      state_(config.blocks, config.block_size, config.attention_window, policy_->running_order()) {
  INFEROMETER_CHECK(blocks_for(TokenCount(config.max_model_len), config.block_size) <= config.blocks,
                    "one sequence of max_model_len fits into the KV cache");
}

bool Replica::enqueue(const Request& request) {
  const std::int64_t room = config_.max_model_len - request.prompt.count();
  if (room < 1) {
    ++rejected_;
    observer_.on_rejected({request.id, request.arrival, request.arrival, request.prompt.count(),
                           "the prompt leaves no room for a token in max_model_len"});
    return false;
  }
  if (request.output.count() > room) {
    ++truncated_;
  }
  state_.enqueue(request, room);
  return true;
}

Replica::Start Replica::start_step(TimePoint now) {
  INFEROMETER_CHECK(!step_, "a replica runs one step at a time");
  departed_.clear();
  plan_.clear();
  policy_->plan(ReplicaView(state_, now), plan_);
  reject_unrunnable(now);
  const bool decodes = plan_.decode && state_.decodes().count() > 0;
  if (plan_.chunks.empty() && !decodes) {
    INFEROMETER_CHECK(plan_.preempted.empty() && plan_.admitted.empty(),
                      "a plan that changes things runs a step");
    const bool idle = state_.running_count() == 0 && state_.waiting().empty();
    INFEROMETER_CHECK(idle || plan_.wake_at, "a policy leaves no sequence waiting for nothing");
    return {std::nullopt, idle ? std::nullopt : plan_.wake_at};
  }
  kept_waiting_ = kept_waiting(now);
  carry_out(now);
  begin(now);
  return {step_->end, std::nullopt};
}

TimePoint Replica::end_of_step(TimePoint now, Duration time) {
  constexpr Duration kEndOfTime = seconds(static_cast<std::int64_t>(kEndOfTimeSeconds));
  if (time > kEndOfTime - now.since_start()) {
    throw ConfigError(
        Position{"workload"},
        "the simulation would go on past 106 days, the end of simulated time; fewer requests, a "
        "higher rate or a faster deployment end sooner");
  }
  return now + time;
}

// Those that arrived at this very moment stand last and have not waited.
std::int64_t Replica::kept_waiting(TimePoint now) const {
  const std::deque<SequenceId>& waiting = state_.waiting();
  std::size_t count = waiting.size();
  while (count > 0 && state_.sequence(waiting[count - 1]).arrival == now) {
    --count;
  }
  return static_cast<std::int64_t>(count);
}

void Replica::reject_unrunnable(TimePoint now) {
  for (const SequenceId id : plan_.rejected) {
    const Sequence& sequence = state_.sequence(id);
    ++rejected_;
    departed_.push_back(sequence.request_id);
    observer_.on_rejected({sequence.request_id, sequence.arrival, now, sequence.prompt,
                           "the scheduler can never fit the prompt"});
    state_.reject(id);
  }
  std::sort(departed_.begin(), departed_.end());
}

void Replica::carry_out(TimePoint now) {
  for (const SequenceId id : plan_.preempted) {
    state_.preempt(id);
  }
  for (const StepPlan::Admission& admission : plan_.admitted) {
    state_.admit(admission, now);
  }
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    state_.take_chunk_blocks(chunk.id, chunk.tokens);
  }
  if (plan_.decode) {
    for (const SequenceId id : plan_.decode_except) {
      state_.suspend_decode(id);
    }
    state_.take_decode_blocks();
  }
}

void Replica::begin(TimePoint now) {
  chunk_shapes_.clear();
  std::int64_t finishing_chunks = 0;
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    const std::int64_t past = state_.computed(chunk.id);
    chunk_shapes_.push_back({std::max(chunk.tokens, plan_.padding.chunk_tokens), past});
    finishing_chunks += past + chunk.tokens == state_.tokens(chunk.id) ? 1 : 0;
  }
  const std::int64_t decodes = plan_.decode ? state_.decodes().count() : 0;
  const std::int64_t context = plan_.decode ? state_.decodes().context() : 0;
  StepShape shape;
  shape.decodes = decodes + plan_.padding.decodes;
  shape.decode_context = context + plan_.padding.decode_context;
  shape.sampled_rows = shape.decodes + finishing_chunks;
  shape.chunks = chunk_shapes_;
  step_.emplace(now, decodes, shape, *pricer_);
  INFEROMETER_CHECK(step_->cost.total().count() >= 1, "a step takes time");
}

void Replica::end_step() {
  INFEROMETER_CHECK(step_.has_value(), "a step that ends has started");
  const RunningStep& step = *step_;
  departed_.clear();
  StepRecord record{config_.index, step.start, step.end, step.cost, step.shape};
  record.decodes = step.decodes;
  record.running = state_.running_count();
  record.kept_waiting = kept_waiting_;
  record.waiting = static_cast<std::int64_t>(state_.waiting().size());
  record.preempted = static_cast<std::int64_t>(plan_.preempted.size());
  record.held_blocks = state_.blocks().held();
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    record.prefill_tokens += chunk.tokens;
  }
  gaps_.clear();
  if (plan_.decode) {
    state_.advance_decodes(step.end);
    gaps_.assign(state_.decodes().gaps().begin(), state_.decodes().gaps().end());
    for (const SequenceId id : plan_.decode_except) {
      state_.resume_decode(id);
    }
  }
  record.emitted = step.decodes + end_chunks();
  record.gaps = gaps_;
  observer_.on_step(record);
  const TimePoint end = step.end;
  step_.reset();
  finish_due(end);
}

std::int64_t Replica::end_chunks() {
  std::int64_t emitted = 0;
  for (const StepPlan::Chunk& chunk : plan_.chunks) {
    const BatchState::ChunkEnd end = state_.end_chunk(chunk.id, chunk.tokens, step_->end);
    emitted += end.emitted ? 1 : 0;
    if (end.gap) {
      gaps_.push_back({*end.gap, 1});
    }
    if (end.finished) {
      finished_.push_back(chunk.id);
    }
  }
  return emitted;
}

void Replica::finish_due(TimePoint now) {
  for (SequenceId id = state_.next_finished(); id != kNoSequence; id = state_.next_finished()) {
    finished_.push_back(id);
  }
  if (finished_.empty()) {
    return;
  }
  // The finish heap and the chunk list have orders of their own; everyone outside sees the order of arrival.
  std::sort(finished_.begin(), finished_.end(), [&](SequenceId a, SequenceId b) {
    return state_.sequence(a).request_id < state_.sequence(b).request_id;
  });
  for (const SequenceId id : finished_) {
    policy_->on_finished(ReplicaView(state_, now), id);
    const FinishedRequest request = state_.finish(id, now);
    ++completed_;
    departed_.push_back(request.id);
    observer_.on_finished(request);
  }
  finished_.clear();
}

}  // namespace inferometer
