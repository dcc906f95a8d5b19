#include "sim/router/prefix_index.hpp"

#include <algorithm>

namespace inferometer {
namespace {

/// Ids of runs are > 0: this one stands for a prompt unlike any other.
constexpr std::uint64_t kUnlikeAny = 0;

template <class Item>
std::uint32_t new_slot(std::vector<Item>& items, std::vector<std::uint32_t>& vacant) {
  if (vacant.empty()) {
    items.emplace_back();
    return static_cast<std::uint32_t>(items.size() - 1);
  }
  const std::uint32_t slot = vacant.back();
  vacant.pop_back();
  return slot;
}

}  // namespace

void PrefixIndex::add(std::int32_t replica, const Request& request, std::int64_t tokens, TimePoint now) {
  if (static_cast<std::size_t>(replica) >= replicas_.size()) {
    replicas_.resize(static_cast<std::size_t>(replica) + 1);
  }
  const ContentRun own{kUnlikeAny, request.prompt.count()};
  const std::span<const ContentRun> runs =
      request.content.empty() ? std::span(&own, 1) : std::span(request.content);
  path_.clear();
  ContentKey key{kNone, request.content.empty() ? request.id : 0, runs.front().id};
  std::int64_t left = tokens;
  for (std::size_t i = 0; left > 0 && i < runs.size(); left -= runs[i].tokens, ++i) {
    key.id = runs[i].id;
    const std::uint32_t node = node_of(key);
    const std::uint32_t place = holding_of(node, replica);
    Holding& holding = holdings_[place];
    const std::int64_t has = std::max(holding.tokens, std::min(left, runs[i].tokens));
    replicas_[static_cast<std::size_t>(replica)].tokens += has - holding.tokens;
    holding.tokens = has;
    path_.push_back(place);
    key = {node, runs[i].tokens, 0};
  }
  std::for_each(path_.rbegin(), path_.rend(), [&](std::uint32_t holding) { use(holding, now); });
  trim(replica, now);
}

void PrefixIndex::match(const Request& request, TimePoint now) {
  for (const std::int32_t replica : found_) {
    replicas_[static_cast<std::size_t>(replica)].matched = 0;
  }
  found_.clear();
  ContentKey key;
  std::int64_t past = 0;
  for (const ContentRun& run : request.content) {
    key.id = run.id;
    const auto node = by_key_.find(key);
    if (node == by_key_.end()) {
      return;
    }
    for (const std::uint32_t place : nodes_[node->second].holdings) {
      const Holding& holding = holdings_[place];
      if (is_too_old(holding, now)) {
        continue;
      }
      replicas_[static_cast<std::size_t>(holding.replica)].matched =
          past + std::min(holding.tokens, run.tokens);
      if (past == 0) {
        found_.push_back(holding.replica);
      }
    }
    past += run.tokens;
    key = {node->second, run.tokens, 0};
  }
}

void PrefixIndex::forget(std::int32_t replica) {
  const auto place = static_cast<std::size_t>(replica);
  while (place < replicas_.size() && replicas_[place].oldest != kNone) {
    remove(replicas_[place].oldest);
  }
}

std::uint32_t PrefixIndex::node_of(const ContentKey& key) {
  const auto [place, is_new] = by_key_.try_emplace(key, kNone);
  if (is_new) {
    place->second = new_slot(nodes_, vacant_nodes_);
    nodes_[place->second].key = key;
  }
  return place->second;
}

std::uint32_t PrefixIndex::holding_of(std::uint32_t node, std::int32_t replica) {
  for (const std::uint32_t place : nodes_[node].holdings) {
    if (holdings_[place].replica == replica) {
      return place;
    }
  }
  const std::uint32_t place = new_slot(holdings_, vacant_holdings_);
  holdings_[place] = {.node = node, .replica = replica};
  nodes_[node].holdings.push_back(place);
  link_newest(place);
  return place;
}

// Of a prompt the last run first: whatever is used makes what comes before it more recent still.
void PrefixIndex::use(std::uint32_t holding, TimePoint now) {
  holdings_[holding].used = now;
  unlink(holding);
  link_newest(holding);
}

void PrefixIndex::link_newest(std::uint32_t place) {
  Holding& holding = holdings_[place];
  Replica& replica = replicas_[static_cast<std::size_t>(holding.replica)];
  holding.older = replica.newest;
  holding.newer = kNone;
  (replica.newest == kNone ? replica.oldest : holdings_[replica.newest].newer) = place;
  replica.newest = place;
}

void PrefixIndex::unlink(std::uint32_t place) {
  const Holding& holding = holdings_[place];
  Replica& replica = replicas_[static_cast<std::size_t>(holding.replica)];
  (holding.older == kNone ? replica.oldest : holdings_[holding.older].newer) = holding.newer;
  (holding.newer == kNone ? replica.newest : holdings_[holding.newer].older) = holding.older;
}

// The oldest of a replica is the last of its prompts there, or nothing of it: nobody is left below it.
void PrefixIndex::remove(std::uint32_t place) {
  const Holding& holding = holdings_[place];
  Node& node = nodes_[holding.node];
  unlink(place);
  replicas_[static_cast<std::size_t>(holding.replica)].tokens -= holding.tokens;
  std::erase(node.holdings, place);
  if (node.holdings.empty()) {
    by_key_.erase(node.key);
    vacant_nodes_.push_back(holding.node);
  }
  vacant_holdings_.push_back(place);
}

void PrefixIndex::trim(std::int32_t replica, TimePoint now) {
  Replica& one = replicas_[static_cast<std::size_t>(replica)];
  while (one.oldest != kNone && is_too_old(holdings_[one.oldest], now)) {
    remove(one.oldest);
  }
  while (limits_.tokens && one.tokens > *limits_.tokens) {
    Holding& oldest = holdings_[one.oldest];
    const std::int64_t cut = std::min(oldest.tokens, one.tokens - *limits_.tokens);
    if (cut == oldest.tokens) {
      remove(one.oldest);
    } else {
      oldest.tokens -= cut;
      one.tokens -= cut;
    }
  }
}

}  // namespace inferometer
