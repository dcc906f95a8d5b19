#pragma once

// KV blocks that a tier below the GPU keeps, least recently used ones dropped first. Like the prefix cache it
// thinks in runs: successive blocks of one run of content are one extent.

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/units.hpp"

namespace inferometer {

/// What a tier has of a run, without a gap from where it was asked on.
struct TierHit {
  std::int64_t blocks = 0;
  TimePoint ready;  ///< when the last of them has been copied to it
};

/// How blocks come into a tier, and where those go that make room for them.
class TierFlow {
 public:
  virtual ~TierFlow() = default;
  /// How many of so many absent blocks may come in now; none: they do not come.
  virtual std::int64_t let_in(std::int64_t blocks) = 0;
  /// They come in: from when on they can be read.
  virtual TimePoint copy_in(std::int64_t blocks) = 0;
  /// Of a run, the last one first; they could be read from `ready` on.
  virtual void drop(std::uint64_t run, std::int64_t from, std::int64_t to, TimePoint ready) = 0;
};

/// Behaves as if blocks were used one by one, of a run the last one first, so that of a prompt the end is
/// dropped before the beginning. O(log extents) for each extent that a call touches, whatever the number of
/// blocks.
class TierBlocks {
 public:
  /// At least one block.
  explicit TierBlocks(std::int64_t blocks) : capacity_(blocks) {}

  /// Blocks [from, to) of a run come in as `flow` has it, those that are there already count as used now.
  void put(std::uint64_t run, std::int64_t from, std::int64_t to, TierFlow& flow);
  /// Of these blocks, those that are there count as used now.
  void use(std::uint64_t run, std::int64_t from, std::int64_t to);
  [[nodiscard]] TierHit find(std::uint64_t run, std::int64_t from, std::int64_t to) const;
  /// The first of these blocks that is there; `to` when none is.
  [[nodiscard]] std::int64_t next(std::uint64_t run, std::int64_t from, std::int64_t to) const;

  [[nodiscard]] std::int64_t held() const { return held_; }
  void clear();

 private:
  struct Extent {
    std::uint64_t run = 0;
    std::int64_t from = 0, to = 0;
    TimePoint ready;
  };
  using Place = std::list<Extent>::iterator;
  using Run = std::map<std::int64_t, Place>;  // by the first block of each extent

  [[nodiscard]] std::optional<Place> last_from(std::uint64_t run, std::int64_t block) const;
  void take_out(Place extent, std::int64_t from, std::int64_t to);
  void put_first(Extent extent);
  std::int64_t make_room(std::int64_t wanted, TierFlow& flow);
  void forget(Place extent);

  std::int64_t capacity_;
  std::int64_t held_ = 0;
  std::list<Extent> by_use_;  // the latest first
  std::unordered_map<std::uint64_t, Run> runs_;
};

}  // namespace inferometer
