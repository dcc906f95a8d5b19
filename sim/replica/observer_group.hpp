#pragma once

#include <utility>
#include <vector>

#include "sim/replica/observer.hpp"

namespace inferometer {

/// Tells several observers, in their order. All outlive it.
class ObserverGroup final : public SimulationObserver {
 public:
  explicit ObserverGroup(std::vector<SimulationObserver*> observers) : observers_(std::move(observers)) {}

  void on_arrival(const Request& request, std::int64_t waiting) override {
    for (SimulationObserver* observer : observers_) {
      observer->on_arrival(request, waiting);
    }
  }
  void on_rejected(const RejectedRequest& request) override {
    for (SimulationObserver* observer : observers_) {
      observer->on_rejected(request);
    }
  }
  void on_steps(const StepRecord& steps) override {
    for (SimulationObserver* observer : observers_) {
      observer->on_steps(steps);
    }
  }
  void on_finished(const FinishedRequest& request) override {
    for (SimulationObserver* observer : observers_) {
      observer->on_finished(request);
    }
  }
  void on_idle(const IdleRecord& idle) override {
    for (SimulationObserver* observer : observers_) {
      observer->on_idle(idle);
    }
  }
  void on_transfer(const TransferRecord& transfer) override {
    for (SimulationObserver* observer : observers_) {
      observer->on_transfer(transfer);
    }
  }

 private:
  std::vector<SimulationObserver*> observers_;
};

}  // namespace inferometer
