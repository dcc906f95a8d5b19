#include "sim/router/builtin.hpp"

namespace inferometer {

void register_builtin_routers(RouterRegistry& registry) {
  registry.add(round_robin_router());
  registry.add(random_router());
  registry.add(least_outstanding_router());
  registry.add(least_tokens_router());
  registry.add(power_of_two_router());
  registry.add(session_affinity_router());
  registry.add(cache_aware_router());
  registry.add(kv_aware_router());
  registry.add(prefix_scorer_router());
  registry.add(conductor_router());
}

}  // namespace inferometer
