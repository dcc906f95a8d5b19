// KV that comes back from host memory and disk: whether it is worth it, and what becomes of who waits for it.
// Semantics are those of vLLM V1 with an asynchronous connector (v1/core/sched/scheduler.py,
// WAITING_FOR_REMOTE_KVS): a sequence holds its blocks while its KV comes, and those behind it in the queue
// get past it.

#include <algorithm>

#include "base/check.hpp"
#include "sim/replica/replica.hpp"

namespace inferometer {

/// All there is, what is in host memory, or nothing: whichever way the tokens of all of it are there first.
std::int64_t Replica::worth_loading(SequenceId id, const CachedPrefix& cached) const {
  if (!offload_ || offload_->load_rule() == KvOffloadConfig::Load::never) {
    return 0;
  }
  const std::int64_t from = cached.tokens / config_.block_size;
  const std::int64_t to = (state_.tokens(id) - 1) / config_.block_size;
  const KvHit all = offload_->find(*state_.blocks().prefixes(), id, from, to, offload_->tiers());
  const std::int64_t tokens = all.blocks * config_.block_size;
  if (all.blocks == 0 || offload_->load_rule() == KvOffloadConfig::Load::always) {
    return tokens;
  }
  std::int64_t best = 0;
  Duration shortest = time_to_compute(tokens, cached.tokens);
  for (std::size_t tiers = 1; tiers <= offload_->tiers(); ++tiers) {
    const KvHit hit = offload_->find(*state_.blocks().prefixes(), id, from, to, tiers);
    const std::int64_t loaded = hit.blocks * config_.block_size;
    const Duration time =
        offload_->time_to_load(hit) + time_to_compute(tokens - loaded, cached.tokens + loaded);
    if (hit.blocks > 0 && time < shortest) {
      shortest = time;
      best = loaded;
    }
  }
  return best;
}

/// In steps of their own, as large as they may be.
Duration Replica::time_to_compute(std::int64_t tokens, std::int64_t past) const {
  Duration time{};
  for (std::int64_t done = 0; done < tokens;) {
    const ChunkShape chunk{std::min(tokens - done, config_.step_tokens), past + done};
    StepShape shape;
    shape.chunks = std::span(&chunk, 1);
    shape.sampled_rows = 1;
    time += pricer_->price(shape).total();
    done += chunk.tokens;
  }
  return time;
}

void Replica::book_loads() {
  for (; booked_.loads < plan_.loads.size(); ++booked_.loads) {
    const StepPlan::Admission& load = plan_.loads[booked_.loads];
    const KvOffload::Loading loading =
        offload_->load(*state_.blocks().prefixes(), load.id, load.cached_tokens / config_.block_size,
                       load.reserve_tokens / config_.block_size);
    PrefixSources found;
    found.host = loading.hit.in_tier.front().blocks * config_.block_size;
    found.disk = loading.hit.in_tier.back().blocks * config_.block_size;
    const auto behind = std::upper_bound(loads_.begin(), loads_.end(), loading.end,
                                         [](TimePoint end, const Load& other) { return end < other.end; });
    loads_.insert(behind, {load.id, found, loading.end});
    state_.take_blocks_to_load(load);
  }
}

void Replica::end_loads(TimePoint now) {
  for (; !loads_.empty() && loads_.front().end <= now; loads_.pop_front()) {
    state_.end_load(loads_.front().id, loads_.front().found);
  }
}

// The first of the queue may lack the very blocks that others behind it hold for KV that has come: when
// nothing runs that would give it some, they do.
bool Replica::spare_a_load() {
  return offload_ && loads_.empty() && state_.running_count() == 0 && state_.give_up_a_load();
}

}  // namespace inferometer
