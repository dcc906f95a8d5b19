#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "workloads/generated_workload.hpp"

namespace inferometer {

namespace {

class ClosedLoop : public Workload {
 public:
  ClosedLoop(const ClosedLoopOptions& options, RequestBodies bodies)
      : requests_(options.requests),
        clients_(options.clients, options.requests, options.seed),
        bodies_(std::move(bodies)) {
    for (std::int64_t client = 0; client < clients_.size(); ++client) {
      ready_.push({clients_.begins(client), client});
    }
  }

  std::optional<TimePoint> next_arrival() override {
    if (taken_ == requests_ || ready_.empty()) {
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
    ready_.push({clients_.after_answer(client, now), client});
  }

  [[nodiscard]] std::optional<std::int64_t> size_hint() const override { return requests_; }

 private:
  struct Ready {
    TimePoint at;
    std::int64_t client;
    bool operator>(const Ready& other) const {
      return std::tie(at, client) > std::tie(other.at, other.client);
    }
  };

  std::int64_t requests_;
  Clients clients_;
  RequestBodies bodies_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::unordered_map<std::int64_t, std::int64_t> waiting_client_;  ///< by request; looked up, never walked
  std::int64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<Workload> make_closed_loop_workload(const ClosedLoopOptions& options, RequestBodies bodies) {
  return std::make_unique<ClosedLoop>(options, std::move(bodies));
}

}  // namespace inferometer
