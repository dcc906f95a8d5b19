#include "sim/kvcache/host_tier.hpp"

#include <algorithm>
#include <iterator>

namespace inferometer {
namespace {

/// The extent that begins at this block or, of those before it, last; the end when none does.
template <class Run>
auto extent_before(Run& run, std::int64_t block) {
  const auto behind = run.upper_bound(block);
  return behind == run.begin() ? run.end() : std::prev(behind);
}

}  // namespace

std::int64_t HostTier::put(std::uint64_t run, std::int64_t from, std::int64_t to) {
  std::int64_t missing = 0;
  while (from < to) {
    Run& extents = runs_[run];
    const auto before = extent_before(extents, to - 1);
    const std::int64_t end = before == extents.end() ? 0 : before->second->to;
    if (end >= to) {
      const Place place = before->second;
      const Extent used{run, std::max(from, place->from), to, place->ready};
      take_out(place, used.from, used.to);
      put_first(used);
      to = used.from;
    } else {
      const std::int64_t room = make_room(to - std::max(from, end));
      put_first({run, to - room, to, TimePoint()});
      held_ += room;
      missing += room;
      to -= room;
    }
  }
  return missing;
}

void HostTier::use(std::uint64_t run, std::int64_t from, std::int64_t to) {
  while (from < to) {
    const auto found = runs_.find(run);
    if (found == runs_.end()) {
      return;
    }
    const auto before = extent_before(found->second, to - 1);
    if (before == found->second.end()) {
      return;
    }
    const Place place = before->second;
    const Extent used{run, std::max(from, place->from), std::min(to, place->to), place->ready};
    if (used.from < used.to) {
      take_out(place, used.from, used.to);
      put_first(used);
    }
    to = used.from;
  }
}

void HostTier::ready_at(TimePoint time) {
  by_use_.front().ready = std::max(by_use_.front().ready, time);
}

HostHit HostTier::find(std::uint64_t run, std::int64_t from, std::int64_t to) const {
  HostHit hit;
  const auto found = runs_.find(run);
  if (found == runs_.end()) {
    return hit;
  }
  std::int64_t at = from;
  for (auto before = extent_before(found->second, at); at < to && before != found->second.end(); ++before) {
    const Extent& extent = *before->second;
    if (extent.from > at || extent.to <= at) {
      break;
    }
    at = std::min(to, extent.to);
    hit.ready = std::max(hit.ready, extent.ready);
  }
  hit.blocks = at - from;
  return hit;
}

void HostTier::clear() {
  by_use_.clear();
  runs_.clear();
  held_ = 0;
}

/// What is left of the extent on either side keeps its place in the order of use.
void HostTier::take_out(Place extent, std::int64_t from, std::int64_t to) {
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

void HostTier::put_first(Extent extent) {
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
std::int64_t HostTier::make_room(std::int64_t wanted) {
  if (held_ == capacity_) {
    const Place oldest = std::prev(by_use_.end());
    const std::int64_t dropped = std::min(wanted, oldest->to - oldest->from);
    held_ -= dropped;
    oldest->to -= dropped;
    if (oldest->from == oldest->to) {
      forget(oldest);
    }
  }
  return std::min(wanted, capacity_ - held_);
}

void HostTier::forget(Place extent) {
  const auto run = runs_.find(extent->run);
  run->second.erase(extent->from);
  if (run->second.empty()) {
    runs_.erase(run);
  }
  by_use_.erase(extent);
}

}  // namespace inferometer
