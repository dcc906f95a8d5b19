#include "sim/kvcache/tier_blocks.hpp"

#include <algorithm>
#include <iterator>

namespace inferometer {

void TierBlocks::put(std::uint64_t run, std::int64_t from, std::int64_t to, TierFlow& flow) {
  while (from < to) {
    const std::optional<Place> before = last_from(run, to - 1);
    const std::int64_t end = before ? (*before)->to : 0;
    if (end >= to) {
      const Extent used{run, std::max(from, (*before)->from), to, (*before)->ready};
      take_out(*before, used.from, used.to);
      put_first(used);
      to = used.from;
      continue;
    }
    const std::int64_t absent = to - std::max(from, end);
    const std::int64_t admitted = flow.let_in(absent);
    if (admitted == 0) {
      to -= absent;
    } else {
      const std::int64_t room = make_room(admitted, flow);
      put_first({run, to - room, to, flow.copy_in(room)});
      held_ += room;
      to -= room;
    }
  }
}

void TierBlocks::use(std::uint64_t run, std::int64_t from, std::int64_t to) {
  while (from < to) {
    const std::optional<Place> before = last_from(run, to - 1);
    if (!before) {
      return;
    }
    const Place place = *before;
    const Extent used{run, std::max(from, place->from), std::min(to, place->to), place->ready};
    if (used.from < used.to) {
      take_out(place, used.from, used.to);
      put_first(used);
    }
    to = used.from;
  }
}

TierHit TierBlocks::find(std::uint64_t run, std::int64_t from, std::int64_t to) const {
  TierHit hit;
  std::int64_t at = from;
  while (at < to) {
    const std::optional<Place> before = last_from(run, at);
    if (!before || (*before)->to <= at) {
      break;
    }
    at = std::min(to, (*before)->to);
    hit.ready = std::max(hit.ready, (*before)->ready);
  }
  hit.blocks = at - from;
  return hit;
}

std::int64_t TierBlocks::next(std::uint64_t run, std::int64_t from, std::int64_t to) const {
  if (const std::optional<Place> before = last_from(run, from); before && (*before)->to > from) {
    return from;
  }
  const auto found = runs_.find(run);
  if (found == runs_.end()) {
    return to;
  }
  const auto behind = found->second.upper_bound(from);
  return behind == found->second.end() ? to : std::min(to, behind->first);
}

void TierBlocks::clear() {
  by_use_.clear();
  runs_.clear();
  held_ = 0;
}

/// The extent that begins at this block or, of those before it, last.
std::optional<TierBlocks::Place> TierBlocks::last_from(std::uint64_t run, std::int64_t block) const {
  const auto found = runs_.find(run);
  if (found == runs_.end()) {
    return std::nullopt;
  }
  const auto behind = found->second.upper_bound(block);
  return behind == found->second.begin() ? std::nullopt : std::optional(std::prev(behind)->second);
}

/// What is left of the extent on either side keeps its place in the order of use.
void TierBlocks::take_out(Place extent, std::int64_t from, std::int64_t to) {
  if (to < extent->to) {
    const Extent right{extent->run, to, extent->to, extent->ready};
    runs_[right.run][to] = by_use_.insert(std::next(extent), right);
  }
  if (extent->from < from) {
    extent->to = from;
  } else {
    forget(extent);
  }
}

void TierBlocks::put_first(Extent extent) {
  if (!by_use_.empty() && by_use_.front().run == extent.run && by_use_.front().from == extent.to) {
    const Place next = by_use_.begin();
    extent.to = next->to;
    extent.ready = std::max(extent.ready, next->ready);
    forget(next);
  }
  by_use_.push_front(extent);
  runs_[extent.run][extent.from] = by_use_.begin();
}

/// At least one block and at most as many as wanted are free now; returns their number.
std::int64_t TierBlocks::make_room(std::int64_t wanted, TierFlow& flow) {
  if (held_ == capacity_) {
    const Place oldest = std::prev(by_use_.end());
    const std::int64_t dropped = std::min(wanted, oldest->to - oldest->from);
    held_ -= dropped;
    oldest->to -= dropped;
    const Extent gone{oldest->run, oldest->to, oldest->to + dropped, oldest->ready};
    if (oldest->from == oldest->to) {
      forget(oldest);
    }
    flow.drop(gone.run, gone.from, gone.to, gone.ready);
  }
  return std::min(wanted, capacity_ - held_);
}

void TierBlocks::forget(Place extent) {
  const auto run = runs_.find(extent->run);
  run->second.erase(extent->from);
  if (run->second.empty()) {
    runs_.erase(run);
  }
  by_use_.erase(extent);
}

}  // namespace inferometer
