#include "sim/cluster/load_book.hpp"

#include <algorithm>
#include <limits>

namespace inferometer {
namespace {

constexpr TimePoint kForever{Duration(std::numeric_limits<std::int64_t>::max())};

}  // namespace

LoadBook::LoadBook(EngineControl& control, std::int32_t replicas)
    : control_(control),
      loads_(static_cast<std::size_t>(replicas)),
      tokens_at_least_(loads_.size()),
      known_until_(loads_.size()) {
}

void LoadBook::changed(std::int32_t replica) {
  const auto place = static_cast<std::size_t>(replica);
  tokens_at_least_[place] = control_.lanes(replica).front().state().store().tokens;
  known_until_[place] = TimePoint();
}

const ReplicaLoad& LoadBook::load(std::int32_t replica) {
  const auto place = static_cast<std::size_t>(replica);
  if (control_.now() >= known_until_[place]) {
    look_at(replica);
  }
  return loads_[place];
}

void LoadBook::look_at(std::int32_t replica) {
  const auto place = static_cast<std::size_t>(replica);
  const std::span<const Replica> lanes = control_.lanes(replica);
  const SequenceStore& store = lanes.front().state().store();
  ReplicaLoad& load = loads_[place];
  load.waiting = lanes.front().waiting() + static_cast<std::int64_t>(store.expected.size());
  load.tokens = store.tokens;
  load.prefill_tokens = store.prefill_left;
  load.kv_capacity = store.pool.total().count() * store.pool.block_size();
  known_until_[place] = kForever;
  for (const Replica& lane : lanes) {
    const Replica::Progress progress = lane.progress(control_.now());
    load.tokens += progress.emitted;
    load.prefill_tokens -= progress.prefilled;
    known_until_[place] = std::min(known_until_[place], progress.until.value_or(kForever));
  }
  tokens_at_least_[place] = load.tokens;
}

}  // namespace inferometer
