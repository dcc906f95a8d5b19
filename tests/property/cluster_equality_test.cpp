// The fast stepper gives the same integers as the reference stepper, step by step, and every run the same
// again, whole or in pieces. What the clusters lead into is counted, so that none of it goes untested.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/property/cluster_run.hpp"
#include "tests/support/catch.hpp"

namespace inferometer::testing {
namespace {

using Split = DisaggregationSetup;

/// What a set of clusters was led into: runs or requests with each feature.
class Coverage {
 public:
  void add(const RandomCluster& cluster, const ClusterRun& run) {
    const ClusterTotals& totals = run.totals;
    const ClusterSetup& setup = cluster.setup;
    note("failures", totals.failures);
    note("drains", totals.drains);
    note("starts", totals.starts);
    note("moves between pools", totals.moves);
    note("aborts", totals.aborts);
    note("retries", totals.retries);
    note("requests lost", totals.lost);
    note("tokens lost", totals.lost_tokens);
    note("tokens discarded", totals.discarded_tokens);
    note("rejections", totals.rejected);
    note("requests of one token", totals.completed);
    note("local prefills", totals.local_prefills);
    note("requests in the mixed pool beside a split", run.in_mixed_pool);
    note("runs that held requests", run.most_held > 0);
    note("preemptions", run.preemptions);
    note("pipelines with micro-batches at once", run.most_lanes_at_once > 1);
    note("steps in stretches", run.counts.in_stretches);
    note("tokens drafted", run.drafted.draft_tokens);
    note("loads from host memory", run.offload.host.loads);
    note("loads from disk", run.offload.disk.loads);
    note("failures of replicas that draft or have host memory",
         run.drafted.drafts > 0 || run.offload.host.stored_blocks > 0 ? totals.failures : 0);
    note("weights loaded", count_transfers(run, [](const SeenTransfer& t) { return !t.has_source; }));
    note("runs with late routers", setup.state_interval > Duration());
    note("transfers cut off", count_transfers(run, [](const SeenTransfer& t) { return t.is_cancelled; }));
    if (setup.disaggregation) {
      add_split(*setup.disaggregation, run);
    }
  }

  void check(std::int64_t share) const {
    for (const auto& [what, least] : std::vector<std::pair<const char*, std::int64_t>>{
             {"failures", 100},
             {"drains", 50},
             {"starts", 100},
             {"moves between pools", 30},
             {"aborts", 50},
             {"retries", 100},
             {"requests lost", 50},
             {"tokens lost", 200},
             {"tokens discarded", 200},
             {"rejections", 100},
             {"requests of one token", 50},
             {"local prefills", 100},
             {"requests in the mixed pool beside a split", 20},
             {"runs that held requests", 10},
             {"preemptions", 100},
             {"pipelines with micro-batches at once", 30},
             {"steps in stretches", 10'000},
             {"tokens drafted", 10'000},
             {"loads from host memory", 30},
             {"loads from disk", 10},
             {"failures of replicas that draft or have host memory", 20},
             {"weights loaded", 10},
             {"runs with late routers", 30},
             {"transfers cut off", 10},
             {"handed over by pull", 200},
             {"handed over by push", 200},
             {"handed over to decode replicas that took blocks first", 50},
             {"KV lost in flight with a replica", 3},
             {"recomputed after an abort", 10},
             {"lost by an abort", 10}}) {
      INFO(what);
      const auto found = counts_.find(what);
      CHECK((found == counts_.end() ? 0 : found->second) >= least * share);
    }
  }

 private:
  void note(const char* what, std::int64_t count) { counts_[what] += count; }

  template <class Is>
  static std::int64_t count_transfers(const ClusterRun& run, Is is) {
    return std::count_if(run.transfers.transfers.begin(), run.transfers.transfers.end(), is);
  }

  void add_split(const Split& split, const ClusterRun& run) {
    const bool pushes = split.transfer == Split::Transfer::push;
    note(pushes ? "handed over by push" : "handed over by pull", run.totals.handed_over);
    if (split.decode_first) {
      note("handed over to decode replicas that took blocks first", run.totals.handed_over);
    }
    if (!split.abort_after && run.totals.failures > 0) {
      note("KV lost in flight with a replica", count_transfers(run, [](const SeenTransfer& t) {
             return t.is_cancelled && t.has_source && t.end > t.start;
           }));
    }
    const bool recomputes = split.on_abort == Split::OnAbort::recompute;
    note(recomputes ? "recomputed after an abort" : "lost by an abort", run.totals.aborts);
  }

  std::map<std::string, std::int64_t> counts_;
};

Coverage compare_steppers(std::uint64_t first_seed, std::uint64_t clusters) {
  Coverage coverage;
  for (std::uint64_t seed = first_seed; seed < first_seed + clusters; ++seed) {
    const RandomCluster cluster = random_cluster(seed);
    CAPTURE(seed);
    INFO(cluster.describe());
    const ClusterRun reference = run_cluster(cluster, Stepper::reference);
    REQUIRE(reference.broken == "");
    const ClusterRun fast = run_cluster(cluster, Stepper::fast);
    REQUIRE(fast.broken == "");
    REQUIRE(first_difference(fast, reference) == "");
    coverage.add(cluster, fast);
  }
  return coverage;
}

TEST_CASE("invariants hold at every event and both steppers give the same integers: 500 clusters") {
  compare_steppers(0, 500).check(1);
}

TEST_CASE("invariants hold at every event and both steppers give the same integers: twenty thousand clusters",
          "[.][nightly]") {
  compare_steppers(10'000, 20'000).check(40);
}

TEST_CASE("a cluster gives the same run again and in pieces") {
  constexpr std::int64_t kPiece = 7;
  for (std::uint64_t seed = 2000; seed < 2060; ++seed) {
    const RandomCluster cluster = random_cluster(seed);
    CAPTURE(seed);
    INFO(cluster.describe());
    for (const Stepper stepper : {Stepper::fast, Stepper::reference}) {
      const ClusterRun whole = run_cluster(cluster, stepper, kWholeRun);
      REQUIRE(first_difference(run_cluster(cluster, stepper, kWholeRun), whole) == "");
      REQUIRE(first_difference(run_cluster(cluster, stepper, kPiece), whole) == "");
    }
  }
}

}  // namespace
}  // namespace inferometer::testing
