#include "sim/kvcache/prefix_cache.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "base/random.hpp"

namespace inferometer {

PrefixCache::PrefixCache(std::int64_t blocks, std::int64_t block_size) : block_size_(block_size) {
  put_back(blocks);
}

void PrefixCache::clear(std::int64_t blocks) {
  PrefixListener* const listener = listener_;
  BlockKeeper* const keeper = keeper_;
  *this = PrefixCache(blocks, block_size_.value());
  listener_ = listener;
  keeper_ = keeper;
  if (listener_ != nullptr) {
    listener_->all_removed();
  }
}

// --- free blocks ---

void PrefixCache::take(std::int64_t blocks) {
  while (blocks > 0) {
    const Index e = first_free_;
    INFEROMETER_CHECK(e != kNone, "blocks are taken that are free");
    const std::int64_t taken = std::min(blocks, extent(e).to - extent(e).from);
    extent(e).to -= taken;
    blocks -= taken;
    if (extent(e).node != kNone) {
      cached_ -= taken;
      idle_cached_ -= taken;
      tell(extent(e).node);
      if (keeper_ != nullptr) {
        keeper_->evicted(node(extent(e).node).run, extent(e).to, extent(e).to + taken);
      }
    }
    if (extent(e).from == extent(e).to) {
      remove_free(e);
      drop(e);
    }
  }
}

void PrefixCache::put_back(std::int64_t blocks) {
  if (blocks == 0) {
    return;
  }
  if (last_free_ != kNone && extent(last_free_).node == kNone) {
    extent(last_free_).to += blocks;
    return;
  }
  Extent run;
  run.to = blocks;
  append_free(new_extent(run));
}

void PrefixCache::append_free(Index e) {
  extent(e).previous_free = last_free_;
  extent(e).next_free = kNone;
  (last_free_ == kNone ? first_free_ : extent(last_free_).next_free) = e;
  last_free_ = e;
}

void PrefixCache::remove_free(Index e) {
  const Extent& x = extent(e);
  (x.previous_free == kNone ? first_free_ : extent(x.previous_free).next_free) = x.next_free;
  (x.next_free == kNone ? last_free_ : extent(x.next_free).previous_free) = x.previous_free;
}

// --- sequences ---

void PrefixCache::enter(Slot slot, const Request& request) {
  if (static_cast<std::size_t>(slot) >= tenants_.size()) {
    tenants_.resize(static_cast<std::size_t>(slot) + 1);
  }
  Tenant& t = tenant(slot);
  t.request = request.id;
  t.session = request.session;
  t.prompt = request.prompt.count();
  t.content.assign(request.content.begin(), request.content.end());
  t.output_content = request.output_content;
  t.may_match = !t.content.empty();
  t.copy = -1;
  INFEROMETER_CHECK(t.path.empty() && t.holdings.empty(), "who left has left nothing behind");
}

void PrefixCache::leave(Slot slot) {
  Tenant& t = tenant(slot);
  INFEROMETER_CHECK(t.holdings.empty(), "a sequence that leaves holds nothing");
  for (const PathStep& step : t.path) {
    unuse(step.node);
  }
  t.path.clear();
}

PrefixMatch PrefixCache::match(Slot slot, std::int64_t tokens) {
  Tenant& t = tenant(slot);
  if (!t.may_match) {
    return {};
  }
  INFEROMETER_CHECK(t.holdings.empty(), "who looks for a prefix holds nothing");
  lengthen_path(t, tokens);
  PrefixMatch found;
  found.blocks = walk(t, block_size_.quotient(tokens - 1), [&](const Piece& piece, std::int64_t from) {
    found.last_is_idle = extent(piece.extent).holders == 0;
    found.idle += found.last_is_idle ? piece.to - from : 0;
  });
  return found;
}

PrefixSources PrefixCache::hold(Slot slot, std::int64_t blocks) {
  Tenant& t = tenant(slot);
  PrefixSources sources;
  if (blocks == 0) {
    return sources;
  }
  const std::int64_t held = walk(t, blocks, [&](const Piece& piece, std::int64_t from) {
    Index e = piece.extent;
    if (extent(e).from < from) {
      split(e, from);
    }
    if (piece.to < extent(e).to) {
      split(e, piece.to);
      e = extent(e).previous_in_node;
    }
    Extent& x = extent(e);
    if (x.holders++ == 0) {
      remove_free(e);
      idle_cached_ -= x.to - x.from;
    }
    const std::int64_t tokens = (x.to - x.from) * block_size_.value();
    if (x.request == t.request) {
      sources.own += tokens;
    } else if (t.session >= 0 && x.session == t.session) {
      sources.session += tokens;
    } else {
      sources.others += tokens;
    }
    t.holdings.push_back({e, from, x.to});
  });
  INFEROMETER_CHECK(held == blocks, "what is held was found");
  return sources;
}

void PrefixCache::cover(Slot slot, std::int64_t tokens) {
  Tenant& t = tenant(slot);
  const std::int64_t target = block_size_.quotient(tokens);
  std::int64_t from = covered(slot);
  if (!t.may_match || from >= target) {
    return;
  }
  lengthen_path(t, tokens);
  if (t.copy < 0) {
    t.copy = next_copy_++;
  }
  for (const PathStep& step : t.path) {
    const std::int64_t to = std::min(block_size_.quotient(step.end), target);
    if (to > from) {
      cache_blocks(t, step.node, from, to);
      from = to;
    }
  }
  INFEROMETER_CHECK(from == target, "a path is as long as its sequence");
}

void PrefixCache::cache_blocks(Tenant& t, Index n, std::int64_t from, std::int64_t to) {
  cached_ += to - from;
  if (!t.holdings.empty()) {
    Holding& last = t.holdings.back();
    Extent& x = extent(last.extent);
    if (x.node == n && x.copy == t.copy && x.to == from && x.holders == 1) {
      x.to = to;
      last.to = to;
      tell(n);
      return;
    }
  }
  Extent fresh;
  fresh.node = n;
  fresh.holders = 1;
  fresh.from = from;
  fresh.to = to;
  fresh.copy = t.copy;
  fresh.request = t.request;
  fresh.session = t.session;
  const Index e = new_extent(fresh);
  add_to_node(e);
  t.holdings.push_back({e, from, to});
  tell(n);
}

std::int64_t PrefixCache::release(Slot slot, std::int64_t held, std::int64_t tokens, bool recomputes) {
  Tenant& t = tenant(slot);
  t.may_match = t.may_match || recomputes;
  // What nobody will ever look for again is not worth keeping count of: it is free like any other block.
  const bool is_sought = recomputes || t.output_content != 0;
  cover(slot, is_sought ? tokens : std::min(tokens, t.prompt));
  std::int64_t freed = held - covered(slot);
  INFEROMETER_CHECK(freed >= 0, "a sequence holds blocks for what it has computed");
  put_back(freed);
  while (!t.holdings.empty()) {
    freed += let_go(t.holdings.back());
    t.holdings.pop_back();
  }
  t.copy = -1;
  return freed;
}

std::int64_t PrefixCache::let_go(const Holding& holding) {
  std::int64_t freed = 0;
  for (Index e = holding.extent; e != kNone;) {
    const bool is_first = extent(e).from == holding.from;
    const Index left = is_first ? kNone : left_of(e);
    INFEROMETER_CHECK(is_first || left != kNone, "what is held has not gone");
    if (--extent(e).holders == 0) {
      const std::int64_t blocks = extent(e).to - extent(e).from;
      freed += blocks;
      idle_cached_ += blocks;
      if (keeper_ != nullptr) {
        keeper_->left_idle(node(extent(e).node).run, extent(e).from, extent(e).to);
      }
      const Index last = last_free_;
      if (last != kNone && extent(last).node != kNone && left_of(last) == e) {
        extent(last).from = extent(e).from;
        drop(e);
      } else {
        append_free(e);
      }
    }
    e = left;
  }
  return freed;
}

std::int64_t PrefixCache::exclusive(Slot slot, std::int64_t held, std::span<const Slot> leaving) const {
  std::int64_t others = 0;
  for (const Holding& holding : tenant(slot).holdings) {
    for (Index e = holding.extent; e != kNone;) {
      const Extent& x = extent(e);
      const auto left = std::count_if(leaving.begin(), leaving.end(), [&](Slot l) { return holds(l, x); });
      others += x.holders - left > 1 ? x.to - x.from : 0;
      e = x.from == holding.from ? kNone : left_of(e);
    }
  }
  return held - others;
}

bool PrefixCache::holds(Slot slot, const Extent& x) const {
  const std::vector<Holding>& holdings = tenant(slot).holdings;
  return std::any_of(holdings.begin(), holdings.end(), [&](const Holding& holding) {
    const Extent& last = extent(holding.extent);
    return last.node == x.node && last.copy == x.copy && holding.from <= x.from && x.to <= holding.to;
  });
}

std::int64_t PrefixCache::cached_tokens(const Request& request) const {
  Tenant t;
  NodeKey key;
  const std::int64_t seekable = block_size_.quotient(request.prompt.count() - 1);
  for (const ContentRun& run : request.content) {
    key.id = run.id;
    const auto found = index_.find(key);
    if (found == index_.end()) {
      break;
    }
    key.parent = found->second;
    key.begin += run.tokens;
    t.path.push_back({key.parent, key.begin});
  }
  return block_size_.value() * walk(t, seekable, [](const Piece&, std::int64_t) {});
}

// --- the tree ---

std::size_t PrefixCache::KeyHash::operator()(const NodeKey& key) const {
  std::uint64_t state = key.id ^ (static_cast<std::uint64_t>(key.parent) << 32) ^
                        (static_cast<std::uint64_t>(key.begin) << 1) ^
                        static_cast<std::uint64_t>(key.is_private);
  return static_cast<std::size_t>(splitmix64(state));
}

void PrefixCache::lengthen_path(Tenant& t, std::int64_t tokens) {
  if (t.path.empty()) {
    std::int64_t end = 0;
    for (const ContentRun& run : t.content) {
      end += run.tokens;
      add_step(t, false, run.id, end);
    }
    if (t.content.empty()) {
      add_step(t, true, static_cast<std::uint64_t>(t.request), t.prompt);
    }
    INFEROMETER_CHECK(t.path.back().end == t.prompt, "content runs add up to the prompt");
  }
  PathStep& last = t.path.back();
  if (tokens <= last.end) {
    return;
  }
  if (last.end > t.prompt) {
    last.end = tokens;  // of the output
  } else if (t.output_content != 0) {
    add_step(t, false, t.output_content, tokens);
  } else {
    add_step(t, true, static_cast<std::uint64_t>(t.request), tokens);
  }
}

void PrefixCache::add_step(Tenant& t, bool is_private, std::uint64_t id, std::int64_t end) {
  NodeKey key;
  key.is_private = is_private;
  key.id = id;
  if (!t.path.empty()) {
    key.parent = t.path.back().node;
    key.begin = t.path.back().end;
  }
  const Index n = node_of(key);
  ++node(n).uses;
  t.path.push_back({n, end});
}

PrefixCache::Index PrefixCache::node_of(const NodeKey& key) {
  const auto [place, is_new] = index_.try_emplace(key, kNone);
  if (!is_new) {
    return place->second;
  }
  if (vacant_nodes_.empty()) {
    place->second = static_cast<Index>(nodes_.size());
    nodes_.emplace_back();
  } else {
    place->second = vacant_nodes_.back();
    vacant_nodes_.pop_back();
  }
  node(place->second) = Node{.key = key, .run = run_number(key)};
  if (key.parent != kNone) {
    ++node(key.parent).uses;
  }
  if (listener_ != nullptr && !key.is_private) {
    listener_->node_added(place->second, key.parent, key.begin, key.id);
  }
  return place->second;
}

/// A hash of all content up to the end of the run: 64 bits tell apart what one replica ever sees.
std::uint64_t PrefixCache::run_number(const NodeKey& key) const {
  std::uint64_t state = key.parent == kNone ? 0 : node(key.parent).run;
  state = splitmix64(state) ^ key.id;
  state = splitmix64(state) ^ (static_cast<std::uint64_t>(key.begin) << 1 | (key.is_private ? 1U : 0U));
  return splitmix64(state);
}

void PrefixCache::unuse(Index n) {
  while (n != kNone && --node(n).uses == 0) {
    if (listener_ != nullptr && !node(n).key.is_private) {
      listener_->node_removed(n);
    }
    index_.erase(node(n).key);
    vacant_nodes_.push_back(n);
    n = node(n).key.parent;
  }
}

void PrefixCache::tell(Index n) const {
  if (listener_ == nullptr || node(n).key.is_private) {
    return;
  }
  const std::int64_t begin = node(n).key.begin;
  std::int64_t block = block_size_.quotient(begin);
  for (Piece piece = piece_at(n, block); piece.extent != kNone; piece = piece_at(n, block)) {
    block = piece.to;
  }
  listener_->node_cached(n, std::max<std::int64_t>(0, block * block_size_.value() - begin));
}

/// The oldest copy of a block, as far as it is the oldest.
PrefixCache::Piece PrefixCache::piece_at(Index n, std::int64_t block) const {
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  for (Index e = node(n).first; e != kNone; e = extent(e).next_in_node) {
    const Extent& x = extent(e);
    if (x.from <= block && block < x.to) {
      return {e, std::min(x.to, limit)};
    }
    if (x.from > block) {
      limit = std::min(limit, x.from);
    }
  }
  return {};
}

/// Goes along the cached blocks of a path, at most so many, until one is missing; returns their number.
template <class Visit>
std::int64_t PrefixCache::walk(const Tenant& t, std::int64_t blocks, Visit visit) const {
  std::int64_t at = 0;
  for (const PathStep& step : t.path) {
    const std::int64_t end = std::min(block_size_.quotient(step.end), blocks);
    while (at < end) {
      Piece piece = piece_at(step.node, at);
      if (piece.extent == kNone) {
        return at;
      }
      piece.to = std::min(piece.to, end);
      visit(piece, at);
      at = piece.to;
    }
  }
  return at;
}

// --- extents ---

PrefixCache::Index PrefixCache::new_extent(const Extent& value) {
  if (vacant_extents_.empty()) {
    extents_.push_back(value);
    return static_cast<Index>(extents_.size() - 1);
  }
  const Index e = vacant_extents_.back();
  vacant_extents_.pop_back();
  extent(e) = value;
  return e;
}

void PrefixCache::add_to_node(Index e) {
  const Extent& x = extent(e);
  Index after = node(x.node).last;
  while (after != kNone &&
         (extent(after).copy > x.copy || (extent(after).copy == x.copy && extent(after).from > x.from))) {
    after = extent(after).previous_in_node;
  }
  link_in_node(e, after);
}

void PrefixCache::link_in_node(Index e, Index after) {
  Extent& x = extent(e);
  Node& home = node(x.node);
  x.previous_in_node = after;
  x.next_in_node = after == kNone ? home.first : extent(after).next_in_node;
  (after == kNone ? home.first : extent(after).next_in_node) = e;
  (x.next_in_node == kNone ? home.last : extent(x.next_in_node).previous_in_node) = e;
  ++home.uses;
}

/// An extent is no more. It is in no list of free ones.
void PrefixCache::drop(Index e) {
  const Extent x = extent(e);
  vacant_extents_.push_back(e);
  if (x.node == kNone) {
    return;
  }
  Node& home = node(x.node);
  (x.previous_in_node == kNone ? home.first : extent(x.previous_in_node).next_in_node) = x.next_in_node;
  (x.next_in_node == kNone ? home.last : extent(x.next_in_node).previous_in_node) = x.previous_in_node;
  unuse(x.node);
}

/// The part left of block `at` becomes an extent of its own, free behind the rest: it lasts longer.
void PrefixCache::split(Index e, std::int64_t at) {
  Extent left = extent(e);
  left.to = at;
  extent(e).from = at;
  const Index l = new_extent(left);
  link_in_node(l, left.previous_in_node);
  if (left.holders > 0) {
    return;
  }
  const Index next = extent(e).next_free;
  extent(l).previous_free = e;
  extent(l).next_free = next;
  extent(e).next_free = l;
  (next == kNone ? last_free_ : extent(next).previous_free) = l;
}

/// The extent of the same copy that ends where this one begins.
PrefixCache::Index PrefixCache::left_of(Index e) const {
  const Index left = extent(e).previous_in_node;
  const bool adjoins =
      left != kNone && extent(left).copy == extent(e).copy && extent(left).to == extent(e).from;
  return adjoins ? left : kNone;
}

}  // namespace inferometer
