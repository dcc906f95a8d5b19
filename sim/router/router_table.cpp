#include "sim/router/router.hpp"

namespace inferometer {

Table router_table(const RouterRegistry& registry) {
  Table table("router", "Which replica gets a request");
  table.add_choice("policy", registry.names(), "How a replica is chosen").by_default("round_robin");
  table
      .add("state_interval", ValueType::duration,
           "How often the router learns the state of replicas, 1 ms or more; 0 s = it always knows")
      .by_default("0 s")
      .range("0 s", "24 h");
  for (const RouterEntry& router : registry.entries()) {
    table.add_variant("policy", router.name, router.keys);
  }
  return table;
}

}  // namespace inferometer
