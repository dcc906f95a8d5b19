#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/kvcache/prefix_cache.hpp"
#include "workloads/content_key.hpp"
#include "workloads/request.hpp"

namespace inferometer {

/// What a replica had in its prefix cache at a moment in the past, for routers that learn of replicas only
/// now and then. It writes down what changes and catches up when it is told to.
class PrefixFollower final : public PrefixListener {
 public:
  explicit PrefixFollower(std::int64_t block_size) : block_size_(block_size) {}

  void node_added(std::int32_t node, std::int32_t parent, std::int64_t begin, std::uint64_t id) override;
  void node_cached(std::int32_t node, std::int64_t tokens) override;
  void node_removed(std::int32_t node) override;
  void all_removed() override;

  /// From now on it says what is so at present. O(changes since the last time), amortised.
  void catch_up();
  /// What PrefixCache::cached_tokens() would have said when it last caught up. O(content runs).
  [[nodiscard]] std::int64_t cached_tokens(const Request& request) const;

 private:
  struct Node {
    ContentKey key;           // from: of the prompt
    std::int64_t tokens = 0;  // cached from its beginning on
  };
  struct Change {
    enum class Kind : std::uint8_t { added, cached, removed, all_removed };
    Kind kind{};
    std::int32_t node = -1;
    ContentKey key{};
    std::int64_t tokens = 0;
  };

  std::int64_t block_size_;
  std::vector<Change> changes_;                                          // since it last caught up
  std::vector<Node> nodes_;                                              // by their numbers in the cache
  std::unordered_map<ContentKey, std::int32_t, ContentKeyHash> by_key_;  // never walked
};

}  // namespace inferometer
