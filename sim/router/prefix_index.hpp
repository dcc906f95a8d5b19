#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"
#include "workloads/content_key.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// What a router believes to be cached where, by the prompts that it has sent there: one tree of content runs
/// for all replicas, in which each node says how many of its tokens which replica has. A node is told by its
/// parent, the tokens of the parent before it branches off, and the id of its run.
///
/// What has gone unused for longest is forgotten first, from the end of prompts on: a run is as recent as the
/// last prompt that went through it, and has fewer tokens when it is cut. So a replica that has a node has
/// all that comes before it.
class PrefixIndex {
 public:
  struct Limits {
    std::optional<std::int64_t> tokens{};  ///< of each replica, > 0
    std::optional<Duration> age{};         ///< since the last use, > 0; forgotten at that very moment
  };
  explicit PrefixIndex(Limits limits) : limits_(limits) {}

  /// The replica has the first `tokens` tokens of the prompt from now on, if not less because of the limits.
  /// Prompts without content take their room, too, and are found by nobody. `now` is never before that of an
  /// earlier call. O(runs * replicas that have them), amortised.
  void add(std::int32_t replica, const Request& request, std::int64_t tokens, TimePoint now);
  /// Looks up a prompt; matched() then speaks of it. O(runs * replicas that have them).
  void match(const Request& request, TimePoint now);
  /// Tokens from the start of that prompt that the replica has.
  [[nodiscard]] std::int64_t matched(std::int32_t replica) const {
    const auto place = static_cast<std::size_t>(replica);
    return place < replicas_.size() ? replicas_[place].matched : 0;
  }
  /// The replica has nothing. O(what it had).
  void forget(std::int32_t replica);
  /// Of all prompts together, shared ones once. What is too old counts until the next add().
  [[nodiscard]] std::int64_t tokens(std::int32_t replica) const {
    const auto place = static_cast<std::size_t>(replica);
    return place < replicas_.size() ? replicas_[place].tokens : 0;
  }

 private:
  static constexpr std::uint32_t kNone = ContentKey::kNoParent;

  struct Node {
    ContentKey key;
    std::vector<std::uint32_t> holdings;  // at least one
  };
  /// What a replica has of a node; in a list of those of the replica by last use.
  struct Holding {
    std::uint32_t node = kNone;
    std::int32_t replica = 0;
    std::int64_t tokens = 0;
    TimePoint used{};
    std::uint32_t older = kNone, newer = kNone;
  };
  struct Replica {
    std::uint32_t oldest = kNone, newest = kNone;
    std::int64_t tokens = 0;
    std::int64_t matched = 0;  // of the prompt looked up last
  };

  [[nodiscard]] bool is_too_old(const Holding& holding, TimePoint now) const {
    return limits_.age && now - holding.used >= *limits_.age;
  }
  std::uint32_t node_of(const ContentKey& key);
  std::uint32_t holding_of(std::uint32_t node, std::int32_t replica);
  void use(std::uint32_t holding, TimePoint now);
  void link_newest(std::uint32_t holding);
  void unlink(std::uint32_t holding);
  void remove(std::uint32_t holding);
  void trim(std::int32_t replica, TimePoint now);

  Limits limits_;
  std::vector<Node> nodes_;
  std::vector<Holding> holdings_;
  std::vector<std::uint32_t> vacant_nodes_, vacant_holdings_;
  std::vector<Replica> replicas_;
  std::unordered_map<ContentKey, std::uint32_t, ContentKeyHash> by_key_;  // never walked
  std::vector<std::uint32_t> path_;                                       // of add(), kept for its memory
  std::vector<std::int32_t> found_;                                       // replicas with matched > 0
};

}  // namespace inferometer
