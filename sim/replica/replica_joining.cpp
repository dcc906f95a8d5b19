// How requests come to a replica.

#include <algorithm>

#include "sim/replica/replica.hpp"

namespace inferometer {

bool Replica::enqueue(const Request& request, std::int32_t retries) {
  if (!accepts(request)) {
    ++rejected_;
    observer_.on_rejected({request.id, request.arrival, request.arrival, request.prompt.count(),
                           "the prompt leaves no room for a token in max_model_len"});
    return false;
  }
  queue(request, cut_output(request), retries);
  note_joined();
  return true;
}

SequenceId Replica::queue(const Request& request, std::int64_t output_limit, std::int32_t retries) {
  const SequenceId id = store().enqueue(request, output_limit, retries);
  const std::int64_t rank = policy_->queue_rank(store().sequence(id));
  if (config_.plans_ahead) {
    store().at(id).rank = rank;
    store().hold_back(steps_ended_ +
                      (running_ ? steps_begun(next_join_.time, next_join_.found_begun) : std::int64_t{0}));
  } else {
    store().place_by_rank(rank);
  }
  return id;
}

void Replica::note_joined() {
  if (running_) {
    joined_.push_back(next_join_);
  }
}

std::int64_t Replica::cut_output(const Request& request) {
  const std::int64_t room = config_.max_model_len - request.prompt.count();
  if (request.output.count() > room) {
    ++truncated_;
  }
  return room;
}

void Replica::enqueue_prompt(const Request& request, std::int32_t retries, bool pushes) {
  constexpr std::int64_t kFirstTokenAlone = 1;
  const SequenceId id = queue(request, kFirstTokenAlone, retries);
  store().at(id).prompt_only = true;
  store().at(id).pushes = pushes;
  note_joined();
}

SequenceId Replica::expect(const Request& request, const Expectation& expectation) {
  return store().expect(request, cut_output(request), expectation);
}

// Those that arrived at this very moment have not waited; those of a rank stand behind the others of it.
std::int64_t Replica::kept_waiting(TimePoint now) const {
  const std::deque<SequenceId>& waiting = state_.waiting();
  const std::deque<SequenceStore::Joining>& joining = state_.store().joining;
  const auto all = static_cast<std::int64_t>(loads_.size() - booked_.loads + state_.store().swapped.size() +
                                             waiting.size() + joining.size());
  if (state_.store().last_arrival != now) {
    return all;
  }
  const auto has_just_come = [&](SequenceId id) { return state_.sequence(id).arrival == now; };
  return all - std::count_if(waiting.begin(), waiting.end(), has_just_come) -
         std::count_if(joining.begin(), joining.end(),
                       [&](const SequenceStore::Joining& one) { return has_just_come(one.id); });
}

// Asynchronous scheduling. Only arrivals lag: blocks and seats that a step gives back when it ends count as
// given back in the plan that was made at its start, of which an engine knows only who leaves.

// The plan of the step that begins now was made when the step that has just ended began. An engine that did
// nothing plans when somebody comes.
bool Replica::was_planned_without(const SequenceStore::Joining& joining, TimePoint now) const {
  return last_end_ == now && joining.steps_begun == steps_ended_;
}

void Replica::let_join(TimePoint now) {
  SequenceStore& store = state_.store();
  while (!store.joining.empty() && !was_planned_without(store.joining.front(), now)) {
    store.join_queue();
  }
}

// With nothing to run there is nothing to plan ahead of. True when anybody has joined.
bool Replica::let_all_join() {
  SequenceStore& store = state_.store();
  if (store.joining.empty()) {
    return false;
  }
  while (!store.joining.empty()) {
    store.join_queue();
  }
  return true;
}

}  // namespace inferometer
