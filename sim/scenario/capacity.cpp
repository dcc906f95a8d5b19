#include "sim/scenario/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

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

/// All requests of a sample, at once, in mixed order.
class Backlog : public Workload {
 public:
  explicit Backlog(std::span<const RequestLengths> sample)
      : sample_(sample), places_(mixed_places(sample.size())) {}

  std::optional<TimePoint> next_arrival() override {
    return next_ < sample_.size() ? std::optional(TimePoint()) : std::nullopt;
  }

  void take(Request& request) override {
    const RequestLengths& lengths = sample_[places_[next_]];
    request.id = static_cast<std::int64_t>(next_++);
    request.prompt = TokenCount(lengths.prompt);
    request.output = TokenCount(lengths.output);
    request.max_new = TokenCount(std::max(lengths.output, lengths.max_new));
  }

 private:
  std::span<const RequestLengths> sample_;
  std::vector<std::size_t> places_;
  std::size_t next_ = 0;
};

class FinishTimes : public SimulationObserver {
 public:
  void on_finished(const FinishedRequest& request) override { times.push_back(request.finished); }
  std::vector<TimePoint> times;
};

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

std::optional<PerSecond> saturated_rate(const Scenario& scenario, const Deployment& deployment,
                                        std::span<const RequestLengths> sample) {
  constexpr std::int64_t kFewestFillings = 2;
  (void)scenario;
  const PoolDeployment& pool = deployment.front();
  if (static_cast<std::int64_t>(sample.size()) < kFewestFillings * pool.limits.max_num_seqs) {
    return std::nullopt;
  }
  FinishTimes finishes;
  std::vector<Replica> replicas;
  replicas.push_back(make_replica(pool, 0, finishes));
  Simulation simulation(std::make_unique<Backlog>(sample), std::move(replicas), finishes);
  simulation.run();

  const std::size_t first = finishes.times.size() / 5;
  const std::size_t last = finishes.times.size() * 4 / 5;
  if (last <= first || finishes.times[last] == finishes.times[first]) {
    return std::nullopt;
  }
  return PerSecond(static_cast<double>(last - first) /
                   to_seconds(finishes.times[last] - finishes.times[first]));
}

}  // namespace inferometer
