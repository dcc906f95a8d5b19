#include "sim/scenario/cluster_facts.hpp"

namespace inferometer {

ClusterSummary cluster_facts(const Coordinator& coordinator, TimePoint end) {
  const ClusterTotals& totals = coordinator.totals();
  ClusterSummary facts;
  facts.retries = totals.retries;
  facts.lost_tokens = totals.lost_tokens;
  facts.transfers.count = totals.handed_over;
  facts.transfers.aborted = totals.aborts;
  facts.transfers.bytes = totals.transferred;
  facts.local_prefills = totals.local_prefills;
  facts.replica_starts = totals.starts;
  facts.replica_failures = totals.failures;
  facts.replica_drains = totals.drains;
  facts.replica_moves = totals.moves;
  for (std::int32_t replica = 0; replica < coordinator.fleet().replicas(); ++replica) {
    facts.routed.push_back(coordinator.fleet().routed(replica));
  }
  if (const Network* const network = coordinator.network()) {
    facts.links = network->link_use(end);
  }
  return facts;
}

std::optional<double> paid_seconds(const Coordinator& coordinator, std::size_t pool, TimePoint end) {
  const Fleet& fleet = coordinator.fleet();
  if (!fleet.comes_and_goes()) {
    return std::nullopt;
  }
  Duration paid;
  for (std::int32_t replica = 0; replica < fleet.replicas(); ++replica) {
    if (&fleet.pool(replica) == &coordinator.setup().pools[pool]) {
      paid += fleet.paid(replica, end);
    }
  }
  return to_seconds(paid);
}

}  // namespace inferometer
