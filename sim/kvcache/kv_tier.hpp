#pragma once

// One tier below the GPU's KV cache, host memory or a disk behind it: the blocks that it keeps and the link
// to what is above it, one copy at a time in each direction.

#include <cstdint>
#include <limits>

#include "base/units.hpp"
#include "sim/kvcache/read_link.hpp"
#include "sim/kvcache/tier_blocks.hpp"

namespace inferometer {

struct KvTierConfig {
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

  std::int64_t blocks = 0;  ///< that it holds; at least one
  Duration block_write{};   ///< of one block into it; more than 0
  Duration block_read{};    ///< ... and out of it, to the tier above or to the GPU
  /// Of a buffer in which blocks wait to be written, beside the tier above: at least one. What finds it full
  /// is lost.
  std::int64_t write_buffer = kUnbounded;
};

/// What went into a tier and out of it.
struct KvTierCounts {
  std::int64_t stored_blocks = 0;
  std::int64_t lost_blocks = 0;  ///< that found the buffer full
  std::int64_t loaded_blocks = 0;
  std::int64_t loads = 0;   ///< sequences for which blocks came from it or through it
  Duration storing{};       ///< time for which the link into it was in use
  Duration loading{};       ///< ... and the one out of it
  Duration load_waiting{};  ///< for the link, or for blocks that were still being written, of all loads

  friend KvTierCounts operator+(const KvTierCounts& a, const KvTierCounts& b) {
    return {a.stored_blocks + b.stored_blocks,
            a.lost_blocks + b.lost_blocks,
            a.loaded_blocks + b.loaded_blocks,
            a.loads + b.loads,
            a.storing + b.storing,
            a.loading + b.loading,
            a.load_waiting + b.load_waiting};
  }
  friend bool operator==(const KvTierCounts&, const KvTierCounts&) = default;
};

/// What it drops goes to the tier below. Costs are those of TierBlocks.
class KvTier {
 public:
  /// `below` outlives it; nullptr: what is dropped is lost.
  KvTier(const KvTierConfig& config, KvTier* below)
      : config_(config), blocks_(config.blocks), below_(below) {}

  /// Blocks come from above, where they can be read from `there` on; those that are here already are not
  /// copied again. In the order in which they come, the last of a run first.
  void store(TimePoint now, std::uint64_t run, std::int64_t from, std::int64_t to, TimePoint there);
  /// Blocks come from below on their way up and stay; they are here from `there` on.
  void keep(TimePoint now, std::uint64_t run, std::int64_t from, std::int64_t to, TimePoint there);
  [[nodiscard]] const TierBlocks& blocks() const { return blocks_; }
  void use(std::uint64_t run, std::int64_t from, std::int64_t to) { blocks_.use(run, from, to); }

  /// When so many blocks that can be read from `there` on could go up.
  [[nodiscard]] TimePoint start_of(TimePoint there, std::int64_t blocks) const {
    return reads_.start(there, config_.block_read * blocks);
  }
  [[nodiscard]] TimePoint end_of(TimePoint there, std::int64_t blocks) const {
    return start_of(there, blocks) + config_.block_read * blocks;
  }
  /// They do; returns when they have. `asked`: since when they wait for that.
  TimePoint load(TimePoint now, TimePoint asked, TimePoint there, std::int64_t blocks);

  [[nodiscard]] const KvTierCounts& counts() const { return counts_; }
  /// It is empty, nothing is on its way.
  void clear();

 private:
  class Flow;
  class Writing;
  class Keeping;

  KvTierConfig config_;
  TierBlocks blocks_;
  KvTier* below_;
  TimePoint written_by_;  // all that is to come in
  ReadLink reads_;
  KvTierCounts counts_;
};

}  // namespace inferometer
