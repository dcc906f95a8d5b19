#pragma once

#include "sim/replica/observer.hpp"

namespace inferometer {

/// Tells two observers, the first one first. Both outlive it.
class ObserverPair final : public SimulationObserver {
 public:
  ObserverPair(SimulationObserver& first, SimulationObserver& second) : first_(first), second_(second) {}

  void on_arrival(const Request& request, std::int64_t waiting) override {
    first_.on_arrival(request, waiting);
    second_.on_arrival(request, waiting);
  }
  void on_rejected(const RejectedRequest& request) override {
    first_.on_rejected(request);
    second_.on_rejected(request);
  }
  void on_steps(const StepRecord& steps) override {
    first_.on_steps(steps);
    second_.on_steps(steps);
  }
  void on_finished(const FinishedRequest& request) override {
    first_.on_finished(request);
    second_.on_finished(request);
  }

 private:
  SimulationObserver& first_;
  SimulationObserver& second_;
};

}  // namespace inferometer
