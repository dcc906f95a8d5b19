#include "sim/validation/predict/saturation.hpp"

#include <algorithm>

namespace inferometer {
namespace {

bool has_generator(const Scenario& scenario, const char* generator) {
  return scenario.workload().has("generator") && scenario.workload().text("generator") == generator;
}

Saturation of_closed_loop(const Scenario& scenario, const Deployment& deployment, const Summary& summary) {
  double sequences = 0, tokens = 0, peak = 0;
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    const PoolDeployment& pool = deployment.pools[i];
    if (pool.spec.role == PoolRole::prefill) {
      continue;
    }
    const auto replicas = static_cast<double>(deployment.replicas(i));
    sequences += replicas * static_cast<double>(pool.limits.max_num_seqs);
    tokens += replicas * static_cast<double>(pool.limits.total_blocks * pool.limits.block_size);
    const ResourceSummary& used = summary.pools[i];
    peak = std::max(peak, used.kv_share(static_cast<double>(used.kv_occupancy_blocks.peak)));
  }
  const auto clients = static_cast<double>(scenario.workload().count("clients"));
  const double requests = std::max(1.0, static_cast<double>(summary.completed));
  const double held = (static_cast<double>(summary.total_input_tokens) +
                       static_cast<double>(summary.total_output_tokens) / 2) /
                      requests;
  const bool is_full = peak >= Saturation::kSaturatedLoad;
  const double kv_share = is_full ? clients * held / tokens : std::min(peak, clients * held / tokens);
  Saturation saturation;
  saturation.load = std::max(clients / sequences, kv_share);
  if (clients > sequences) {
    saturation.why = "more clients than sequences that run at once";
  } else if (kv_share > 1) {
    saturation.why = "more clients than the KV cache has room for";
  }
  saturation.is_saturated = !saturation.why.empty();
  return saturation;
}

}  // namespace

Saturation distance_to_saturation(const Scenario& scenario, const Deployment& deployment,
                                  const Summary& summary) {
  if (has_generator(scenario, "closed_loop")) {
    return of_closed_loop(scenario, deployment, summary);
  }
  const bool came_together =
      scenario.listed_requests && summary.completed > 1 && summary.stability.offered_per_second == 0;
  if (has_generator(scenario, "all_at_once") || came_together) {
    return {1.0, true, "all requests came at once"};
  }
  Saturation saturation;
  saturation.load = summary.stability.load;
  if (summary.stability.verdict == QueueStability::unstable) {
    saturation.why = "the queue grew";
  } else if (saturation.load && *saturation.load >= Saturation::kSaturatedLoad) {
    saturation.why = "nearly as much was offered as can be served";
  }
  saturation.is_saturated = !saturation.why.empty();
  return saturation;
}

}  // namespace inferometer
