#include "sim/kvcache/kv_offload.hpp"

#include <algorithm>
#include <vector>

namespace inferometer {

void KvOffload::left_idle(std::uint64_t run, std::int64_t from, std::int64_t to) {
  if (config_.write == KvOffloadConfig::Write::on_release) {
    store(run, from, to);
  }
}

void KvOffload::evicted(std::uint64_t run, std::int64_t from, std::int64_t to) {
  if (config_.write == KvOffloadConfig::Write::on_evict) {
    store(run, from, to);
  }
}

void KvOffload::store(std::uint64_t run, std::int64_t from, std::int64_t to) {
  const std::int64_t blocks = tier_.put(run, from, to);
  if (blocks == 0) {
    return;
  }
  const Duration time = config_.block_copy * blocks;
  stored_by_ = std::max(stored_by_, now_) + time;
  tier_.ready_at(stored_by_);
  counts_.stored_blocks += blocks;
  counts_.storing += time;
}

HostHit KvOffload::find(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from,
                        std::int64_t to) const {
  HostHit all;
  cache.visit_runs(slot, from, to, [&](std::uint64_t run, std::int64_t begin, std::int64_t end) {
    const HostHit hit = tier_.find(run, begin, end);
    all.blocks += hit.blocks;
    all.ready = std::max(all.ready, hit.ready);
    return hit.blocks == end - begin;
  });
  return all;
}

TimePoint KvOffload::start_of(const HostHit& hit) const {
  return std::max({now_, loaded_by_, hit.ready});
}

TimePoint KvOffload::arrival_of(const HostHit& hit) const {
  return start_of(hit) + config_.block_copy * hit.blocks;
}

TimePoint KvOffload::load(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from,
                          std::int64_t to) {
  const HostHit hit = find(cache, slot, from, to);
  struct Part {
    std::uint64_t run;
    std::int64_t from, to;
  };
  std::vector<Part> parts;
  cache.visit_runs(slot, from, to, [&](std::uint64_t run, std::int64_t begin, std::int64_t end) {
    parts.push_back({run, begin, end});
    return true;
  });
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    tier_.use(part->run, part->from, part->to);
  }
  ++counts_.loads;
  counts_.loaded_blocks += hit.blocks;
  counts_.loading += config_.block_copy * hit.blocks;
  counts_.load_waiting += start_of(hit) - now_;
  loaded_by_ = arrival_of(hit);
  return loaded_by_;
}

void KvOffload::clear() {
  tier_.clear();
  stored_by_ = {};
  loaded_by_ = {};
}

}  // namespace inferometer
