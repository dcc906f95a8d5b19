#pragma once

// Which prefixes of prompts have their KV in a replica's blocks, and in which order free blocks are used
// again. Semantics are those of vLLM V1 (vllm/v1/core/block_pool.py, kv_cache_manager.py): only full blocks
// are cached, each under everything that comes before it; a block of a prompt can be found from the moment it
// is allocated; blocks that nobody holds stay cached until they are taken for something else, the ones given
// back first go first, of a sequence its last block first; a block computed twice is kept twice. Otherwise
// than in vLLM, a block that decoding fills can be found once its sequence gives it back: before that, only
// another turn of its session could ask for it.
//
// Prompts come as content runs, so nothing here works block by block: a run of tokens after what comes before
// it is a node of a tree, the blocks of one computation of it that as many sequences hold are an extent, and
// every operation costs O(runs and extents it touches), whatever the number of blocks. A listener costs more:
// each change of a node that is told goes over the extents of that node, of which prompts that are all alike
// leave one each for their last block.

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/divisor.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// A cached prefix of a sequence.
struct PrefixMatch {
  std::int64_t blocks = 0;
  std::int64_t idle = 0;      ///< of them, those that no sequence holds
  bool last_is_idle = false;  ///< the last of them is one of those
};

/// Tokens found in the cache, by who had computed them.
struct PrefixSources {
  std::int64_t own = 0;      ///< the same request, before it was preempted
  std::int64_t session = 0;  ///< an earlier request of its session
  std::int64_t others = 0;
  std::int64_t host = 0;  ///< anybody, and it had to be brought back from host memory
  std::int64_t disk = 0;  ///< ... or from a disk behind it

  [[nodiscard]] std::int64_t below_gpu() const { return host + disk; }
  [[nodiscard]] std::int64_t total() const { return own + session + others + below_gpu(); }
  friend PrefixSources operator+(const PrefixSources& a, const PrefixSources& b) {
    return {a.own + b.own, a.session + b.session, a.others + b.others, a.host + b.host, a.disk + b.disk};
  }
  friend bool operator==(const PrefixSources&, const PrefixSources&) = default;
};

/// Who follows what is cached, as routers do that read an engine's KV events. Runs of content are nodes of a
/// tree, numbered; those of requests without content are not told.
class PrefixListener {
 public:
  virtual ~PrefixListener() = default;
  /// A run that begins behind `begin` tokens of a prompt, the last of them in node `parent` (-1: at its
  /// start). Nothing of it is cached yet.
  virtual void node_added(std::int32_t node, std::int32_t parent, std::int64_t begin, std::uint64_t id) = 0;
  /// The first so many tokens of the run are cached now, without a gap.
  virtual void node_cached(std::int32_t node, std::int64_t tokens) = 0;
  /// Nothing of it is cached, and it has no nodes behind it. Its number may come again.
  virtual void node_removed(std::int32_t node) = 0;
  /// Nothing is cached, and there are no nodes.
  virtual void all_removed() = 0;
};

/// Who copies blocks before they are lost, as a host tier does. A run of content behind what comes before it
/// has one number, the same at all times; its blocks are counted from the start of the prompt.
class BlockKeeper {
 public:
  virtual ~BlockKeeper() = default;
  /// No sequence holds them any more.
  virtual void left_idle(std::uint64_t run, std::int64_t from, std::int64_t to) = 0;
  /// They are taken for something else.
  virtual void evicted(std::uint64_t run, std::int64_t from, std::int64_t to) = 0;
};

class PrefixCache {
 public:
  /// A sequence's place, as in SequenceStore.
  using Slot = std::int32_t;

  /// All blocks are free, nothing is cached.
  PrefixCache(std::int64_t blocks, std::int64_t block_size);
  [[nodiscard]] std::int64_t block_size() const { return block_size_.value(); }

  // --- free blocks ---
  /// Takes free blocks for something new; what they cached is lost. Precondition: so many are free.
  void take(std::int64_t blocks);
  /// Blocks without content become free.
  void put_back(std::int64_t blocks);

  // --- sequences ---
  /// A sequence comes. A request without content is unlike any other: it can only find what it has computed
  /// itself, before it was preempted.
  void enter(Slot slot, const Request& request);
  /// It leaves, holding nothing.
  void leave(Slot slot);
  [[nodiscard]] const std::vector<ContentRun>& content(Slot slot) const { return tenant(slot).content; }
  [[nodiscard]] std::uint64_t output_content(Slot slot) const { return tenant(slot).output_content; }

  /// The longest cached prefix of a sequence of so many tokens that holds nothing: whole blocks, fewer tokens
  /// than it has.
  PrefixMatch match(Slot slot, std::int64_t tokens);
  /// It takes the first so many blocks that match() found; those that were idle are not free any more.
  PrefixSources hold(Slot slot, std::int64_t blocks);
  /// The sequence has blocks for its first `tokens` tokens, and their KV is there or about to be: full blocks
  /// that are not cached yet are cached from now on.
  void cover(Slot slot, std::int64_t tokens);
  /// It gives back all of its `held` blocks, the first `tokens` tokens of it computed. `recomputes`: the
  /// request will be computed again. Returns how many blocks became free: the others are held by someone
  /// else.
  std::int64_t release(Slot slot, std::int64_t held, std::int64_t tokens, bool recomputes);
  /// Of `held` blocks, those that nobody else holds, not counting who is about to release theirs.
  /// O(extents * leaving).
  [[nodiscard]] std::int64_t exclusive(Slot slot, std::int64_t held,
                                       std::span<const Slot> leaving = {}) const;

  /// Of the blocks that it holds, those that are cached: its first ones.
  [[nodiscard]] std::int64_t covered(Slot slot) const {
    return tenant(slot).holdings.empty() ? 0 : tenant(slot).holdings.back().to;
  }

  /// Tokens of a prompt that are cached, whole blocks. For requests that are not here.
  [[nodiscard]] std::int64_t cached_tokens(const Request& request) const;
  /// Free blocks that cache something.
  [[nodiscard]] std::int64_t idle_cached() const { return idle_cached_; }
  /// Cached blocks, held or free. Twins count twice.
  [[nodiscard]] std::int64_t cached() const { return cached_; }
  /// From now on; nullptr: nobody. Precondition: no sequence has come yet.
  void listen(PrefixListener* listener) { listener_ = listener; }
  /// Likewise.
  void keep_with(BlockKeeper* keeper) { keeper_ = keeper; }
  /// Shows the runs of which blocks [from, to) of a sequence are parts, in order, while `visit(run, from,
  /// to)` says to go on. Precondition: match() has looked at so many.
  template <class Visit>
  void visit_runs(Slot slot, std::int64_t from, std::int64_t to, Visit visit) const {
    for (const PathStep& step : tenant(slot).path) {
      const std::int64_t end = std::min(block_size_.quotient(step.end), to);
      if (from < end && !visit(node(step.node).run, from, end)) {
        return;
      }
      from = std::max(from, end);
    }
  }
  /// As new, for the same listener and keeper.
  void clear(std::int64_t blocks);

 private:
  using Index = std::int32_t;
  static constexpr Index kNone = -1;

  /// Where a run begins: behind so many tokens of another one.
  struct NodeKey {
    Index parent = kNone;
    bool is_private = false;  ///< `id` is a request's, not a content's
    std::int64_t begin = 0;   ///< tokens before it
    std::uint64_t id = 0;
    friend bool operator==(const NodeKey&, const NodeKey&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const NodeKey& key) const;
  };
  struct Node {
    NodeKey key;
    std::uint64_t run = 0;              // as keepers know it
    Index first = kNone, last = kNone;  // its extents, by (copy, from)
    std::int32_t uses = 0;              // extents, child nodes and paths that need it
  };
  /// Successive blocks of one copy in one node, or (node kNone) free blocks without content.
  struct Extent {
    Index node = kNone;
    std::int32_t holders = 0;
    std::int64_t from = 0, to = 0;  // blocks, counted from the start of the prompt
    std::int64_t copy = 0;          // of which computation: older ones are found first
    std::int64_t request = -1, session = -1;
    Index previous_in_node = kNone, next_in_node = kNone;
    Index previous_free = kNone, next_free = kNone;
  };
  /// Blocks of an extent, and of those left of it in the same copy, that a sequence holds.
  struct Holding {
    Index extent = kNone;  // has the last of them; splits leave it that
    std::int64_t from = 0, to = 0;
  };
  struct PathStep {
    Index node = kNone;
    std::int64_t end = 0;  // tokens up to the end of the run
  };
  struct Tenant {
    std::int64_t request = -1, session = -1, prompt = 0;
    std::vector<ContentRun> content;
    std::uint64_t output_content = 0;
    bool may_match = false;
    std::int64_t copy = -1;
    std::vector<PathStep> path;
    std::vector<Holding> holdings;  // from the start of the prompt, without gaps
  };
  /// Blocks from some position on that one extent provides.
  struct Piece {
    Index extent = kNone;
    std::int64_t to = 0;
  };

  [[nodiscard]] const Tenant& tenant(Slot slot) const { return tenants_[static_cast<std::size_t>(slot)]; }
  Tenant& tenant(Slot slot) { return tenants_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] const Extent& extent(Index e) const { return extents_[static_cast<std::size_t>(e)]; }
  Extent& extent(Index e) { return extents_[static_cast<std::size_t>(e)]; }
  [[nodiscard]] const Node& node(Index n) const { return nodes_[static_cast<std::size_t>(n)]; }
  Node& node(Index n) { return nodes_[static_cast<std::size_t>(n)]; }

  void lengthen_path(Tenant& t, std::int64_t tokens);
  void add_step(Tenant& t, bool is_private, std::uint64_t id, std::int64_t end);
  Index node_of(const NodeKey& key);
  [[nodiscard]] std::uint64_t run_number(const NodeKey& key) const;
  void unuse(Index n);
  [[nodiscard]] Piece piece_at(Index n, std::int64_t block) const;
  template <class Visit>
  std::int64_t walk(const Tenant& t, std::int64_t blocks, Visit visit) const;

  Index new_extent(const Extent& value);
  void add_to_node(Index e);
  void link_in_node(Index e, Index after);
  void drop(Index e);
  void split(Index e, std::int64_t at);
  [[nodiscard]] Index left_of(Index e) const;
  void append_free(Index e);
  void remove_free(Index e);
  void cache_blocks(Tenant& t, Index n, std::int64_t from, std::int64_t to);
  std::int64_t let_go(const Holding& holding);
  [[nodiscard]] bool holds(Slot slot, const Extent& x) const;
  void tell(Index n) const;

  Divisor block_size_;
  std::vector<Tenant> tenants_;  // by slot
  std::vector<Node> nodes_;
  std::vector<Index> vacant_nodes_;
  std::unordered_map<NodeKey, Index, KeyHash> index_;
  std::vector<Extent> extents_;
  std::vector<Index> vacant_extents_;
  Index first_free_ = kNone,
        last_free_ = kNone;  // the first is used again first, its last block before others
  std::int64_t next_copy_ = 0;
  std::int64_t cached_ = 0, idle_cached_ = 0;
  PrefixListener* listener_ = nullptr;
  BlockKeeper* keeper_ = nullptr;
};

}  // namespace inferometer
