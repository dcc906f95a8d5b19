#include "sim/cluster/prefix_follower.hpp"

#include <algorithm>

namespace inferometer {

namespace {

/// The listener's numbers are -1 for none.
std::uint32_t parent_in_key(std::int32_t parent) {
  return static_cast<std::uint32_t>(parent);
}

static_assert(static_cast<std::uint32_t>(-1) == ContentKey::kNoParent);

}  // namespace

void PrefixFollower::node_added(std::int32_t node, std::int32_t parent, std::int64_t begin,
                                std::uint64_t id) {
  changes_.push_back({Change::Kind::added, node, {parent_in_key(parent), begin, id}});
}

// A run that is computed chunk by chunk, or decoded, changes many times in a row.
void PrefixFollower::node_cached(std::int32_t node, std::int64_t tokens) {
  const bool goes_on =
      !changes_.empty() && changes_.back().kind == Change::Kind::cached && changes_.back().node == node;
  if (goes_on) {
    changes_.back().tokens = tokens;
  } else {
    changes_.push_back({Change::Kind::cached, node, {}, tokens});
  }
}

void PrefixFollower::node_removed(std::int32_t node) {
  changes_.push_back({Change::Kind::removed, node});
}

// What came before makes no difference any more.
void PrefixFollower::all_removed() {
  changes_.clear();
  changes_.push_back({Change::Kind::all_removed});
}

void PrefixFollower::catch_up() {
  for (const Change& change : changes_) {
    const auto place = static_cast<std::size_t>(change.node);
    switch (change.kind) {
      case Change::Kind::added:
        nodes_.resize(std::max(nodes_.size(), place + 1));
        nodes_[place] = {change.key, 0};
        by_key_[change.key] = change.node;
        break;
      case Change::Kind::cached:
        nodes_[place].tokens = change.tokens;
        break;
      case Change::Kind::removed:
        by_key_.erase(nodes_[place].key);
        break;
      case Change::Kind::all_removed:
        nodes_.clear();
        by_key_.clear();
        break;
    }
  }
  changes_.clear();
}

std::int64_t PrefixFollower::cached_tokens(const Request& request) const {
  const std::int64_t most = (request.prompt.count() - 1) / block_size_;  // the last token has to run
  std::int64_t blocks = 0;
  ContentKey key;
  for (const ContentRun& run : request.content) {
    key.id = run.id;
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) {
      break;
    }
    const std::int64_t has =
        (key.from + nodes_[static_cast<std::size_t>(found->second)].tokens) / block_size_;
    const std::int64_t end = std::min((key.from + run.tokens) / block_size_, most);
    blocks = std::max(blocks, std::min(has, end));
    if (blocks < end) {
      break;
    }
    key = {parent_in_key(found->second), key.from + run.tokens, 0};
  }
  return blocks * block_size_;
}

}  // namespace inferometer
