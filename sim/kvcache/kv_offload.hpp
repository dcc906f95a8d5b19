#pragma once

// KV blocks that a replica keeps in host memory once its GPUs lose them, and the links over which they go and
// come back. Modelled on LMCache, vLLM's OffloadingConnector and SGLang's HiCache. Each GPU has its shard of
// every block and copies it itself, all GPUs at once, so that one link in each direction stands for all.

#include <cstdint>

#include "base/units.hpp"
#include "sim/kvcache/host_tier.hpp"
#include "sim/kvcache/prefix_cache.hpp"

namespace inferometer {

struct KvOffloadConfig {
  enum class Write : std::uint8_t {
    on_evict,    ///< blocks are copied when the GPU takes them for something else
    on_release,  ///< ... or already when no sequence holds them any more
  };
  enum class Load : std::uint8_t {
    by_cost,  ///< what comes back sooner than it could be computed
    always,
  };
  std::int64_t blocks = 0;  ///< that host memory holds; at least one
  Duration block_copy{};    ///< of one block, either way; more than 0
  Write write = Write::on_evict;
  Load load = Load::by_cost;
};

/// What went between GPU and host memory.
struct KvOffloadCounts {
  std::int64_t stored_blocks = 0;
  std::int64_t loaded_blocks = 0;
  std::int64_t loads = 0;   ///< sequences for which blocks came back
  Duration storing{};       ///< time for which the links to the host were in use
  Duration loading{};       ///< ... and those from it
  Duration load_waiting{};  ///< for the link, or for blocks that were still on their way out, of all loads

  friend KvOffloadCounts operator+(const KvOffloadCounts& a, const KvOffloadCounts& b) {
    return {a.stored_blocks + b.stored_blocks,
            a.loaded_blocks + b.loaded_blocks,
            a.loads + b.loads,
            a.storing + b.storing,
            a.loading + b.loading,
            a.load_waiting + b.load_waiting};
  }
  friend bool operator==(const KvOffloadCounts&, const KvOffloadCounts&) = default;
};

/// Copies in one direction follow each other, so that it is known when one ends as soon as it is asked for.
/// A block that is taken for something else is copied first from a buffer beside the cache: nobody waits for
/// that. Costs are those of HostTier for each run.
class KvOffload final : public BlockKeeper {
 public:
  explicit KvOffload(const KvOffloadConfig& config) : config_(config), tier_(config.blocks) {}

  [[nodiscard]] const KvOffloadConfig& config() const { return config_; }
  /// What is told from now on happens at this time.
  void set_time(TimePoint now) { now_ = now; }

  void left_idle(std::uint64_t run, std::int64_t from, std::int64_t to) override;
  void evicted(std::uint64_t run, std::int64_t from, std::int64_t to) override;

  /// Of blocks [from, to) of a sequence's tokens, those that host memory has, without a gap.
  [[nodiscard]] HostHit find(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from,
                             std::int64_t to) const;
  /// Until they would be here.
  [[nodiscard]] Duration time_to_load(const HostHit& hit) const { return arrival_of(hit) - now_; }
  /// They come: when they will be here. Those of them that host memory drops from now on come all the same.
  TimePoint load(const PrefixCache& cache, PrefixCache::Slot slot, std::int64_t from, std::int64_t to);

  [[nodiscard]] const KvOffloadCounts& counts() const { return counts_; }
  /// Host memory is empty, nothing is on its way.
  void clear();

 private:
  void store(std::uint64_t run, std::int64_t from, std::int64_t to);
  [[nodiscard]] TimePoint start_of(const HostHit& hit) const;
  [[nodiscard]] TimePoint arrival_of(const HostHit& hit) const;

  KvOffloadConfig config_;
  HostTier tier_;
  TimePoint now_;
  TimePoint stored_by_;  // all that is to go out
  TimePoint loaded_by_;  // all that is to come in
  KvOffloadCounts counts_;
};

}  // namespace inferometer
