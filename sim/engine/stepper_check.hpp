#pragma once

// The fast stepper checked against the reference stepper while both run: the same requests, step by step.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/simulation.hpp"
#include "sim/replica/observer.hpp"

namespace inferometer {

/// The steppers differ: says in which step or request, what each has, and how their replicas stand.
struct StepperMismatch : std::logic_error {
  using std::logic_error::logic_error;
};

/// Observes a simulation and drives another one of the same scenario beside it, by the reference stepper, no
/// further than needed to compare what the first has just done: each step in its times, costs, shape, tokens,
/// blocks and gaps, each request as it arrives, finishes or is rejected in all its integers, with how many
/// wait. Throws StepperMismatch from the observer's calls at the first difference. Memory is that of the
/// steps of one stretch, time that of both.
///
///   StepperCheck check(recorder);
///   Simulation simulation(..., check);  // replicas of the fast stepper
///   check.compare(simulation, std::make_unique<Simulation>(..., check.reference_side()));  // the other one
///   simulation.run();
///   check.finish();
class StepperCheck final : public SimulationObserver {
 public:
  /// `observer` is told what the checked simulation does.
  explicit StepperCheck(SimulationObserver& observer) : observer_(observer) {}

  [[nodiscard]] SimulationObserver& reference_side() { return reference_side_; }
  /// To be called before `checked`, which outlives the check, runs.
  void compare(const Simulation& checked, std::unique_ptr<Simulation> reference) {
    checked_ = &checked;
    reference_ = std::move(reference);
  }

  void on_arrival(const Request& request, std::int64_t waiting) override;
  void on_rejected(const RejectedRequest& request) override;
  void on_steps(const StepRecord& steps) override;
  void on_finished(const FinishedRequest& request) override;
  /// Told on: moments between steps, and transfers, show in the steps and requests that they lead to.
  void on_idle(const IdleRecord& idle) override { observer_.on_idle(idle); }
  void on_transfer(const TransferRecord& transfer) override { observer_.on_transfer(transfer); }

  /// To be called when the checked simulation has run to its end: nothing may be left on the other side, and
  /// both must have counted alike.
  void finish();

 private:
  /// What is compared, as text: a name and a number each.
  struct Facts {
    std::string what;  ///< "step 17 of replica 0"
    std::vector<std::pair<std::string, std::int64_t>> values;
  };
  /// Replica and micro-batch: of each, steps come in order.
  using Lane = std::pair<std::int32_t, std::int32_t>;
  /// The steps of one lane: how many there were, and those that the other side has not come to yet.
  struct Steps {
    std::int64_t count = 0;
    std::deque<Facts> open;
  };
  struct ReferenceSide final : SimulationObserver {
    void on_arrival(const Request& request, std::int64_t waiting) override;
    void on_rejected(const RejectedRequest& request) override;
    void on_steps(const StepRecord& steps) override;
    void on_finished(const FinishedRequest& request) override;

    std::map<Lane, Steps> steps;
    std::deque<Facts> arrivals, departures;
  };

  static Facts facts_of(const Request& request, std::int64_t waiting);
  static Facts facts_of(const StepRecord& step, std::int64_t number);
  static Facts facts_of(const FinishedRequest& request);
  static Facts facts_of(const RejectedRequest& request);

  /// `reference` gives the list to look into: running the other side may move it.
  template <class List>
  void require_next(const Facts& fast, List reference);
  [[noreturn]] void fail(const Facts& fast, const Facts* reference) const;

  SimulationObserver& observer_;
  ReferenceSide reference_side_;
  std::unique_ptr<Simulation> reference_;
  const Simulation* checked_ = nullptr;
  std::map<Lane, std::int64_t> step_counts_;
};

}  // namespace inferometer
