#include "costmodel/collectives.hpp"

#include <algorithm>

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

ReplicaLinks::Link ReplicaLinks::slowed_link(const GpuLink& link, double factor) {
  return {to_seconds(link.latency) * factor, link.bandwidth.count() / factor};
}

ReplicaLinks::Group ReplicaLinks::group_of(const GpuSpec& gpu, const Profile& profile, bool fitted,
                                           const Parallelism& parallelism, std::int64_t gpus,
                                           std::int64_t in_node) {
  constexpr std::int64_t kSmallestGroup = 2;
  const double slowness = parallelism.slowness();
  const std::int64_t fitted_gpus = std::max(in_node, kSmallestGroup);
  Group group;
  group.gpus = gpus;
  group.in_node = in_node;
  group.is_described = in_node < gpus || parallelism.in_node.has_value();
  GpuLink near{described_link(gpu), Duration()};
  if (fitted) {
    const LinkEfficiency& fit = link_efficiency(profile, fitted_gpus);
    group.start_up = slowed(fit.start_up, slowness);
    near.bandwidth = near.bandwidth * fit.link_efficiency;
  }
  group.bandwidth = BytesPerSecond(near.bandwidth.count() / slowness);
  group.near = slowed_link(parallelism.in_node.value_or(near), slowness);
  if (!parallelism.in_node) {
    group.near.latency_s = to_seconds(group.start_up) / static_cast<double>(2 * (fitted_gpus - 1));
  }
  return group;
}

ReplicaLinks::ReplicaLinks(const GpuSpec& gpu, const Profile& profile, bool fitted,
                           const Parallelism& parallelism) {
  const double slowness = parallelism.slowness();
  const std::int64_t stage = parallelism.tensor * parallelism.attention_data;
  tensor_ = group_of(gpu, profile, fitted, parallelism, parallelism.tensor, parallelism.tensor_in_node);
  const std::int64_t stage_in_node = parallelism.stage_in_node > 0 ? parallelism.stage_in_node : stage;
  stage_ = group_of(gpu, profile, fitted, parallelism, stage,
                    parallelism.attention_data == 1 ? parallelism.tensor_in_node : stage_in_node);
  if (parallelism.between_nodes) {
    far_ = slowed_link(*parallelism.between_nodes, slowness);
  }
  const GpuLink peer{described_link(gpu) * (fitted ? kSendEfficiency : 1), Duration()};
  hop_ = parallelism.stages_in_node ? slowed_link(parallelism.in_node.value_or(peer), slowness) : far_;
  hop_.latency_s += fitted ? kSendStartUpSeconds * slowness : 0;
}

double ReplicaLinks::ring_s(const Operator& work) const {
  const Group& all = group(work);
  const auto steps = static_cast<double>(work.ring_steps);
  const double message = static_cast<double>(work.link_bytes.count()) / steps;
  const double slowest = std::min(all.near.bandwidth, static_cast<double>(all.in_node) * far_.bandwidth);
  return steps * (std::max(all.near.latency_s, far_.latency_s) + message / slowest);
}

double ReplicaLinks::levels_s(const Operator& work) const {
  const Group& all = group(work);
  const std::int64_t passes = work.ring_steps / (all.gpus - 1);
  const std::int64_t nodes = all.gpus / all.in_node;
  const double message = static_cast<double>(work.link_bytes.count()) / static_cast<double>(work.ring_steps);
  const auto near_steps = static_cast<double>(passes * (all.in_node - 1));
  const auto far_steps = static_cast<double>(passes * (nodes - 1));
  double seconds =
      near_steps * (all.near.latency_s + static_cast<double>(nodes) * message / all.near.bandwidth);
  if (nodes > 1) {
    seconds += far_steps * (far_.latency_s + message / far_.bandwidth);
  }
  return seconds;
}

double ReplicaLinks::direct_s(const Operator& work) const {
  const Group& all = group(work);
  const double message = static_cast<double>(work.link_bytes.count()) / static_cast<double>(all.gpus - 1);
  const double near_s =
      all.near.latency_s + static_cast<double>(all.in_node - 1) * message / all.near.bandwidth;
  const std::int64_t outside = all.gpus - all.in_node;
  return outside == 0
             ? near_s
             : std::max(near_s, far_.latency_s + static_cast<double>(outside) * message / far_.bandwidth);
}

Duration ReplicaLinks::time(const Operator& work) const {
  if (work.family == OperatorFamily::transfer) {
    return Duration(
        whole_picoseconds(hop_.latency_s + static_cast<double>(work.link_bytes.count()) / hop_.bandwidth));
  }
  const Group& all = group(work);
  if (all.is_described) {
    if (work.ring_steps == 0) {
      return Duration(whole_picoseconds(direct_s(work)));
    }
    const bool has_ring = all.in_node > 1 && all.in_node < all.gpus;  // else both are the same
    const double levels = levels_s(work);
    return Duration(whole_picoseconds(has_ring ? std::min(levels, ring_s(work)) : levels));
  }
  require_simulable(static_cast<double>(work.link_bytes.count()) / all.bandwidth.count());
  return all.start_up + work.link_bytes / all.bandwidth;
}

bool ReplicaLinks::is_estimate(const Operator& work) const {
  return work.family == OperatorFamily::transfer ||
         (work.family == OperatorFamily::collective && group(work).is_described);
}

}  // namespace inferometer
