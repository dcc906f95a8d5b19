#include "sim/engine/stepper_check.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"

namespace inferometer {
namespace {

std::int64_t ps(TimePoint time) {
  return time.since_start().count();
}

/// How each replica stands: enough to see what led to a difference.
std::string states_of(const Simulation& simulation) {
  std::string text = fmt::format("  at {} ps\n", ps(simulation.now()));
  for (std::size_t i = 0; i < simulation.lanes().size(); ++i) {
    const Replica& replica = simulation.lanes()[i];
    const BatchState& state = replica.state();
    text += fmt::format(
        "  replica {}: {} running ({} decoding with {} tokens of context, {} prefilling), {} waiting, {} of "
        "{} "
        "blocks free{}\n",
        i, state.running_count(), state.decodes().count(), state.decodes().context().full,
        state.prefilling().size(), state.waiting().size(), state.blocks().free().count(),
        state.blocks().total().count(),
        replica.is_running() ? fmt::format(", a step under way until {} ps", ps(*replica.running_until()))
                             : "");
    constexpr int kShown = 8;
    int shown = 0;
    for (SequenceId id = state.head(); id != kNoSequence && shown < kShown;
         id = state.sequence(id).next, ++shown) {
      text += fmt::format("    request {}: {} tokens in its cache, {} emitted, {} blocks\n",
                          state.sequence(id).request_id, state.computed(id), state.emitted(id),
                          state.held_blocks(id));
    }
    if (state.running_count() > kShown) {
      text += fmt::format("    and {} more\n", state.running_count() - kShown);
    }
  }
  return text;
}

}  // namespace

StepperCheck::Facts StepperCheck::facts_of(const Request& request, std::int64_t waiting) {
  return {fmt::format("arrival of request {}", request.id),
          {{"id", request.id}, {"arrival, ps", ps(request.arrival)}, {"waiting", waiting}}};
}

StepperCheck::Facts StepperCheck::facts_of(const StepRecord& step, std::int64_t number) {
  const StepCost cost = step.stretch.first_cost();
  const std::string lane = step.lane > 0 ? fmt::format(", micro-batch {}", step.lane) : "";
  Facts facts{fmt::format("step {} of replica {}{}", number, step.replica, lane),
              {{"start, ps", ps(step.stretch.start())},
               {"end, ps", ps(step.stretch.end())},
               {"compute, ps", cost.compute.count()},
               {"bandwidth, ps", cost.bandwidth.count()},
               {"latency, ps", cost.latency.count()},
               {"communication, ps", cost.communication.count()},
               {"host, ps", cost.host.count()},
               {"bubble, ps", cost.bubble.count()},
               {"decoding", step.decodes},
               {"decode rows priced", step.shape.decodes},
               {"context", step.shape.decode_context},
               {"context in windows", step.shape.decode_window_context},
               {"sampled rows", step.shape.sampled_rows},
               {"prefilled tokens", step.prefill_tokens},
               {"emitted", step.emitted},
               {"drafted tokens", step.drafted.draft_tokens},
               {"accepted tokens", step.drafted.accepted_tokens},
               {"running", step.running},
               {"preempted", step.preempted},
               {"swapped out", step.swapped_out},
               {"swapped in", step.swapped_in},
               {"blocks held", step.held_blocks.count()}}};
  for (const ChunkShape& chunk : step.shape.chunks) {
    facts.values.emplace_back("tokens of a chunk", chunk.tokens);
    facts.values.emplace_back("past of a chunk", chunk.past);
  }
  std::map<std::int64_t, std::int64_t> gaps;
  for (const TokenGap& gap : step.gaps) {
    gaps[gap.gap.count()] += gap.count;
  }
  for (const auto& [gap, count] : gaps) {
    facts.values.emplace_back("gap, ps", gap);
    facts.values.emplace_back("such gaps", count);
  }
  return facts;
}

StepperCheck::Facts StepperCheck::facts_of(const FinishedRequest& request) {
  return {fmt::format("finished request {}", request.id),
          {{"id", request.id},
           {"arrival, ps", ps(request.arrival)},
           {"admitted, ps", ps(request.admitted)},
           {"first token, ps", ps(request.first_token)},
           {"finished, ps", ps(request.finished)},
           {"prompt", request.prompt},
           {"output", request.output},
           {"preemptions", request.preemptions},
           {"session", request.session},
           {"allowed", request.max_new},
           {"replica", request.replica},
           {"prefill replica", request.prefill_replica},
           {"retries", request.retries},
           {"handover, ps", request.handover.count()}}};
}

StepperCheck::Facts StepperCheck::facts_of(const RejectedRequest& request) {
  return {fmt::format("rejected request {}", request.id),
          {{"id", request.id},
           {"arrival, ps", ps(request.arrival)},
           {"rejected, ps", ps(request.rejected)},
           {"prompt", request.prompt}}};
}

void StepperCheck::ReferenceSide::on_arrival(const Request& request, std::int64_t waiting) {
  arrivals.push_back(facts_of(request, waiting));
}

void StepperCheck::ReferenceSide::on_rejected(const RejectedRequest& request) {
  departures.push_back(facts_of(request));
}

void StepperCheck::ReferenceSide::on_steps(const StepRecord& step) {
  INFEROMETER_CHECK(step.stretch.steps() == 1, "the reference stepper takes one step at a time");
  Steps& own = steps[{step.replica, step.lane}];
  own.open.push_back(facts_of(step, own.count++));
}

void StepperCheck::ReferenceSide::on_finished(const FinishedRequest& request) {
  departures.push_back(facts_of(request));
}

void StepperCheck::on_arrival(const Request& request, std::int64_t waiting) {
  require_next(
      facts_of(request, waiting), [this]() -> auto& { return reference_side_.arrivals; });
  observer_.on_arrival(request, waiting);
}

void StepperCheck::on_rejected(const RejectedRequest& request) {
  require_next(
      facts_of(request), [this]() -> auto& { return reference_side_.departures; });
  observer_.on_rejected(request);
}

void StepperCheck::on_steps(const StepRecord& steps) {
  const Lane lane{steps.replica, steps.lane};
  std::int64_t& count = step_counts_[lane];
  visit_steps(steps, [&](const StepRecord& step) {
    require_next(
        facts_of(step, count++), [&]() -> auto& { return reference_side_.steps[lane].open; });
  });
  observer_.on_steps(steps);
}

void StepperCheck::on_finished(const FinishedRequest& request) {
  require_next(
      facts_of(request), [this]() -> auto& { return reference_side_.departures; });
  observer_.on_finished(request);
}

template <class List>
void StepperCheck::require_next(const Facts& fast, List reference) {
  while (reference().empty() && reference_->run(1)) {
  }
  if (reference().empty()) {
    fail(fast, nullptr);
  }
  const Facts& next = reference().front();
  if (next.what != fast.what || next.values != fast.values) {
    fail(fast, &next);
  }
  reference().pop_front();
}

void StepperCheck::finish() {
  reference_->run();
  std::vector<const std::deque<Facts>*> open = {&reference_side_.arrivals, &reference_side_.departures};
  for (const auto& [lane, steps] : reference_side_.steps) {
    open.insert(open.begin(), &steps.open);
  }
  for (const std::deque<Facts>* left : open) {
    if (!left->empty()) {
      throw StepperMismatch(
          fmt::format("the fast stepper is done, the reference stepper goes on with {}\nfast:\n{}"
                      "reference:\n{}",
                      left->front().what, states_of(*checked_), states_of(*reference_)));
    }
  }
  const Census fast = checked_->census();
  const Census reference = reference_->census();
  if (fast.injected != reference.injected || fast.completed != reference.completed ||
      fast.rejected != reference.rejected || fast.running != reference.running ||
      fast.waiting != reference.waiting) {
    throw StepperMismatch(
        fmt::format("the steppers end with other counts of requests\nfast:\n{}reference:\n{}",
                    states_of(*checked_), states_of(*reference_)));
  }
}

void StepperCheck::fail(const Facts& fast, const Facts* reference) const {
  std::string text = fmt::format("the steppers differ in {}", fast.what);
  if (reference == nullptr) {
    text += ": the reference stepper is done without it\n";
  } else if (reference->what != fast.what) {
    text += fmt::format(": the reference stepper comes to {} instead\n", reference->what);
  } else {
    text += fmt::format("\n  {:<22}{:>24}{:>24}\n", "", "fast", "reference");
    const std::size_t count = std::max(fast.values.size(), reference->values.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = [i](const Facts& facts) {
        return i < facts.values.size() ? fmt::format("{}", facts.values[i].second) : "-";
      };
      const std::string& name = i < fast.values.size() ? fast.values[i].first : reference->values[i].first;
      const std::string left = value(fast);
      const std::string right = value(*reference);
      text += fmt::format("  {:<22}{:>24}{:>24}{}\n", name, left, right, left == right ? "" : "  <--");
    }
  }
  throw StepperMismatch(text + "fast:\n" + states_of(*checked_) + "reference:\n" + states_of(*reference_));
}

}  // namespace inferometer
