#pragma once

// KV blocks that a replica keeps in host memory, and on a disk behind it, once its GPUs lose them, and the
// links over which they go and come back. Modelled on LMCache, vLLM's OffloadingConnector and SGLang's
// HiCache. Each GPU has its shard of every block and copies it itself, all GPUs at once, so that one link in
// each direction stands for all.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/units.hpp"
#include "sim/kvcache/kv_tier.hpp"
#include "sim/kvcache/prefix_cache.hpp"

namespace inferometer {

/// Tiers below the GPU: host memory, disk.
constexpr std::size_t kKvTiers = 2;

struct KvOffloadConfig {
  enum class Write : std::uint8_t {
    on_evict,    ///< blocks are copied when the GPU takes them for something else
    on_release,  ///< ... or already when no sequence holds them any more
  };
  enum class Load : std::uint8_t {
    by_cost,  ///< what comes back sooner than it could be computed
    always,
    never,  ///< blocks are only written
  };
  /// The one below the GPU first; at least one, at most kKvTiers.
  std::vector<KvTierConfig> tiers;
  Write write = Write::on_evict;
  Load load = Load::by_cost;
};

struct KvOffloadCounts {
  KvTierCounts host, disk;

  friend KvOffloadCounts operator+(const KvOffloadCounts& a, const KvOffloadCounts& b) {
    return {a.host + b.host, a.disk + b.disk};
  }
  friend bool operator==(const KvOffloadCounts&, const KvOffloadCounts&) = default;
};

/// What there is of a prompt below the GPU, without a gap; each block in the highest tier that has it.
struct KvHit {
  std::int64_t blocks = 0;
  std::array<TierHit, kKvTiers> in_tier{};
};

/// Nothing needs an event: when copies end is known as soon as they are asked for. A block that is taken for
/// something else is copied first from a buffer beside the cache: nobody waits for that. What host memory
/// drops goes to disk if that has not got it. What comes back from disk is all read into host memory, where
/// it stays, and then goes on; disk keeps it too. Costs are those of TierBlocks for each run and tier.
class KvOffload final : public BlockKeeper {
 public:
  explicit KvOffload(const KvOffloadConfig& config);
  KvOffload(const KvOffload&) = delete;
  KvOffload& operator=(const KvOffload&) = delete;

  [[nodiscard]] KvOffloadConfig::Load load_rule() const { return load_; }
  [[nodiscard]] std::size_t tiers() const { return tiers_.size(); }
  /// What is told from now on happens at this time.
  void set_time(TimePoint now) { now_ = now; }

  void left_idle(std::uint64_t run, std::int64_t from, std::int64_t to) override;
  void evicted(std::uint64_t run, std::int64_t from, std::int64_t to) override;

  /// Of blocks [from, to) of a sequence's tokens, those that the first so many tiers have, without a gap.
  [[nodiscard]] KvHit find(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from,
                           std::int64_t to, std::size_t tiers) const;
  /// Until they would be here.
  [[nodiscard]] Duration time_to_load(const KvHit& hit) const;

  struct Loading {
    KvHit hit;
    TimePoint end;
  };
  /// They come: when they will be here. Those of them that a tier drops from now on come all the same.
  Loading load(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from, std::int64_t to);

  [[nodiscard]] KvOffloadCounts counts() const;
  /// All tiers are empty, nothing is on its way.
  void clear();

 private:
  /// Successive blocks of a run in one tier.
  struct Part {
    std::size_t tier = 0;
    std::uint64_t run = 0;
    std::int64_t from = 0, to = 0;
    TimePoint ready;
  };
  [[nodiscard]] Part part_at(std::uint64_t run, std::int64_t from, std::int64_t to, std::size_t tiers) const;
  template <class Visit>
  void visit_parts(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from, std::int64_t to,
                   std::size_t tiers, Visit visit) const;

  KvOffloadConfig::Write write_;
  KvOffloadConfig::Load load_;
  std::deque<KvTier> tiers_;  // each knows where the next is
  TimePoint now_;
};

}  // namespace inferometer
