#pragma once

// How long GPUs of a replica take to talk to each other: collectives of a tensor group, and what a stage of a
// pipeline sends to the next. Who uses it: the roofline.
//
// Within one node, over the links of the GPU's description, a collective takes what was fitted for groups of
// 2, 4 and 8: start-up + bytes sent / (efficiency x link). Everything else goes by latency and bandwidth
// alone (alpha-beta). With n GPUs, g of them in each of m nodes, an array of S bytes, message latency a and
// bandwidth b of a GPU (a1, b1 in the node, a2, b2 between nodes, where each GPU has its own NIC or share of
// one), and p = 2 for an all-reduce, 1 for an all-gather, the faster of
//
//   a ring over all GPUs, one for each NIC of a node:
//     p (n - 1) [max(a1, a2) + S / n max(1 / b1, 1 / (g b2))]
//   by levels - reduce-scatter in the node, ring between nodes, all-gather in the node:
//     p (g - 1) [a1 + S / (g b1)] + p (m - 1) [a2 + S / (n b2)]
//
// Ring: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69,
// 2009. Levels: Cho et al., "BlueConnect: decomposing all-reduce for deep learning on heterogeneous network
// hierarchy", MLSys 2019. Alpha-beta costs: Thakur, Rabenseifner, Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 19, 2005. Neither has the start-up of the library's kernels, so
// that small messages are priced low. a1 of fitted links is the start-up of the all-reduce over its ring.
//
// An all-to-all sends each peer its own part at once: of n GPUs, g of them in a node, the g - 1 near ones'
// over the link in the node and the others' over the NIC, max(a1 + (g - 1) s / b1, a2 + (n - g) s / b2) for s
// bytes to each.
//
// A stage of a pipeline sends over its own link to the next: latency + bytes / bandwidth, and, where prices
// stand on kernels, the start-up of a send and what it reaches of a link of the GPU's description.

#include "base/units.hpp"
#include "costmodel/operators.hpp"
#include "costmodel/parallelism.hpp"
#include "hardware/gpu_spec.hpp"
#include "hardware/profile.hpp"

namespace inferometer {

class ReplicaLinks {
 public:
  /// `fitted`: with the profile's start-up and efficiency, else the datasheet's bandwidth alone.
  /// Precondition: check_links() has accepted the parallelism.
  ReplicaLinks(const GpuSpec& gpu, const Profile& profile, bool fitted, const Parallelism& parallelism);

  /// One run of a collective or transfer, rounded up to a picosecond. Throws ConfigError when it would take
  /// longer than any step may.
  [[nodiscard]] Duration time(const Operator& work) const;

  /// Whether collectives of so many GPUs go over links that the parallelism describes.
  [[nodiscard]] bool are_described(std::int64_t gpus) const {
    return (gpus > tensor_.gpus ? stage_ : tensor_).is_described;
  }

  /// Whether the time is one by latency and bandwidth, which the profile has no fit of.
  [[nodiscard]] bool is_estimate(const Operator& work) const;

 private:
  /// In seconds and bytes a second, slowed as the replica is.
  struct Link {
    double latency_s = 0;
    double bandwidth = 0;
  };
  static Link slowed_link(const GpuLink& link, double factor);
  /// GPUs that talk to each other: a tensor group or all of a stage.
  struct Group {
    std::int64_t gpus = 1, in_node = 1;
    bool is_described = false;
    Duration start_up{};  // of a fitted collective
    BytesPerSecond bandwidth;
    Link near;
  };
  static Group group_of(const GpuSpec& gpu, const Profile& profile, bool fitted,
                        const Parallelism& parallelism, std::int64_t gpus, std::int64_t in_node);
  [[nodiscard]] const Group& group(const Operator& work) const {
    return work.is_among_stage ? stage_ : tensor_;
  }
  [[nodiscard]] double ring_s(const Operator& work) const;
  [[nodiscard]] double levels_s(const Operator& work) const;
  [[nodiscard]] double direct_s(const Operator& work) const;

  Group tensor_, stage_;
  Link far_, hop_;
};

}  // namespace inferometer
