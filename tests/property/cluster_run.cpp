#include "tests/property/cluster_run.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

#include "tests/property/cluster_watch.hpp"

namespace inferometer::testing {
namespace {

constexpr std::int64_t kMostEvents = 3'000'000;  // more than any run that ends has had by far

/// Sees what a simulation tells, and holds each request to its own order of things.
class Witness : public SimulationObserver {
 public:
  Witness(const RandomCluster& cluster, ClusterRun& run) : cluster_(cluster), run_(run) {}

  const Simulation* simulation = nullptr;
  ClusterWatch* watch = nullptr;

  void on_arrival(const Request& request, std::int64_t waiting) override {
    require(request.arrival == simulation->now(), "a request comes now");
    require(request.id == static_cast<std::int64_t>(requests_.size()), "requests come in order");
    requests_.push_back(request);
    has_left_.push_back(false);
    SeenArrival seen{request.id, request.arrival, waiting, {}};
    const Fleet& fleet = simulation->coordinator()->fleet();
    for (std::int32_t replica = 0; replica < fleet.replicas(); ++replica) {
      const ReplicaLoad load = fleet.load(replica);
      seen.loads.insert(seen.loads.end(), {load.outstanding, load.waiting, load.tokens, load.prefill_tokens});
    }
    require(waiting == all_waiting(), "an arrival is told who waits");
    run_.arrivals.push_back(std::move(seen));
  }

  void on_rejected(const RejectedRequest& request) override {
    leave(request.id);
    require(request.rejected == simulation->now(), "a request is rejected now");
    require(request.arrival == arrival_of(request.id) && !request.reason.empty(), "a rejection says of what");
    rejected_emitted_ += emitted_by_waiting(request.id);
    run_.rejected.push_back({request.rejected, request.id, std::string(request.reason)});
  }

  void on_steps(const StepRecord& record) override {
    require(record.stretch.end() <= simulation->now(), "steps are told when they have ended");
    emitted_ += record.emitted * record.stretch.steps();
    run_.preemptions += record.preempted;
    run_.drafted.add(record.drafted);
    std::vector<SeenStep>& steps = run_.steps[{record.replica, record.lane}];
    require(steps.empty() || record.stretch.start() >= steps.back().end, "a lane runs one step at a time");
    visit_steps(record, [&](const StepRecord& step) { steps.push_back(seen_step(step)); });
  }

  void on_finished(const FinishedRequest& request) override {
    leave(request.id);
    require(request.finished == simulation->now(), "a request finishes now");
    require(request.arrival == arrival_of(request.id), "a request keeps its arrival");
    require(request.arrival <= request.admitted && request.admitted < request.first_token &&
                request.first_token <= request.finished,
            "a request is admitted, emits and finishes in this order");
    require((request.first_token == request.finished) == (request.output == 1),
            "only a single token is first and last");
    require(request.prefill_replica >= 0 ? request.handover >= Duration() : request.handover == Duration(),
            "a handover takes time between replicas");
    const bool takes_first_along =
        request.prefill_replica >= 0 && !cluster_.setup.disaggregation->first_token_from_decode;
    require(!takes_first_along || request.first_token + request.handover < request.finished,
            "who takes its first token along emits the second after its KV has come");
    check_output(request);
    output_sum_ += request.output;
    run_.finished.push_back(request);
    const Fleet& fleet = simulation->coordinator()->fleet();
    run_.in_mixed_pool += cluster_.is_split() && fleet.role(request.replica) == PoolRole::mixed ? 1 : 0;
  }

  void look_at_end() {
    const ClusterTotals& totals = simulation->coordinator()->totals();
    require(emitted_ == output_sum_ + totals.lost_tokens + totals.discarded_tokens + rejected_emitted_,
            "every token that was emitted belongs to a finished request or is accounted as lost");
    require(std::all_of(has_left_.begin(), has_left_.end(), [](bool left) { return left; }),
            "every request leaves");
    require(requests_.size() == cluster_.requests.size(), "every request comes");
    const Census census = simulation->census();
    require(census.completed == static_cast<std::int64_t>(run_.finished.size()) &&
                census.rejected == static_cast<std::int64_t>(run_.rejected.size()) &&
                census.injected == static_cast<std::int64_t>(requests_.size()),
            "the census counts what was told");
  }

 private:
  void require(bool holds, const char* sentence) { watch->require(holds, sentence); }

  [[nodiscard]] TimePoint arrival_of(std::int64_t id) const {
    return requests_[static_cast<std::size_t>(id)].arrival;
  }

  void leave(std::int64_t id) {
    const auto place = static_cast<std::size_t>(id);
    require(place < has_left_.size() && !has_left_[place], "a request leaves once");
    has_left_[place] = true;
  }

  void check_output(const FinishedRequest& request) {
    const Request& asked = requests_[static_cast<std::size_t>(request.id)];
    const auto& pools = cluster_.setup.pools;
    const bool is_cut = std::any_of(pools.begin(), pools.end(), [&](const PoolSetup& pool) {
      return request.prompt + request.output == pool.max_model_len;
    });
    require(request.prompt == asked.prompt.count() && request.session == asked.session &&
                (request.output == asked.output.count() || (is_cut && request.output < asked.output.count())),
            "a request gets what it asked for, as far as it fits");
  }

  /// Sequences whose KV comes from elsewhere, where it can only come from host memory.
  static std::int64_t from_host(const SequenceStore& store) {
    return std::count_if(store.sequences.begin(), store.sequences.end(),
                         [](const Sequence& s) { return s.state == Sequence::State::loading; });
  }

  /// Each micro-batch of a replica sees the same queue.
  template <class Visit>
  void visit_stores(Visit visit) const {
    std::size_t lane = 0;
    for (const PoolSetup& pool : cluster_.setup.pools) {
      for (std::int32_t replica = 0; replica < pool.replicas; ++replica) {
        visit(simulation->lanes()[lane].state().store());
        lane += static_cast<std::size_t>(pool.pipeline);
      }
    }
  }

  [[nodiscard]] std::int64_t all_waiting() const {
    std::int64_t waiting = simulation->coordinator()->held() + simulation->coordinator()->in_transit();
    visit_stores([&](const SequenceStore& store) {
      waiting += static_cast<std::int64_t>(store.waiting.size() + store.joining.size() + store.ready.size() +
                                           store.swapped.size());
      waiting += cluster_.is_split() ? 0 : from_host(store);
    });
    return waiting;
  }

  /// What a request that a scheduler turns away had emitted before it was preempted.
  [[nodiscard]] std::int64_t emitted_by_waiting(std::int64_t id) const {
    std::int64_t emitted = 0;
    visit_stores([&](const SequenceStore& store) {
      for (const SequenceId waiting : store.waiting) {
        emitted += store.sequence(waiting).request_id == id ? store.sequence(waiting).emitted : 0;
      }
    });
    return emitted;
  }

  const RandomCluster& cluster_;
  ClusterRun& run_;
  std::vector<Request> requests_;
  std::vector<bool> has_left_;
  std::int64_t emitted_ = 0, output_sum_ = 0, rejected_emitted_ = 0;
};

void look_at_transfers(const ClusterRun& run, ClusterWatch& watch) {
  std::int64_t handovers = 0;
  std::int64_t unended = 0;  // weights on their way when the last request left
  Bytes bytes;
  for (const SeenTransfer& transfer : run.transfers.transfers) {
    handovers += transfer.has_source ? 1 : 0;
    bytes += transfer.has_source ? Bytes(transfer.bytes) : Bytes();
    const bool is_under_way = !transfer.has_ended && !transfer.is_cancelled;
    watch.require(transfer.has_ended != transfer.is_cancelled || (is_under_way && !transfer.has_source),
                  "a transfer of KV ends or is cancelled");
    unended += is_under_way ? 1 : 0;
  }
  watch.require(run.transfers.keeps_contract && run.transfers.in_flight == unended,
                "the network is used well");
  watch.require(handovers == run.totals.transfers && bytes == run.totals.transferred,
                "the totals count what crosses the network");
}

void fill_end(const Simulation& simulation, const ClusterWatch& watch, ClusterRun& run) {
  run.totals = simulation.coordinator()->totals();
  run.census = simulation.census();
  run.counts = simulation.step_counts();
  for (const Replica& lane : simulation.lanes()) {
    run.offload = lane.offload() == nullptr ? run.offload : run.offload + lane.offload()->counts();
  }
  run.most_lanes_at_once = watch.most_lanes_at_once();
  run.most_held = watch.most_held();
  const Fleet& fleet = simulation.coordinator()->fleet();
  for (std::int32_t replica = 0; replica < fleet.replicas(); ++replica) {
    run.replicas.insert(
        run.replicas.end(),
        {fleet.routed(replica), static_cast<std::int64_t>(fleet.role(replica)),
         static_cast<std::int64_t>(fleet.status(replica)), fleet.paid(replica, simulation.now()).count()});
  }
  std::sort(run.finished.begin(), run.finished.end(), [](const FinishedRequest& a, const FinishedRequest& b) {
    return std::tie(a.finished, a.id) < std::tie(b.finished, b.id);
  });
  std::sort(run.rejected.begin(), run.rejected.end());
}

}  // namespace

ClusterRun run_cluster(const RandomCluster& cluster, Stepper stepper, std::int64_t piece) {
  ClusterRun run;
  Witness witness(cluster, run);
  ClusterSetup setup = cluster.setup;
  if (setup.make_network) {
    setup.make_network = [&] { return make_noted_network(cluster.setup.make_network(), run.transfers); };
  }
  Simulation simulation(cluster.workload(), cluster.lanes(stepper, witness),
                        std::make_shared<const ClusterSetup>(std::move(setup)), witness);
  ClusterWatch watch(cluster, simulation);
  witness.simulation = &simulation;
  witness.watch = &watch;
  if (piece == 1) {
    while (watch.broken().empty() && simulation.run(1)) {
      watch.look();
      watch.require(simulation.events() < kMostEvents, "a run comes to its end");
    }
    watch.look();
  } else {
    while (simulation.run(piece)) {
    }
  }
  fill_end(simulation, watch, run);
  if (watch.broken().empty()) {
    watch.look_at_end();
    witness.look_at_end();
    if (setup.make_network || cluster.setup.make_network) {
      look_at_transfers(run, watch);
    }
  }
  run.broken = watch.broken();
  return run;
}

}  // namespace inferometer::testing
