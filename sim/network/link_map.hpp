#pragma once

// The links of a platform, and which of them the bytes between two GPUs cross. Who uses it: both networks.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network/platform.hpp"

namespace inferometer {

/// A link in one direction.
struct Link {
  std::string name;  ///< "node0 nic3 out"
  BytesPerSecond capacity;
};

/// Where bytes enter and leave the network: a GPU as seen from its node, from its leaf switch or from the
/// nodes of other leaves, or a node's way to storage. From one endpoint to another they cross `out` of the
/// first and `in` of the second.
struct Endpoint {
  std::vector<std::int32_t> out, in;  ///< links by number
};

/// What one pair of ranks carries.
struct Flow {
  std::int32_t from = 0, to = 0;  ///< endpoints; the same one: nothing has to move
  Duration delay{};               ///< before the first byte: set-up and latency
  Bytes bytes;                    ///< payload
  Bytes wire;                     ///< payload and what the transfer wastes, in time of the link
};

class LinkMap {
 public:
  /// Checks every figure of the platform: a bandwidth or count that is not positive is a programmer error.
  explicit LinkMap(const Platform& platform);

  /// Node by node GPUs, adapters and storage, then leaf by leaf.
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] const std::vector<Endpoint>& endpoints() const { return endpoints_; }

  /// One flow a pair of ranks, as Transfer says. Checks that every GPU exists. O(pairs).
  [[nodiscard]] std::vector<Flow> flows(const Transfer& transfer) const;

  /// Links that a flow crosses, in order.
  [[nodiscard]] std::vector<std::int32_t> path(const Flow& flow) const;

 private:
  void add_node(const NodeSpec& node, std::int32_t number);
  std::int32_t add_link(std::string name, BytesPerSecond capacity);
  [[nodiscard]] std::int32_t endpoint_of(const GpuPlace& place, int view) const;
  [[nodiscard]] Flow route(const GpuPlace& from, const GpuPlace& to) const;
  [[nodiscard]] Flow storage_route(const GpuPlace& to) const;

  Platform platform_;
  std::vector<Link> links_;
  std::vector<Endpoint> endpoints_;
  std::vector<std::int32_t> first_endpoint_;  ///< of each node: three a GPU, then storage
};

/// Bytes that links have carried.
class LinkMeter {
 public:
  explicit LinkMeter(const LinkMap& map) : map_(map), carried_(map.links().size()) {}

  /// `share` of a flow has gone over all its links; in [0, 1].
  void add(const Flow& flow, double share);
  [[nodiscard]] std::vector<LinkUse> use(TimePoint end) const;

 private:
  const LinkMap& map_;
  std::vector<std::int64_t> carried_;
};

/// No transfer ends later; what would never be done ends then.
inline constexpr TimePoint kEndOfTransfers{seconds(static_cast<std::int64_t>(kEndOfTimeSeconds))};

}  // namespace inferometer
