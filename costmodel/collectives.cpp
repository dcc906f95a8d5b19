#include "costmodel/collectives.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "costmodel/roofline.hpp"

namespace inferometer {
namespace {

/// A send and its receive (NCCL) within a node: microsoft/vidur, profiling/network, send_recv among 2 GPUs of
/// a DGX. Up to 300 KB they take 5 to 9 us on H100 and 8 to 17 us on A100; 64 MiB reach 348 of the 450 GB/s
/// of one direction of NVLink, and 228 of 300.
constexpr double kSendStartUpSeconds = 10e-6;
constexpr double kSendEfficiency = 0.77;

BytesPerSecond described_link(const GpuSpec& gpu) {
  return gpu.nvlink_per_direction.value_or(gpu.pcie_per_direction);
}

}  // namespace

ReplicaLinks::Link ReplicaLinks::slowed_link(const GpuLink& link, double straggler) {
  return {to_seconds(link.latency) * straggler, link.bandwidth.count() / straggler};
}

ReplicaLinks::ReplicaLinks(const GpuSpec& gpu, const Profile& profile, bool fitted,
                           const Parallelism& parallelism)
    : gpus_(parallelism.tensor),
      in_node_(parallelism.tensor_in_node),
      is_described_(parallelism.spans_nodes() || parallelism.in_node.has_value()) {
  constexpr std::int64_t kSmallestGroup = 2;
  const double straggler = parallelism.straggler;
  const std::int64_t group = std::max(in_node_, kSmallestGroup);
  GpuLink near{described_link(gpu), Duration()};
  if (fitted) {
    const LinkEfficiency& fit = link_efficiency(profile, group);
    start_up_ = slowed(fit.start_up, straggler);
    near.bandwidth = near.bandwidth * fit.link_efficiency;
  }
  bandwidth_ = BytesPerSecond(near.bandwidth.count() / straggler);
  near_ = slowed_link(parallelism.in_node.value_or(near), straggler);
  if (!parallelism.in_node) {
    near_.latency_s = to_seconds(start_up_) / static_cast<double>(2 * (group - 1));
  }
  if (parallelism.between_nodes) {
    far_ = slowed_link(*parallelism.between_nodes, straggler);
  }
  const GpuLink peer{described_link(gpu) * (fitted ? kSendEfficiency : 1), Duration()};
  hop_ = parallelism.stages_in_node ? slowed_link(parallelism.in_node.value_or(peer), straggler) : far_;
  hop_.latency_s += fitted ? kSendStartUpSeconds * straggler : 0;
}

double ReplicaLinks::ring_s(const Operator& work) const {
  const auto steps = static_cast<double>(work.ring_steps);
  const double message = static_cast<double>(work.link_bytes.count()) / steps;
  const double slowest = std::min(near_.bandwidth, static_cast<double>(in_node_) * far_.bandwidth);
  return steps * (std::max(near_.latency_s, far_.latency_s) + message / slowest);
}

double ReplicaLinks::levels_s(const Operator& work) const {
  const std::int64_t passes = work.ring_steps / (gpus_ - 1);
  const std::int64_t nodes = gpus_ / in_node_;
  const double message = static_cast<double>(work.link_bytes.count()) / static_cast<double>(work.ring_steps);
  const auto near_steps = static_cast<double>(passes * (in_node_ - 1));
  const auto far_steps = static_cast<double>(passes * (nodes - 1));
  double seconds = near_steps * (near_.latency_s + static_cast<double>(nodes) * message / near_.bandwidth);
  if (nodes > 1) {
    seconds += far_steps * (far_.latency_s + message / far_.bandwidth);
  }
  return seconds;
}

Duration ReplicaLinks::time(const Operator& work) const {
  if (work.family == OperatorFamily::transfer) {
    return Duration(
        whole_picoseconds(hop_.latency_s + static_cast<double>(work.link_bytes.count()) / hop_.bandwidth));
  }
  if (is_described_) {
    INFEROMETER_CHECK(work.ring_steps > 0, "a collective that nobody takes part in");
    const bool has_ring = in_node_ > 1 && in_node_ < gpus_;  // else both are the same
    const double levels = levels_s(work);
    return Duration(whole_picoseconds(has_ring ? std::min(levels, ring_s(work)) : levels));
  }
  require_simulable(static_cast<double>(work.link_bytes.count()) / bandwidth_.count());
  return start_up_ + work.link_bytes / bandwidth_;
}

bool ReplicaLinks::is_estimate(const Operator& work) const {
  return work.family == OperatorFamily::transfer ||
         (work.family == OperatorFamily::collective && is_described_);
}

}  // namespace inferometer
