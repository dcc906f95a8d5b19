#include "sim/scheduler/builtin.hpp"

namespace inferometer {

void register_builtin_policies(PolicyRegistry& registry) {
  registry.add(static_policy());
  registry.add(orca_policy());
  registry.add(continuous_policy());
  registry.add(chunked_prefill_policy());
  registry.add(sarathi_policy());
  registry.add(sglang_policy());
  registry.add(trtllm_policy());
  registry.add(priority_policy());
  registry.add(shortest_job_first_policy());
}

}  // namespace inferometer
