// What must stay true in every cluster, looked at after every event: conservation, causality, blocks, tokens,
// work conservation, everybody leaves once. The test of the steppers' equality looks at the same in more
// clusters; here are those whose links SimGrid shares, where a second run may be a picosecond off.

#include "sim/network/platform.hpp"
#include "tests/property/cluster_run.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::testing {
namespace {

TEST_CASE("invariants hold at every event of clusters on SimGrid") {
  if (!has_simgrid()) {
    return;
  }
  constexpr std::int64_t kClusters = 12;
  std::int64_t transfers = 0;
  std::int64_t clusters = 0;
  for (std::uint64_t seed = 5000; clusters < kClusters; ++seed) {
    const RandomCluster cluster = random_cluster(seed, true);
    if (cluster.network != NetworkKind::simgrid) {
      continue;
    }
    CAPTURE(seed);
    INFO(cluster.describe());
    const ClusterRun run = run_cluster(cluster, Stepper::fast);
    REQUIRE(run.broken == "");
    transfers += run.totals.transfers;
    ++clusters;
  }
  CHECK(transfers >= 5 * kClusters);
}

}  // namespace
}  // namespace inferometer::testing
