#pragma once

// KV blocks that host memory keeps for a replica, least recently used ones dropped first. Like the prefix
// cache it thinks in runs: successive blocks of one run of content are one extent.

#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>

#include "base/units.hpp"

namespace inferometer {

/// What host memory has of a run, without a gap from where it was asked on.
struct HostHit {
  std::int64_t blocks = 0;
  TimePoint ready;  ///< when the last of them has been copied to it
};

/// Behaves as if blocks were used one by one, of a run the last one first, so that of a prompt the end is
/// dropped before the beginning. O(log extents) for each extent that a call touches, whatever the number of
/// blocks.
class HostTier {
 public:
  /// At least one block.
  explicit HostTier(std::int64_t blocks) : capacity_(blocks) {}

  /// Blocks [from, to) of a run come in, those that are there already count as used now. Returns how many
  /// were not there.
  std::int64_t put(std::uint64_t run, std::int64_t from, std::int64_t to);
  /// What is there of the blocks that came in last can be read from then on.
  void ready_at(TimePoint time);
  /// Of these blocks, those that are there count as used now.
  void use(std::uint64_t run, std::int64_t from, std::int64_t to);
  [[nodiscard]] HostHit find(std::uint64_t run, std::int64_t from, std::int64_t to) const;

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

  void take_out(Place extent, std::int64_t from, std::int64_t to);
  void put_first(Extent extent);
  std::int64_t make_room(std::int64_t wanted);
  void forget(Place extent);

  std::int64_t capacity_;
  std::int64_t held_ = 0;
  std::list<Extent> by_use_;  // the latest first
  std::unordered_map<std::uint64_t, Run> runs_;
};

}  // namespace inferometer
