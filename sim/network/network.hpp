#pragma once

// What crosses between GPUs outside of an engine step: KV caches on their way from prefill to decode, weights
// of a replica that starts. Who uses it: the engine, which owns the clock and asks when the next transfer
// ends. One implementation knows no contention (ideal_network.cpp), one shares links among the flows of the
// moment (simgrid_network.cpp).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// A GPU in the cluster: node and place in it, both from 0 on.
struct GpuPlace {
  std::int32_t node = 0;
  std::int32_t gpu = 0;
  friend bool operator==(const GpuPlace&, const GpuPlace&) = default;
};

/// Bytes from one group of GPUs to another. Ranks pair up as KV connectors do: the larger group's rank i
/// talks to the smaller group's rank i * smaller / larger, and each pair carries the same share of the bytes
/// (rounded up). The transfer is done when the last pair is.
struct Transfer {
  std::uint32_t id = 0;            ///< the caller's name for it; not in use by a transfer in flight
  std::span<const GpuPlace> from;  ///< empty: storage, which each node reaches over its own NICs
  std::span<const GpuPlace> to;    ///< at least one
  Bytes bytes;                     ///< in all, >= 1
};

/// What a link carried.
struct LinkUse {
  std::string name;         ///< "node0 nic3 out"
  BytesPerSecond capacity;  ///< in this direction
  Bytes bytes;              ///< of transfers carried: what efficiency wastes is not among them
  double utilization = 0;   ///< bytes over what it could have carried since the start
};

/// Contract: deterministic; the same calls give the same times. `now` never goes back between calls. Times
/// are whole picoseconds, rounded up, so that nothing arrives early. A transfer is in flight from start()
/// until ended() has told of it or it is cancelled.
class Network {
 public:
  virtual ~Network() = default;

  /// A transfer begins. GPUs of the same node talk over the node's own links; a pair of ranks on the same GPU
  /// takes the node's latency alone. Precondition: its GPUs exist, bytes >= 1, the id is free.
  virtual void start(TimePoint now, const Transfer& transfer) = 0;

  /// It ends without effect, and its links are free from now on. Precondition: it is in flight.
  virtual void cancel(TimePoint now, std::uint32_t id) = 0;

  /// When to look again: before it no transfer ends if nothing else starts, and none is in flight when there
  /// is no such time. With contention it may also be the moment at which one pair of several is done or a
  /// set-up is over, so that ended() then tells of nothing and the next answer is later: nobody can foresee
  /// how rates change at that moment. May change with every start and cancel, to earlier as to later. After
  /// ended(t) it is later than t.
  [[nodiscard]] virtual std::optional<TimePoint> next_end() = 0;

  /// Ids of the transfers that have ended by `now` and were not told before, ascending. Valid until the next
  /// call. Precondition: now <= next_end(), when there is one.
  virtual std::span<const std::uint32_t> ended(TimePoint now) = 0;

  /// Of every link, in a fixed order. Counts flows in flight with what they have carried by `end`, or by the
  /// last other call with a time when the network cannot tell; precondition: `end` is not before that call.
  [[nodiscard]] virtual std::vector<LinkUse> link_use(TimePoint end) const = 0;
};

}  // namespace inferometer
