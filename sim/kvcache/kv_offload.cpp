#include "sim/kvcache/kv_offload.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace inferometer {

KvOffload::KvOffload(const KvOffloadConfig& config) : write_(config.write), load_(config.load) {
  INFEROMETER_CHECK(!config.tiers.empty() && config.tiers.size() <= kKvTiers,
                    "tiers are host memory and disk");
  for (auto tier = config.tiers.rbegin(); tier != config.tiers.rend(); ++tier) {
    tiers_.emplace_front(*tier, tiers_.empty() ? nullptr : &tiers_.front());
  }
}

void KvOffload::left_idle(std::uint64_t run, std::int64_t from, std::int64_t to) {
  if (write_ == KvOffloadConfig::Write::on_release) {
    tiers_.front().store(now_, run, from, to, now_);
  }
}

void KvOffload::evicted(std::uint64_t run, std::int64_t from, std::int64_t to) {
  if (write_ == KvOffloadConfig::Write::on_evict) {
    tiers_.front().store(now_, run, from, to, now_);
  }
}

/// What the highest tier that has the first block has of it, up to where a higher one goes on; nothing when
/// none has it.
KvOffload::Part KvOffload::part_at(std::uint64_t run, std::int64_t from, std::int64_t to,
                                   std::size_t tiers) const {
  for (std::size_t tier = 0; tier < tiers; ++tier) {
    const TierBlocks& blocks = tiers_[tier].blocks();
    if (const TierHit hit = blocks.find(run, from, to); hit.blocks > 0) {
      return {tier, run, from, from + hit.blocks, hit.ready};
    }
    to = blocks.next(run, from, to);
  }
  return {0, run, from, from, {}};
}

template <class Visit>
void KvOffload::visit_parts(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from,
                            std::int64_t to, std::size_t tiers, Visit visit) const {
  cache.visit_runs(slot, from, to, [&](std::uint64_t run, std::int64_t at, std::int64_t end) {
    while (at < end) {
      const Part part = part_at(run, at, end, tiers);
      if (part.from == part.to) {
        return false;
      }
      visit(part);
      at = part.to;
    }
    return true;
  });
}

KvHit KvOffload::find(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from, std::int64_t to,
                      std::size_t tiers) const {
  KvHit all;
  visit_parts(cache, slot, from, to, tiers, [&](const Part& part) {
    TierHit& hit = all.in_tier[part.tier];
    hit.blocks += part.to - part.from;
    hit.ready = std::max(hit.ready, part.ready);
    all.blocks += part.to - part.from;
  });
  return all;
}

// From the lowest tier up, each adds what it has to what has come to it.
Duration KvOffload::time_to_load(const KvHit& hit) const {
  TimePoint there = now_;
  std::int64_t blocks = 0;
  for (std::size_t tier = tiers_.size(); tier-- > 0;) {
    blocks += hit.in_tier[tier].blocks;
    if (blocks > 0) {
      there = tiers_[tier].end_of(std::max(there, hit.in_tier[tier].ready), blocks);
    }
  }
  return there - now_;
}

KvOffload::Loading KvOffload::load(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from,
                                   std::int64_t to) {
  Loading loading{find(cache, slot, from, to, tiers_.size()), now_};
  std::vector<Part> parts;
  visit_parts(cache, slot, from, to, tiers_.size(), [&](const Part& part) { parts.push_back(part); });
  std::array<TimePoint, kKvTiers> come_to{};  // each tier, all that comes to it from below
  std::int64_t blocks = 0;
  for (std::size_t tier = tiers_.size(); tier-- > 0;) {
    const TierHit& hit = loading.hit.in_tier[tier];
    come_to[tier] = loading.end;
    blocks += hit.blocks;
    if (blocks > 0) {
      loading.end = tiers_[tier].load(now_, loading.end, std::max(loading.end, hit.ready), blocks);
    }
  }
  // Twice, so that what comes up neither takes the place of its own beginning nor is used after it.
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    tiers_[part->tier].use(part->run, part->from, part->to);
  }
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    tiers_[part->tier].use(part->run, part->from, part->to);
    for (std::size_t tier = part->tier; tier-- > 0;) {
      tiers_[tier].keep(now_, part->run, part->from, part->to, come_to[tier]);
    }
  }
  return loading;
}

KvOffloadCounts KvOffload::counts() const {
  return {tiers_.front().counts(), tiers_.size() > 1 ? tiers_.back().counts() : KvTierCounts()};
}

void KvOffload::clear() {
  for (KvTier& tier : tiers_) {
    tier.clear();
  }
}

}  // namespace inferometer
