#include "sim/scenario/capacity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sim/scenario/cluster_config.hpp"

namespace inferometer {
namespace {

/// Places 0 to n - 1 in an order of which every part is spread evenly over them: by the fractional parts of
/// their multiples of the golden section.
std::vector<std::size_t> mixed_places(std::size_t n) {
  constexpr double kGoldenSection = 0.6180339887498949;
  std::vector<std::pair<double, std::size_t>> keyed(n);
  for (std::size_t place = 0; place < n; ++place) {
    const double multiple = kGoldenSection * static_cast<double>(place);
    keyed[place] = {multiple - std::floor(multiple), place};
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::size_t> places(n);
  std::transform(keyed.begin(), keyed.end(), places.begin(), [](const auto& pair) { return pair.second; });
  return places;
}

/// All requests of a sample, at once, in mixed order. `most_output`: tokens after which each stops.
class Backlog : public Workload {
 public:
  Backlog(std::span<const RequestLengths> sample, std::int64_t most_output)
      : sample_(sample), places_(mixed_places(sample.size())), most_output_(most_output) {}

  std::optional<TimePoint> next_arrival() override {
    return next_ < sample_.size() ? std::optional(TimePoint()) : std::nullopt;
  }

  void take(Request& request) override {
    const RequestLengths& lengths = sample_[places_[next_]];
    request.id = static_cast<std::int64_t>(next_++);
    request.prompt = TokenCount(lengths.prompt);
    const std::int64_t allowed = std::max<std::int64_t>(lengths.output, lengths.max_new);
    request.output = TokenCount(std::min<std::int64_t>(lengths.output, most_output_));
    request.max_new = TokenCount(std::min(allowed, most_output_));
  }

 private:
  std::span<const RequestLengths> sample_;
  std::vector<std::size_t> places_;
  std::int64_t most_output_;
  std::size_t next_ = 0;
};

class FinishTimes : public SimulationObserver {
 public:
  void on_finished(const FinishedRequest& request) override { times.push_back(request.finished); }
  std::vector<TimePoint> times;
};

/// A prefill replica that is never in the way: prompts cost nothing to speak of.
class FreePrefill : public StepPricer {
 public:
  [[nodiscard]] StepCost price(const StepShape& /*shape*/) const override {
    return {.latency = picoseconds(1)};
  }
};

/// One replica of a pool on its own.
PoolSetup alone(const PoolDeployment& pool, PoolRole role) {
  PoolSetup setup;
  setup.role = role;
  setup.pipeline = static_cast<std::int32_t>(pool.pricers.size());
  setup.places.emplace_back();
  setup.max_model_len = pool.limits.max_model_len;
  setup.layers = pool.spec.model.layers;
  setup.make_router = router_maker({}, role, router_registry(), 0);
  return setup;
}

/// As many blocks and seats as any backlog takes.
PoolDeployment free_prefill(const PoolDeployment& decode) {
  constexpr std::int64_t kEnough = 1'000'000'000;
  PoolDeployment pool = decode;
  pool.pricers = {std::make_shared<FreePrefill>()};
  pool.limits.total_blocks = kEnough;
  pool.limits.max_num_seqs = kEnough;
  pool.replica.blocks = BlockCount(kEnough);
  pool.replica.max_num_seqs = kEnough;
  return pool;
}

/// The backlog on one replica of the pool, as it would run with all the company it can have.
void run_backlog(const PoolDeployment& pool, const std::optional<DisaggregationSetup>& split,
                 std::span<const RequestLengths> sample, FinishTimes& finishes) {
  const bool only_prompts = pool.spec.role == PoolRole::prefill;
  auto backlog =
      std::make_unique<Backlog>(sample, only_prompts ? 1 : std::numeric_limits<std::int64_t>::max());
  std::vector<Replica> lanes;
  auto cluster = std::make_shared<ClusterSetup>();
  if (pool.spec.role == PoolRole::decode) {
    add_lanes(free_prefill(pool), 0, finishes, lanes);
    cluster->pools.push_back(alone(free_prefill(pool), PoolRole::prefill));
    cluster->disaggregation = DisaggregationSetup();
    cluster->disaggregation->first_token_from_decode = split && split->first_token_from_decode;
    add_lanes(pool, 1, finishes, lanes);
    cluster->pools.push_back(alone(pool, PoolRole::decode));
  } else {
    add_lanes(pool, 0, finishes, lanes);
    cluster->pools.push_back(alone(pool, PoolRole::mixed));
  }
  if (lanes.size() == 1) {
    Simulation(std::move(backlog), std::move(lanes), finishes).run();
  } else {
    Simulation(std::move(backlog), std::move(lanes), cluster, finishes).run();
  }
}

/// Of one replica.
std::optional<double> saturated_rate_of(const PoolDeployment& pool,
                                        const std::optional<DisaggregationSetup>& split,
                                        std::span<const RequestLengths> sample) {
  constexpr std::int64_t kFewestFillings = 2;
  if (static_cast<std::int64_t>(sample.size()) < kFewestFillings * pool.limits.max_num_seqs) {
    return std::nullopt;
  }
  FinishTimes finishes;
  run_backlog(pool, split, sample, finishes);
  const std::size_t first = finishes.times.size() / 5;
  const std::size_t last = finishes.times.size() * 4 / 5;
  if (last <= first || finishes.times[last] == finishes.times[first]) {
    return std::nullopt;
  }
  return static_cast<double>(last - first) / to_seconds(finishes.times[last] - finishes.times[first]);
}

}  // namespace

std::int64_t capacity_sample_size(const Deployment& deployment) {
  constexpr std::int64_t kAtLeast = 2048;
  constexpr std::int64_t kFillings = 16;
  std::int64_t most = 0;
  for (const PoolDeployment& pool : deployment.pools) {
    most = std::max(most, pool.limits.max_num_seqs);
  }
  return std::max(kAtLeast, kFillings * most);
}

std::optional<PerSecond> saturated_rate(const Deployment& deployment,
                                        std::span<const RequestLengths> sample) {
  if (deployment.cluster->dynamic_split) {
    return std::nullopt;
  }
  std::array<double, kPoolRoles> rates{};
  for (std::size_t i = 0; i < deployment.pools.size(); ++i) {
    const PoolDeployment& pool = deployment.pools[i];
    const std::optional<double> rate = saturated_rate_of(pool, deployment.cluster->disaggregation, sample);
    if (!rate) {
      return std::nullopt;
    }
    rates.at(static_cast<std::size_t>(pool.spec.role)) = *rate * static_cast<double>(deployment.replicas(i));
  }
  const auto of = [&](PoolRole role) { return rates.at(static_cast<std::size_t>(role)); };
  return PerSecond(of(PoolRole::mixed) + std::min(of(PoolRole::prefill), of(PoolRole::decode)));
}

}  // namespace inferometer
