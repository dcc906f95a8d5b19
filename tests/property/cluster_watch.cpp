#include "tests/property/cluster_watch.hpp"

#include <algorithm>

#include "tests/support/random_content.hpp"

namespace inferometer::testing {

namespace {

/// What the head of the queue finds; whoever is looked at after somebody was admitted does not matter.
class PrefixesOfHead : public PrefixLookup {
 public:
  explicit PrefixesOfHead(const BatchState& state) : state_(state) {}
  CachedPrefix find(const StepPlan& plan, SequenceId id) override {
    const bool caches = state_.blocks().prefixes() != nullptr;
    // Looking for a prefix changes nothing that anybody can see.
    return caches && plan.admitted.empty() ? const_cast<BatchState&>(state_).cached_prefix(id)
                                           : CachedPrefix{};
  }

 private:
  const BatchState& state_;
};

}  // namespace

ClusterWatch::ClusterWatch(const RandomCluster& cluster, const Simulation& simulation)
    : cluster_(cluster), simulation_(simulation) {
  for (std::size_t pool = 0; pool < cluster.pools.size(); ++pool) {
    const PoolSetup& setup = cluster.setup.pools[pool];
    for (std::int32_t replica = 0; replica < setup.replicas; ++replica) {
      members_.push_back({shadows_.size(), static_cast<std::size_t>(setup.pipeline)});
      for (std::int32_t lane = 0; lane < setup.pipeline; ++lane) {
        shadows_.push_back(cluster.pools[pool].replica.policy());
        max_num_seqs_.push_back(cluster.pools[pool].replica.setup.max_num_seqs);
      }
    }
  }
}

void ClusterWatch::require(bool holds, const char* sentence) {
  if (!holds && broken_.empty()) {
    broken_ = std::string(sentence) + ", at " + std::to_string(simulation_.now().since_start().count()) +
              " ps, event " + std::to_string(simulation_.events());
  }
}

void ClusterWatch::look() {
  const TimePoint now = simulation_.now();
  require(now >= last_, "the clock never goes back");
  require(now == last_ || !has_idler_, "no replica idles while it could run something");
  last_ = now;
  const Census census = simulation_.census();
  require(census.injected ==
              census.completed + census.running + census.waiting + census.in_transit + census.rejected,
          "every request is somewhere");
  promised_ = 0;
  for (std::int32_t replica = 0; replica < static_cast<std::int32_t>(members_.size()); ++replica) {
    look_at_replica(replica);
  }
  most_held_ = std::max(most_held_, simulation_.coordinator()->held());
  look_for_idlers();
}

bool ClusterWatch::is_running(const Member& member) const {
  for (std::size_t number = 0; number < member.count; ++number) {
    if (lane(member, number).is_running()) {
      return true;
    }
  }
  return false;
}

ClusterWatch::Tally ClusterWatch::tally(const Member& member) {
  const SequenceStore& store = lane(member).state().store();
  const bool has_host = lane(member).offload() != nullptr;
  Tally tally;
  for (SequenceId id = 0; id < static_cast<SequenceId>(store.sequences.size()); ++id) {
    const Sequence& s = store.sequence(id);
    using State = Sequence::State;
    tally.waiting += s.state == State::waiting ? 1 : 0;
    tally.expected += s.state == State::expected ? 1 : 0;
    (has_host ? tally.from_host : tally.loading) += s.state == State::loading ? 1 : 0;
    tally.ready += s.state == State::ready ? 1 : 0;
    tally.swapped += s.state == State::swapped ? 1 : 0;
    tally.swap_blocks += s.state == State::swapped ? store.pool.blocks_for(s.computed) : 0;
    tally.handed_over += s.state == State::handed_over ? 1 : 0;
    tally.running += s.state == State::prefilling || s.state == State::decoding ? 1 : 0;
    if (s.state == State::gone) {
      continue;
    }
    const bool is_still = s.state != State::prefilling && s.state != State::decoding;
    tally.held_blocks += is_still ? own_blocks(store, id, s.held_blocks) : 0;
    tally.tokens += is_still && s.state != State::handed_over ? s.prompt + s.emitted : 0;
    const bool is_to_prefill = s.state == State::waiting || (has_host && s.state == State::loading);
    tally.prefill_left += is_to_prefill ? s.prompt + s.emitted - s.computed : 0;
    require(has_host || s.state != State::waiting || (s.held_blocks == 0 && s.computed == 0),
            "who waits holds no blocks");
    require(s.state != State::swapped || (s.held_blocks == 0 && s.computed == s.prompt + s.emitted - 1),
            "who is swapped out holds no blocks and has all tokens but the next");
    require(s.state != State::expected || s.held_blocks == 0, "who is expected holds no blocks");
  }
  std::int64_t listed = 0;
  for (std::size_t number = 0; number < member.count; ++number) {
    const BatchState& state = lane(member, number).state();
    for (SequenceId id = state.head(); id != kNoSequence; id = state.sequence(id).next, ++listed) {
      const Sequence& s = state.sequence(id);
      tally.held_blocks += own_blocks(store, id, state.held_blocks(id));
      tally.tokens += state.tokens(id);
      tally.prefill_left +=
          s.state == Sequence::State::prefilling ? state.tokens(id) - state.computed(id) : 0;
    }
  }
  require(listed == tally.running, "every running sequence is in one list");
  return tally;
}

void ClusterWatch::look_at_replica(std::int32_t replica) {
  const Member& member = members_[static_cast<std::size_t>(replica)];
  const SequenceStore& store = lane(member).state().store();
  const Tally tally = this->tally(member);
  const auto size_of = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  require(size_of(store.waiting) + size_of(store.joining) == tally.waiting &&
              size_of(store.expected) == tally.expected && size_of(store.ready) == tally.ready &&
              size_of(store.swapped) == tally.swapped && store.loading == tally.loading &&
              store.handed_over == tally.handed_over,
          "every sequence stands in the list of its state");
  require(store.swap_blocks_taken == tally.swap_blocks && store.swap_blocks_taken <= store.swap_blocks,
          "host memory has what its sequences had");
  require(store.tokens == tally.tokens, "the tokens of a replica are those of its sequences");
  require(store.prefill_left == tally.prefill_left, "what is left to prefill is that of its sequences");
  if (!is_running(member)) {
    require(store.pool.held().count() == held_with_cached(store, tally.held_blocks),
            "blocks held are those of its sequences");
  }
  require(store.pool.held() + store.pool.free() == store.pool.total(), "free and held blocks are all blocks");
  const Fleet& fleet = simulation_.coordinator()->fleet();
  const std::int64_t ahead = fleet.outstanding(replica) - tally.here();
  require(ahead >= 0, "who is there was sent there");
  promised_ += ahead;
  const bool decode_first = cluster_.is_split() && cluster_.setup.disaggregation->decode_first;
  require(ahead == 0 || decode_first, "who was sent and has not left is there");
  const ReplicaLoad load = fleet.load(replica);
  require(load.outstanding == fleet.outstanding(replica) &&
              load.waiting == tally.waiting + tally.ready + tally.swapped + tally.expected + tally.from_host,
          "the load tells of who is there");
  require(
      load.tokens >= tally.tokens && load.prefill_tokens <= tally.prefill_left && load.prefill_tokens >= 0,
      "a step under way adds tokens to a load and prefills some");
  if (fleet.status(replica) == ReplicaStatus::off || fleet.status(replica) == ReplicaStatus::starting) {
    require(tally.here() == 0 && tally.handed_over == 0 && !is_running(member),
            "nothing is on a replica that is off");
  }
  std::int64_t lanes = 0;
  for (std::size_t number = 0; number < member.count; ++number) {
    lanes += lane(member, number).is_running() ? 1 : 0;
  }
  most_lanes_ = std::max(most_lanes_, lanes);
}

bool ClusterWatch::has_work(std::size_t number) {
  const BatchState& state = simulation_.lanes()[number].state();
  const SequenceStore& store = state.store();
  if (simulation_.lanes()[number].offload() != nullptr) {
    return false;  // what it would load is not to be seen here
  }
  // Looking for prefixes, as can_load_next() does, changes nothing that anybody can see.
  const bool has_seat = state.running_count() < max_num_seqs_[number] && !state.runs_starving();
  if ((!store.ready.empty() && has_seat) || store.computed_in_need() != kNoSequence ||
      (!store.expected.empty() &&
       const_cast<SequenceStore&>(store).can_load_next(state.decodes().blocks_needed()))) {
    return true;
  }
  if (state.running_count() == 0 && store.waiting.empty() && store.swapped.empty()) {
    return false;
  }
  plan_.clear();
  PrefixesOfHead prefixes(state);
  shadows_[number]->plan(ReplicaView(state, simulation_.now(), &prefixes), plan_);
  if (state.runs_starving()) {
    // It keeps the blocks it has, where its policy would give them up, and waits for one of the others'.
    const auto preempted = static_cast<std::int64_t>(plan_.preempted.size());
    return !plan_.rejected.empty() || !plan_.chunks.empty() ||
           (plan_.decode && preempted < state.running_count());
  }
  return !plan_.rejected.empty() || !plan_.preempted.empty() || !plan_.chunks.empty() || plan_.decode;
}

void ClusterWatch::look_for_idlers() {
  has_idler_ = false;
  for (std::size_t number = 0; number < shadows_.size() && !has_idler_; ++number) {
    has_idler_ = !simulation_.lanes()[number].is_running() && has_work(number);
  }
}

void ClusterWatch::look_at_end() {
  require(!has_idler_, "nobody is left with work");
  const Coordinator& coordinator = *simulation_.coordinator();
  require(coordinator.held() == 0 && coordinator.in_transit() == 0, "nobody is left between replicas");
  require(coordinator.fleet().outstanding() == 0, "nobody is left on a replica");
  for (const Member& member : members_) {
    const SequenceStore& store = lane(member).state().store();
    require(!is_running(member), "no step is left");
    require(store.pool.free() == store.pool.total(), "all blocks are free in the end");
    require(store.tokens == 0 && store.prefill_left == 0, "no tokens are left in the end");
  }
}

}  // namespace inferometer::testing
