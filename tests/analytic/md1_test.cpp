// A server with fixed service and Poisson arrivals: the mean wait of M/D/1, rho / (2 mu (1 - rho)).

#include <cmath>
#include <optional>

#include "base/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {
namespace {

constexpr std::int64_t kServiceUs = 1000;

/// Poisson arrivals of requests that take one step each.
class PoissonWorkload : public Workload {
 public:
  PoissonWorkload(double per_service_time, std::int64_t requests)
      : mean_gap_ps_(static_cast<double>(microseconds(kServiceUs).count()) / per_service_time),
        left_(requests),
        random_(20'251, "tests/md1") {
    draw();
  }

  std::optional<TimePoint> next_arrival() override { return next_; }

  void take(Request& request) override {
    request.id = id_++;
    request.arrival = *next_;
    request.prompt = request.output = request.max_new = TokenCount(1);
    draw();
  }

 private:
  void draw() {
    next_.reset();
    if (left_ > 0) {
      --left_;
      last_ = last_ + picoseconds(std::llround(random_.exponential() * mean_gap_ps_));
      next_ = last_;
    }
  }

  double mean_gap_ps_;
  std::int64_t left_;
  RandomStream random_;
  std::int64_t id_ = 0;
  TimePoint last_;
  std::optional<TimePoint> next_;
};

class MeanWait : public SimulationObserver {
 public:
  void on_finished(const FinishedRequest& request) override {
    wait_us_ += static_cast<double>((request.admitted - request.arrival).count()) / 1e6;
    service_is_fixed_ = service_is_fixed_ && request.finished - request.admitted == microseconds(kServiceUs);
    ++count_;
  }
  [[nodiscard]] double mean_us() const { return wait_us_ / static_cast<double>(count_); }
  [[nodiscard]] bool service_is_fixed() const { return service_is_fixed_; }

 private:
  double wait_us_ = 0;
  std::int64_t count_ = 0;
  bool service_is_fixed_ = true;
};

void check_mean_wait(const std::string& policy, double load, std::int64_t requests) {
  EngineSetup setup;
  setup.policy = policy;
  setup.max_num_seqs = 1;
  setup.costs = {kServiceUs, 0, 0, 0, 0};
  MeanWait wait;
  make_simulation(setup, std::make_unique<PoissonWorkload>(load, requests), wait)->run();
  const double theory_us = load / (2.0 * (1.0 - load)) * static_cast<double>(kServiceUs);
  CAPTURE(policy, load, wait.mean_us(), theory_us);
  CHECK(wait.service_is_fixed());
  CHECK(std::abs(wait.mean_us() - theory_us) < 0.02 * theory_us);
}

// How many requests 2 % takes: over N requests the mean wait has a relative variance of c / N, with c = 8, 16
// and 270 at loads 0.3, 0.6 and 0.9 (batch means of Lindley's recursion over 10^6 requests; waits are the
// more correlated the higher the load). The numbers below put 2 % at four standard deviations for the first
// two, at two for the last.
constexpr std::int64_t kRequestsLow = 325'000;
constexpr std::int64_t kRequestsMiddle = 650'000;
constexpr std::int64_t kRequestsHigh = 2'700'000;

TEST_CASE("M/D/1 mean wait at load 0.3") {
  check_mean_wait("chunked_prefill", 0.3, kRequestsLow);
}
TEST_CASE("M/D/1 mean wait at load 0.6") {
  check_mean_wait("continuous", 0.6, kRequestsMiddle);
}
TEST_CASE("M/D/1 mean wait at load 0.9") {
  check_mean_wait("chunked_prefill", 0.9, kRequestsHigh);
}

}  // namespace
}  // namespace inferometer::testing
