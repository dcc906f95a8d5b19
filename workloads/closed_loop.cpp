#include <algorithm>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"
#include "workloads/generated_workload.hpp"

namespace inferometer {

namespace {

class ClosedLoop : public Workload {
 public:
  ClosedLoop(const ClosedLoopOptions& options, RequestBodies bodies)
      : options_(options), bodies_(std::move(bodies)) {
    INFEROMETER_CHECK(options.clients >= 1, "at least one client");
    INFEROMETER_CHECK(options.think_time.count() >= 0 && options.ramp_up.count() >= 0,
                      "times are not negative");
    for (std::int64_t client = 0; client < std::min(options.clients, options.requests); ++client) {
      think_.emplace_back(options.seed, "workload/think_time/" + std::to_string(client));
      const double share = static_cast<double>(client) / static_cast<double>(options.clients);
      ready_.push({arrival_at(to_seconds(options.ramp_up) * share), client});
    }
  }

  std::optional<TimePoint> next_arrival() override {
    if (taken_ == options_.requests || ready_.empty()) {
      return std::nullopt;
    }
    return ready_.top().at;
  }

  void take(Request& request) override {
    INFEROMETER_CHECK(next_arrival().has_value(), "take() without a request");
    bodies_.fill(request, taken_, ready_.top().at);
    waiting_client_.emplace(taken_, ready_.top().client);
    ready_.pop();
    taken_ += 1;
  }

  void finished(std::int64_t id, TimePoint now) override {
    const auto found = waiting_client_.find(id);
    INFEROMETER_CHECK(found != waiting_client_.end(), "a request finishes once, after it was taken");
    const std::int64_t client = found->second;
    waiting_client_.erase(found);
    const Duration think = think_time(client);
    if (think.count() > std::numeric_limits<std::int64_t>::max() - now.since_start().count()) {
      throw ConfigError(Position{"workload"},
                        "a request would arrive after 106 days, the end of simulated time");
    }
    ready_.push({now + think, client});
  }

  [[nodiscard]] std::optional<std::int64_t> size_hint() const override { return options_.requests; }

 private:
  struct Ready {
    TimePoint at;
    std::int64_t client;
    bool operator>(const Ready& other) const {
      return std::tie(at, client) > std::tie(other.at, other.client);
    }
  };

  Duration think_time(std::int64_t client) {
    if (options_.fixed_think_time) {
      return options_.think_time;
    }
    RandomStream& stream = think_[static_cast<std::size_t>(client)];
    return arrival_at(to_seconds(options_.think_time) * stream.exponential()).since_start();
  }

  ClosedLoopOptions options_;
  RequestBodies bodies_;
  std::vector<RandomStream> think_;  ///< by client
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::unordered_map<std::int64_t, std::int64_t> waiting_client_;  ///< by request; looked up, never walked
  std::int64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<Workload> make_closed_loop_workload(const ClosedLoopOptions& options, RequestBodies bodies) {
  return std::make_unique<ClosedLoop>(options, std::move(bodies));
}

}  // namespace inferometer
