#include "sim/scenario/capacity.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

namespace inferometer {
namespace {

/// All requests of a sample, at once, in an order that is like the whole everywhere: it goes round the sample
/// in strides near the golden section, which shares no divisor with its size.
class Backlog : public Workload {
 public:
  explicit Backlog(std::span<const RequestLengths> sample) : sample_(sample) {
    constexpr double kGoldenSection = 0.6180339887498949;
    stride_ = std::max<std::size_t>(
        1, static_cast<std::size_t>(kGoldenSection * static_cast<double>(sample.size())));
    while (std::gcd(stride_, sample.size()) > 1) {
      ++stride_;
    }
  }

  std::optional<TimePoint> next_arrival() override {
    return next_ < sample_.size() ? std::optional(TimePoint()) : std::nullopt;
  }

  void take(Request& request) override {
    const RequestLengths& lengths = sample_[place_];
    place_ = (place_ + stride_) % sample_.size();
    request.id = static_cast<std::int64_t>(next_++);
    request.prompt = TokenCount(lengths.prompt);
    request.output = TokenCount(lengths.output);
    request.max_new = TokenCount(lengths.output);
  }

 private:
  std::span<const RequestLengths> sample_;
  std::size_t stride_ = 1;
  std::size_t place_ = 0;
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
  return std::max(kAtLeast, kFillings * deployment.limits.max_num_seqs);
}

std::optional<PerSecond> saturated_rate(const Scenario& scenario, const Deployment& deployment,
                                        std::span<const RequestLengths> sample) {
  constexpr std::int64_t kFewestFillings = 2;
  if (static_cast<std::int64_t>(sample.size()) < kFewestFillings * deployment.limits.max_num_seqs) {
    return std::nullopt;
  }
  FinishTimes finishes;
  std::vector<Replica> replicas;
  replicas.push_back(make_replica(scenario, deployment, finishes));
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
