#include "sim/report/trace/trace_replica.hpp"

#include <fmt/format.h>

namespace inferometer {

std::vector<TraceReplica> trace_replicas(const Deployment& deployment) {
  std::vector<TraceReplica> replicas;
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    const PoolDeployment& pool = deployment.pools[i];
    for (std::int64_t number = 0; number < deployment.replicas(i); ++number) {
      replicas.push_back({fmt::format("{} {}", to_string(pool.spec.role), replicas.size()),
                          fmt::format("{} x {}", pool.spec.gpus_per_replica(), pool.spec.gpu.name),
                          pool.spec.pipeline_parallel, pool.pricers});
    }
  }
  return replicas;
}

}  // namespace inferometer
