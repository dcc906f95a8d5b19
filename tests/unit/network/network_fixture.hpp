#pragma once

// A small cluster with round figures, and what tests of both networks do to one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/network/platform.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::testing {

/// Four GPUs a node, two nodes a leaf, everything transferred at the full rate at once.
inline Platform plain_platform(std::size_t nodes) {
  const NodeSpec node{.gpus = 4,
                      .gpu_bandwidth = BytesPerSecond(400e9),
                      .gpu_latency = microseconds(2),
                      .nics = 4,
                      .nic_bandwidth = BytesPerSecond(50e9),
                      .storage_bandwidth = BytesPerSecond(20e9)};
  return {.nodes = std::vector<NodeSpec>(nodes, node),
          .fabric = {.nodes_per_leaf = 2, .oversubscription = 1, .latency = microseconds(5)},
          .transfer = {}};
}

/// All GPUs of a node, or the first few.
inline std::vector<GpuPlace> gpus_of(std::int32_t node, std::int32_t count = 4, std::int32_t first = 0) {
  std::vector<GpuPlace> places;
  for (std::int32_t gpu = first; gpu < first + count; ++gpu) {
    places.push_back({node, gpu});
  }
  return places;
}

using MakeNetwork = std::function<std::unique_ptr<Network>(const Platform&)>;

/// Runs on until all are done or `until`; the end of each, by id (0 for those that have not).
inline std::vector<TimePoint> run_all(Network& network, std::size_t ids,
                                      TimePoint until = TimePoint(seconds(1'000'000))) {
  std::vector<TimePoint> ends(ids);
  for (std::optional<TimePoint> next = network.next_end(); next && *next <= until;
       next = network.next_end()) {
    for (const std::uint32_t id : network.ended(*next)) {
      ends.at(id) = *next;
    }
  }
  return ends;
}

/// One transfer on an idle network.
inline Duration time_alone(Network& network, const std::vector<GpuPlace>& from,
                           const std::vector<GpuPlace>& to, Bytes bytes) {
  network.start(TimePoint(), {0, from, to, bytes});
  return run_all(network, 1).at(0).since_start();
}

/// Carried by a link of that name.
inline Bytes carried(const Network& network, const std::string& link, TimePoint end) {
  for (const LinkUse& use : network.link_use(end)) {
    if (use.name == link) {
      return use.bytes;
    }
  }
  FAIL("no link " << link);
  return Bytes();
}

/// Times of SimGrid are sums of doubles: exact to a few picoseconds.
inline void check_time(Duration found, Duration expected, Duration tolerance = picoseconds(2)) {
  CAPTURE(found.count(), expected.count());
  CHECK(found >= expected - tolerance);
  CHECK(found <= expected + tolerance);
}

}  // namespace inferometer::testing
