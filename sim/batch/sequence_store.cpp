#include "sim/batch/sequence_store.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {
namespace {

void erase_from(std::deque<SequenceId>& list, SequenceId id) {
  const auto place = std::find(list.begin(), list.end(), id);
  INFEROMETER_CHECK(place != list.end(), "a sequence stands in the list of its state");
  list.erase(place);
}

bool is_running(const Sequence& s) {
  return s.state == Sequence::State::prefilling || s.state == Sequence::State::decoding;
}

}  // namespace

SequenceId SequenceStore::add(const Request& request, std::int64_t output_limit) {
  SequenceId id = kNoSequence;
  if (vacant.empty()) {
    id = static_cast<SequenceId>(sequences.size());
    sequences.emplace_back();
  } else {
    id = vacant.back();
    vacant.pop_back();
  }
  Sequence fresh;
  fresh.request_id = request.id;
  fresh.session = request.session;
  fresh.arrival = request.arrival;
  fresh.prompt = request.prompt.count();
  fresh.output = std::min(request.output.count(), output_limit);
  fresh.max_new = std::min(request.max_new.count(), output_limit);
  fresh.priority = request.priority;
  at(id) = fresh;
  if (PrefixCache* prefixes = pool.prefixes()) {
    prefixes->enter(id, request);
  }
  return id;
}

SequenceId SequenceStore::enqueue(const Request& request, std::int64_t output_limit, std::int32_t retries) {
  const SequenceId id = add(request, output_limit);
  Sequence& s = at(id);
  s.retries = retries;
  last_arrival = std::max(last_arrival, s.arrival);
  waiting.push_back(id);
  prefill_left += s.prompt;
  tokens += s.prompt;
  return id;
}

void SequenceStore::place_by_rank(std::int64_t rank) {
  const SequenceId id = waiting.back();
  at(id).rank = rank;
  if (waiting.size() == 1 || sequence(waiting[waiting.size() - 2]).rank <= rank) {
    return;
  }
  const auto others_end = std::prev(waiting.end());
  const auto place =
      std::upper_bound(waiting.begin(), others_end, rank,
                       [this](std::int64_t own, SequenceId other) { return own < sequence(other).rank; });
  std::rotate(place, others_end, waiting.end());
}

void SequenceStore::hold_back(std::int64_t steps_begun) {
  joining.push_back({waiting.back(), steps_begun});
  waiting.pop_back();
}

void SequenceStore::join_queue() {
  const SequenceId id = joining.front().id;
  joining.pop_front();
  waiting.push_back(id);
  place_by_rank(sequence(id).rank);
}

void SequenceStore::queue_again(SequenceId id) {
  const std::int64_t rank = sequence(id).rank;
  const bool goes_last = requeue == Requeue::last;
  const auto place = std::partition_point(waiting.begin(), waiting.end(), [&](SequenceId other) {
    return sequence(other).rank < rank || (goes_last && sequence(other).rank == rank);
  });
  waiting.insert(place, id);
}

void SequenceStore::take_from_queue(SequenceId id) {
  if (!waiting.empty() && waiting.front() == id) {
    waiting.pop_front();
  } else {
    erase_from(waiting, id);
  }
}

void SequenceStore::give_up_blocks(SequenceId id, std::int64_t computed, bool recomputes) {
  Sequence& s = at(id);
  if (PrefixCache* prefixes = pool.prefixes()) {
    pool.add_free(BlockCount(prefixes->release(id, s.held_blocks, computed, recomputes)));
  } else {
    pool.give_back(BlockCount(s.held_blocks));
  }
  s.held_blocks = 0;
}

void SequenceStore::vacate(SequenceId id) {
  if (PrefixCache* prefixes = pool.prefixes()) {
    prefixes->leave(id);
  }
  at(id).state = Sequence::State::gone;
  vacant.push_back(id);
}

SequenceId SequenceStore::expect(const Request& request, std::int64_t output_limit,
                                 const Expectation& expectation) {
  const SequenceId id = add(request, output_limit);
  Sequence& s = at(id);
  s.state = Sequence::State::expected;
  s.order = expectation.order;
  s.first_token_here = expectation.first_token_here;
  s.retries = expectation.retries;
  tokens += s.prompt;
  queue_expected(id);
  return id;
}

void SequenceStore::queue_expected(SequenceId id) {
  auto place = expected.end();
  while (place != expected.begin() && sequence(*std::prev(place)).order > sequence(id).order) {
    --place;
  }
  expected.insert(place, id);
}

void SequenceStore::prompt_computed(SequenceId id, const PromptResult& result) {
  Sequence& s = at(id);
  if (s.state == Sequence::State::loading) {
    promised_blocks -= s.held_blocks;
  } else {
    ++computed_expected;
  }
  s.prefill_replica = result.replica;
  s.prefill_end = result.first_token;
  s.was_admitted = true;
  s.admitted = result.admitted;
  s.preemptions = result.preemptions;
  s.cached = result.cached;
  s.recached = result.recached;
  if (!s.first_token_here) {
    s.emitted = 1;
    ++tokens;
    s.first_token = result.first_token;
    s.last_emission = result.first_token;
  }
}

PrefixMatch SequenceStore::cached_to_load(SequenceId id) {
  PrefixCache* const prefixes = pool.prefixes();
  return prefixes == nullptr ? PrefixMatch{} : prefixes->match(id, sequence(id).prompt);
}

std::int64_t SequenceStore::free_blocks_to_load(SequenceId id) {
  const PrefixMatch cached = cached_to_load(id);
  return pool.blocks_for(tokens_to_load(sequence(id))) - cached.blocks + cached.idle;
}

bool SequenceStore::can_load_next(std::int64_t blocks_kept) {
  if (starving != kNoSequence || !swapped.empty()) {
    return false;
  }
  const Sequence& next = sequence(expected.front());
  if (!waiting.empty() && sequence(waiting.front()).request_id < next.request_id) {
    return false;
  }
  return free_blocks_to_load(expected.front()) + blocks_kept <= pool.free().count();
}

SequenceId SequenceStore::load_next() {
  const SequenceId id = expected.front();
  expected.pop_front();
  give_blocks(id);
  return id;
}

void SequenceStore::give_blocks(SequenceId id) {
  Sequence& s = at(id);
  s.state = Sequence::State::loading;
  s.held_blocks = pool.blocks_for(tokens_to_load(s));
  const PrefixMatch cached = cached_to_load(id);
  if (cached.blocks > 0) {
    pool.prefixes()->hold(id, cached.blocks);
    pool.remove_free(BlockCount(cached.idle));
  }
  pool.take(BlockCount(s.held_blocks - cached.blocks));
  ++loading;
  computed_expected -= is_computed(s) ? 1 : 0;
  promised_blocks += is_computed(s) ? 0 : s.held_blocks;
}

SequenceId SequenceStore::computed_in_need() const {
  if (computed_expected == 0 || promised_blocks == 0 || !only_promises_hold_blocks()) {
    return kNoSequence;
  }
  return *std::find_if(expected.begin(), expected.end(),
                       [this](SequenceId id) { return is_computed(sequence(id)); });
}

// Blocks that several share are held once and promised by each.
bool SequenceStore::only_promises_hold_blocks() const {
  if (pool.prefixes() == nullptr) {
    return promised_blocks == pool.held().count();
  }
  return std::none_of(sequences.begin(), sequences.end(), [](const Sequence& s) {
    return is_running(s) || s.state == Sequence::State::ready || s.state == Sequence::State::handed_over ||
           (s.state == Sequence::State::loading && is_computed(s));
  });
}

std::vector<SequenceId> SequenceStore::load_at_others_expense(SequenceId id) {
  std::vector<SequenceId> others;
  while (free_blocks_to_load(id) > pool.free().count()) {
    others.push_back(take_back_last());
  }
  erase_from(expected, id);
  give_blocks(id);
  return others;
}

SequenceId SequenceStore::take_back_last() {
  SequenceId last = kNoSequence;
  for (SequenceId id = 0; id < static_cast<SequenceId>(sequences.size()); ++id) {
    const Sequence& s = sequence(id);
    const bool is_promised = s.state == Sequence::State::loading && !is_computed(s);
    if (is_promised && (last == kNoSequence || s.order > sequence(last).order)) {
      last = id;
    }
  }
  INFEROMETER_CHECK(last != kNoSequence, "blocks are held for a prompt that is not computed");
  stop_expecting(last);
  at(last).state = Sequence::State::expected;
  queue_expected(last);
  return last;
}

void SequenceStore::loaded(SequenceId id, TimePoint now) {
  Sequence& s = at(id);
  INFEROMETER_CHECK(s.state == Sequence::State::loading, "KV comes to blocks that wait for it");
  --loading;
  INFEROMETER_CHECK(s.prefill_replica >= 0, "KV comes from where the prompt was computed");
  s.state = Sequence::State::ready;
  s.computed = tokens_to_load(s);
  if (PrefixCache* prefixes = pool.prefixes()) {
    prefixes->cover(id, s.computed);
  }
  s.handover = now - s.prefill_end;
  ready.push_back(id);
}

SequenceId SequenceStore::take_ready() {
  const SequenceId id = ready.front();
  ready.pop_front();
  return id;
}

void SequenceStore::stop_expecting(SequenceId id) {
  Sequence& s = at(id);
  if (s.state == Sequence::State::loading) {
    --loading;
    promised_blocks -= is_computed(s) ? 0 : s.held_blocks;
    give_up_blocks(id, 0, false);
  } else {
    INFEROMETER_CHECK(s.state == Sequence::State::expected, "only what is still expected can stay away");
    computed_expected -= is_computed(s) ? 1 : 0;
    erase_from(expected, id);
  }
}

void SequenceStore::recompute(SequenceId id) {
  stop_expecting(id);
  Sequence& s = at(id);
  s.state = Sequence::State::waiting;
  s.prefill_replica = -1;
  queue_again(id);
  prefill_left += s.prompt + s.emitted;
}

void SequenceStore::forget(SequenceId id) {
  stop_expecting(id);
  tokens -= sequence(id).prompt + sequence(id).emitted;
  vacate(id);
}

bool SequenceStore::is_oldest(SequenceId id) const {
  const auto goes_on = [](const Sequence& s) {
    return is_running(s) || s.state == Sequence::State::loading || s.state == Sequence::State::ready;
  };
  return std::none_of(sequences.begin(), sequences.end(), [&](const Sequence& other) {
    return goes_on(other) && other.request_id < sequence(id).request_id;
  });
}

std::int64_t SequenceStore::running() const {
  return std::count_if(sequences.begin(), sequences.end(), is_running);
}

void SequenceStore::release(SequenceId id) {
  Sequence& s = at(id);
  INFEROMETER_CHECK(s.state == Sequence::State::handed_over, "only what was handed over is released");
  --handed_over;
  give_up_blocks(id, s.computed, false);
  vacate(id);
}

void SequenceStore::clear() {
  pool.clear();
  sequences.clear();
  vacant.clear();
  waiting.clear();
  joining.clear();
  expected.clear();
  ready.clear();
  swapped.clear();
  swap_blocks_taken = 0;
  loading = 0;
  promised_blocks = 0;
  computed_expected = 0;
  handed_over = 0;
  starving = kNoSequence;
  prefill_left = 0;
  tokens = 0;
}

}  // namespace inferometer
