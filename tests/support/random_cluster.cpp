#include "tests/support/random_cluster.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/network/platform.hpp"
#include "tests/support/random_cluster_pools.hpp"
#include "tests/support/random_content.hpp"
#include "tests/support/shared_link_network.hpp"

namespace inferometer::testing {
namespace {

using Split = DisaggregationSetup;

constexpr std::int64_t kAlignedEvents = 20'000;  // of a run that may be at fault: enough for most

/// Times are drawn in hundredths of a typical step, so that they mean something at every price.
class Clock {
 public:
  Clock(Dice& dice, Duration typical) : dice_(dice), typical_(typical) {}

  /// Of whole microseconds, like round prices.
  [[nodiscard]] Duration between(std::int64_t low, std::int64_t high) {
    const std::int64_t microseconds_each = 1'000'000;
    const std::int64_t ps = typical_.count() / 100 * dice_.between(low, high);
    return Duration(ceil_div(ps, microseconds_each) * microseconds_each);
  }
  [[nodiscard]] Duration at_least_one(std::int64_t low, std::int64_t high) {
    return std::max(between(low, high), microseconds(1));
  }

 private:
  Dice& dice_;
  Duration typical_;
};

/// Of the slowest pool: what happens at intervals must not happen thousands of times a step.
Duration typical_step(const RandomCluster& cluster) {
  Duration longest;
  for (const RandomPool& pool : cluster.pools) {
    const EngineSetup& engine = pool.replica.setup;
    const StepShape shape{
        engine.max_num_seqs, engine.max_num_seqs * (engine.max_model_len / 4 + 1), engine.max_num_seqs, {}};
    Duration time = pool.replica.pricer->price(shape).total();
    for (std::size_t stage = 1; stage < pool.stages.size(); ++stage) {
      time += pool.stages[stage]->price(shape).total();
    }
    longest = std::max(longest, time);
  }
  return longest;
}

void draw_split(Dice& dice, Clock& clock, std::int64_t longest, Split& split) {
  split.transfer = dice.chance(50) ? Split::Transfer::pull : Split::Transfer::push;
  split.first_token_from_decode = dice.chance(40);
  split.decode_first = split.transfer == Split::Transfer::push && dice.chance(35);
  split.hop = dice.chance(50) ? Duration() : clock.between(0, 300);
  if (dice.chance(35)) {
    split.abort_after = clock.between(0, dice.one_of({50, 500, 5000}));
    split.on_abort = dice.chance(60) ? Split::OnAbort::recompute : Split::OnAbort::lose;
  }
  if (dice.chance(50)) {
    split.local_prefill = static_cast<Split::LocalPrefill>(dice.between(1, 5));
  }
  split.max_local_prefill_tokens = dice.between(0, longest / 8);
  split.local_share = dice.chance(50) ? 1.5 : 0.7;
  split.prefill_queue_limit = dice.between(0, 4);
  split.prefill_load_tokens = dice.between(0, longest / 2);
  if (dice.chance(35)) {
    split.overflow_tokens = dice.between(0, longest / 3);
  }
}

std::int64_t replicas_of(const ClusterSetup& setup) {
  std::int64_t replicas = 0;
  for (const PoolSetup& pool : setup.pools) {
    replicas += pool.replicas;
  }
  return replicas;
}

void draw_failures(Dice& dice, Clock& clock, ClusterSetup& setup) {
  setup.failures.retry = dice.chance(70);
  if (dice.chance(45)) {
    return;
  }
  const std::int64_t events = dice.between(1, 6);
  const std::int64_t latest = dice.one_of({300, 3000, 30'000});
  for (std::int64_t i = 0; i < events; ++i) {
    ReplicaEvent event;
    event.at = TimePoint(clock.between(0, latest));
    event.kind = dice.chance(60) ? ReplicaEvent::Kind::fail : ReplicaEvent::Kind::drain;
    event.replica = static_cast<std::int32_t>(dice.between(0, replicas_of(setup) - 1));
    if (dice.chance(70)) {
      event.lasts = clock.between(0, 5000);
    }
    setup.failures.events.push_back(event);
  }
}

void draw_scaling(Dice& dice, Clock& clock, ClusterSetup& setup) {
  for (PoolSetup& pool : setup.pools) {
    const bool is_scaled = dice.chance(25);
    if (is_scaled) {
      AutoscalingSetup scaling;
      scaling.pool = pool.role;
      scaling.interval = clock.at_least_one(20, 2000);
      scaling.target_outstanding = static_cast<double>(dice.between(1, 6));
      scaling.tolerance = static_cast<double>(dice.between(0, 3)) / 10;
      scaling.fewest = static_cast<std::int32_t>(dice.between(0, pool.replicas));
      scaling.most = static_cast<std::int32_t>(dice.between(std::max(scaling.fewest, 1), pool.replicas));
      scaling.scale_down_after = clock.between(0, 2000);
      setup.autoscaling.push_back(scaling);
    }
    if (is_scaled || dice.chance(15)) {
      pool.at_start = static_cast<std::int32_t>(dice.between(dice.chance(80) ? 1 : 0, pool.replicas));
    }
  }
  setup.start_up.boot = dice.chance(30) ? Duration() : clock.between(0, 1000);
  setup.start_up.loads_weights = dice.chance(60);
}

void draw_admission(Dice& dice, Clock& clock, AdmissionSetup& admission) {
  if (dice.chance(15)) {
    admission.max_outstanding = dice.between(1, 8);
  }
  if (dice.chance(15)) {
    admission.ttft = clock.at_least_one(10, 2000);
  }
}

/// Four GPUs a node; a replica has one for each stage and rank.
void place_replicas(Dice& dice, RandomCluster& cluster) {
  constexpr std::int32_t kGpusOfNode = 4;
  std::int32_t next = 0;
  for (PoolSetup& pool : cluster.setup.pools) {
    const std::int32_t gpus = pool.pipeline * static_cast<std::int32_t>(dice.one_of({1, 1, 2}));
    for (std::int32_t replica = 0; replica < pool.replicas; ++replica) {
      std::vector<GpuPlace>& places = pool.places.emplace_back();
      for (std::int32_t gpu = 0; gpu < gpus; ++gpu, ++next) {
        places.push_back({next / kGpusOfNode, next % kGpusOfNode});
      }
    }
  }
}

Platform small_platform(Dice& dice) {
  constexpr std::size_t kNodes = 16;  // more than 6 replicas of 4 stages and 2 ranks need
  const double bytes_per_second = static_cast<double>(dice.one_of({1, 10, 100})) * 1e8;
  const NodeSpec node{.gpus = 4,
                      .gpu_bandwidth = BytesPerSecond(4 * bytes_per_second),
                      .gpu_latency = microseconds(2),
                      .nics = 2,
                      .nic_bandwidth = BytesPerSecond(bytes_per_second),
                      .storage_bandwidth = BytesPerSecond(bytes_per_second)};
  return {.nodes = std::vector<NodeSpec>(kNodes, node),
          .fabric = {.nodes_per_leaf = 2, .oversubscription = 2, .latency = microseconds(5)},
          .transfer = {.set_up = microseconds(1), .efficiency = 1, .half_size = Bytes(1000)}};
}

void draw_network(Dice& dice, bool allows_simgrid, RandomCluster& cluster) {
  const std::int64_t percent = dice.between(1, 100);
  if (percent <= 20) {
    return;
  }
  if (percent <= 50) {
    const Platform platform = small_platform(dice);
    const bool contends = allows_simgrid && has_simgrid() && percent == 21;
    cluster.network = contends ? NetworkKind::simgrid : NetworkKind::ideal;
    cluster.setup.make_network = [platform, contends] {
      return contends ? make_simgrid_network(platform) : make_ideal_network(platform);
    };
    return;
  }
  cluster.network = NetworkKind::shared_link;
  const Duration per_byte(dice.one_of({1, 50, 1000, 1000, 5000, 40'000}));
  cluster.setup.make_network = [per_byte] { return make_shared_link_network(per_byte); };
}

/// Prompts as the pools take them, and a few that none does.
TestRequest draw_request(Dice& dice, std::int64_t longest) {
  TestRequest request;
  if (dice.chance(3)) {
    request.prompt = longest + dice.between(0, 40);
    return request;
  }
  request.prompt = dice.chance(15) ? dice.between(1, longest - 1)
                                   : dice.between(1, std::max<std::int64_t>(1, longest / 6));
  const std::int64_t most = longest - request.prompt;
  request.output =
      dice.chance(12) ? 1 : dice.between(1, dice.chance(60) ? std::min<std::int64_t>(most, 40) : most);
  if (dice.chance(3)) {
    request.output = longest;  // cut at max_model_len
  }
  request.max_new = request.output + dice.one_of({0, 0, 3, 20});
  request.session = dice.chance(50) ? dice.between(0, 5) : -1;
  return request;
}

void draw_requests(Dice& dice, Clock& clock, std::int64_t longest, RandomCluster& cluster) {
  const std::int64_t count = dice.between(1, 40);
  const std::int64_t gap = dice.one_of({0, 40, 200, 1000, 5000});
  const std::int64_t burst_percent = dice.one_of({0, 30, 90});
  Duration arrival = clock.between(0, 100);
  for (std::int64_t i = 0; i < count; ++i) {
    TestRequest request = draw_request(dice, longest);
    request.arrival = TimePoint(arrival);
    cluster.requests.push_back(request);
    arrival += dice.chance(burst_percent) ? Duration() : clock.between(0, gap);
  }
  if (dice.chance(50)) {
    draw_contents(dice, cluster.requests);
  }
  if (dice.chance(25)) {
    cluster.clients = dice.between(1, 12);
    cluster.think = clock.between(0, dice.one_of({0, 70, 3000}));
  }
}

class Moments : public SimulationObserver {
 public:
  void on_steps(const StepRecord& steps) override { ends.push_back(steps.stretch.end()); }
  std::vector<TimePoint> ends;
};

/// Moves arrivals and what befalls replicas to ends of steps and transfers, or a picosecond beside them.
void align(Dice& dice, RandomCluster& cluster) {
  Moments moments;
  TransferLog log;
  ClusterSetup setup = cluster.setup;
  if (setup.make_network) {
    setup.make_network = [&] { return make_noted_network(cluster.setup.make_network(), log); };
  }
  try {
    Simulation(cluster.workload(), cluster.lanes(Stepper::reference, moments),
               std::make_shared<const ClusterSetup>(std::move(setup)), moments)
        .run(kAlignedEvents);
  } catch (const std::logic_error&) {
    return;  // the test that runs the cluster will see it
  }
  for (const SeenTransfer& transfer : log.transfers) {
    moments.ends.push_back(transfer.end);
  }
  std::sort(moments.ends.begin(), moments.ends.end());
  const auto moved = [&](TimePoint time) {
    const auto place = std::lower_bound(moments.ends.begin(), moments.ends.end(), time);
    const bool stays = place == moments.ends.end() || dice.chance(30);
    return stays ? time : *place + Duration(dice.one_of({0, 0, 0, 0, -1, 1}));
  };
  for (TestRequest& request : cluster.requests) {
    request.arrival = moved(request.arrival);
  }
  for (ReplicaEvent& event : cluster.setup.failures.events) {
    event.at = moved(event.at);
  }
  std::stable_sort(cluster.requests.begin(), cluster.requests.end(),
                   [](const TestRequest& a, const TestRequest& b) { return a.arrival < b.arrival; });
}

std::string text_of(TimePoint time) {
  return std::to_string(time.since_start().count()) + "ps";
}

std::string text_of(Duration time) {
  return std::to_string(time.count()) + "ps";
}

std::string text_of(const Split& split) {
  return std::string("split: ") + (split.transfer == Split::Transfer::pull ? "pull" : "push") +
         (split.first_token_from_decode ? ", first token from decode" : "") +
         (split.decode_first ? ", decode first" : "") + ", hop " + text_of(split.hop) + ", abort " +
         (split.abort_after ? text_of(*split.abort_after) : "never") +
         (split.on_abort == Split::OnAbort::lose ? " lose" : " recompute") + ", local " +
         std::to_string(static_cast<int>(split.local_prefill)) + ", overflow " +
         std::to_string(split.overflow_tokens.value_or(-1)) + "\n";
}

}  // namespace

std::vector<Replica> RandomCluster::lanes(Stepper stepper, SimulationObserver& observer) const {
  std::vector<Replica> lanes;
  std::int32_t index = 0;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const RandomPool& pool = pools[i];
    for (std::int32_t replica = 0; replica < setup.pools[i].replicas; ++replica, ++index) {
      ReplicaConfig config = pool.replica.replica(stepper);
      config.index = index;
      if (pool.stages.empty()) {
        lanes.emplace_back(config, pool.replica.policy(), pool.replica.pricer, observer);
        continue;
      }
      const auto store =
          std::make_shared<SequenceStore>(config.blocks, config.block_size, config.caches_prefixes);
      const auto pipeline = std::make_shared<Pipeline>(pool.stages);
      for (std::int32_t lane = 0; lane < setup.pools[i].pipeline; ++lane) {
        config.lane = lane;
        lanes.emplace_back(config, pool.replica.policy(), store, pipeline, observer);
      }
    }
  }
  return lanes;
}

std::string RandomCluster::describe() const {
  std::string text;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const PoolSetup& pool = setup.pools[i];
    text += std::string(to_string(pool.role)) + " " + std::to_string(pool.at_start) + "/" +
            std::to_string(pool.replicas) + " x " + std::to_string(pool.pipeline) + " stages, router " +
            pools[i].router + ", kv " + std::to_string(pool.kv_bytes_per_token.count()) + "\n  " +
            pools[i].replica.describe();
  }
  text += setup.disaggregation ? text_of(*setup.disaggregation) : "";
  text += "network " + std::to_string(static_cast<int>(network)) + ", state interval " +
          text_of(setup.state_interval) + ", boot " + text_of(setup.start_up.boot) +
          (setup.start_up.loads_weights ? " and weights" : "") +
          (setup.failures.retry ? ", retry" : ", lose") + (setup.dynamic_split ? ", dynamic split" : "") +
          ", clients " + std::to_string(clients) + ", think " + text_of(think) + "\n";
  for (const AutoscalingSetup& scaling : setup.autoscaling) {
    text += "autoscaling of " + std::string(to_string(scaling.pool)) + " each " + text_of(scaling.interval) +
            " to " + std::to_string(scaling.target_outstanding) + ", " + std::to_string(scaling.fewest) +
            " to " + std::to_string(scaling.most) + "\n";
  }
  for (const ReplicaEvent& event : setup.failures.events) {
    text += text_of(event.at) + (event.kind == ReplicaEvent::Kind::fail ? " fail " : " drain ") +
            std::to_string(event.replica) + (event.lasts ? " for " + text_of(*event.lasts) : "") + "\n";
  }
  for (const TestRequest& request : requests) {
    text += text_of(request.arrival) + " " + std::to_string(request.prompt) + "+" +
            std::to_string(request.output) + " session " + std::to_string(request.session) +
            content_text(request) + "\n";
  }
  return text;
}

RandomCluster random_cluster(std::uint64_t seed, bool allows_simgrid) {
  Dice dice(seed, "tests/random_cluster");
  RandomCluster cluster;
  const std::int64_t longest = draw_pools(dice, seed, cluster);
  Clock clock(dice, typical_step(cluster));
  if (cluster.is_split()) {
    draw_split(dice, clock, longest, *cluster.setup.disaggregation);
  }
  if (cluster.setup.dynamic_split) {
    cluster.setup.dynamic_split =
        DynamicSplitSetup{.interval = clock.at_least_one(20, 1000),
                          .prefill_backlog = clock.between(0, 2000),
                          .decode_fill = static_cast<double>(dice.between(0, 10)) / 10};
  }
  cluster.setup.state_interval = dice.chance(70) ? Duration() : clock.at_least_one(10, 2000);
  draw_admission(dice, clock, cluster.setup.admission);
  draw_failures(dice, clock, cluster.setup);
  draw_scaling(dice, clock, cluster.setup);
  place_replicas(dice, cluster);
  draw_network(dice, allows_simgrid, cluster);
  draw_requests(dice, clock, longest, cluster);
  if (cluster.clients == 0 && cluster.network != NetworkKind::simgrid && dice.chance(50)) {
    align(dice, cluster);
  }
  std::stable_sort(cluster.setup.failures.events.begin(), cluster.setup.failures.events.end(),
                   [](const ReplicaEvent& a, const ReplicaEvent& b) { return a.at < b.at; });
  return cluster;
}

}  // namespace inferometer::testing
