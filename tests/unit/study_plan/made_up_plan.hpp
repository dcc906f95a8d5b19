#pragma once

// Plans whose outcomes are made up, so that what a search must find follows from a formula: nothing is
// simulated.

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/study/plan/plan_search.hpp"

namespace inferometer::testing {

constexpr double kLimitMs = 500;     ///< of ttft_p99, the SLO of these plans
constexpr double kOfferedRate = 10;  ///< req/s
constexpr double kRequests = 1000;

/// One run: which shape, so many units, at which rate, with which seed.
struct MadeUpRun {
  std::size_t shape = 0;
  double units = 0, rate = 0;
  std::int64_t seed = 1;
};
using MadeUpOutcome = std::function<Outcome(const MadeUpRun&)>;

/// `load`: above 1 the queue grows.
inline Outcome outcome_of(double ttft_ms, double load, double watts, double failed_requests = 0) {
  Outcome outcome;
  outcome.metrics = {{"p99_ttft_ms", ttft_ms},
                     {"completed_requests", kRequests - failed_requests},
                     {"failed_requests", failed_requests},
                     {"mean_power_watts", watts},
                     {"load_share", load}};
  outcome.slo = {{"ttft_p99", ttft_ms, kLimitMs, ttft_ms <= kLimitMs, ttft_ms / kLimitMs - 1}};
  outcome.queue = load > 1 ? QueueStability::unstable : QueueStability::stable;
  return outcome;
}

/// "10.5" of "workload.rate=10.5 req/s".
inline double number_behind(const std::string& assignment, const std::string& key) {
  double number = 0;
  if (assignment.starts_with(key)) {
    std::from_chars(assignment.data() + key.size(), assignment.data() + assignment.size(), number);
  }
  return number;
}

class MadeUpPlan {
 public:
  /// `more`: keys of the plan. Nothing is bounded unless a test says so.
  MadeUpPlan(const std::string& candidates, const std::string& more, MadeUpOutcome outcome)
      : spec_(spec_of(candidates, more)), space_(make_plan_space(spec_)), outcome_(std::move(outcome)) {
    for (std::int64_t shape = 0; shape < space_.book.size(); ++shape) {
      ShapeFacts& facts = facts_.emplace_back();
      facts.unit = size_of(space_.book.scenario(shape), 1, spec_.objective);
      facts.setup = space_.shapes[static_cast<std::size_t>(shape)].name;
      facts.units = spec_.units;
    }
  }

  [[nodiscard]] std::vector<ShapeFacts>& facts() { return facts_; }
  [[nodiscard]] const PlanSpace& space() const { return space_; }
  [[nodiscard]] const PlanSpec& spec() const { return spec_; }

  [[nodiscard]] MadeUpRun run_of(const Evaluation& evaluation) const {
    MadeUpRun run{static_cast<std::size_t>(evaluation.study_case), 0, 0, evaluation.seed};
    for (const std::string& assignment : evaluation.assignments) {
      run.units += number_behind(assignment, "cluster.pools.mixed.replicas=");
      run.rate += number_behind(assignment, "workload.rate=");
    }
    return run;
  }

  /// Answers what is wanted, all of it at once or only the one that `pick` chooses of so many.
  PlanResult found(const std::function<std::size_t(std::size_t)>& pick = {}) {
    const PlanSearch search(spec_, space_, facts_);
    KnownOutcomes known;
    runs_.clear();
    for (std::vector<Evaluation> wanted = search.wanted(known); !wanted.empty();
         wanted = search.wanted(known)) {
      if (pick) {
        wanted = {wanted[pick(wanted.size())]};
      }
      for (const Evaluation& evaluation : wanted) {
        runs_.push_back(run_of(evaluation));
        known.add(evaluation, outcome_(runs_.back()));
      }
    }
    return search.result(known);
  }

  /// Of the last found().
  [[nodiscard]] const std::vector<MadeUpRun>& runs() const { return runs_; }

 private:
  static PlanSpec spec_of(const std::string& candidates, const std::string& more) {
    const std::string text = fmt::format(
        "base: {{model: llama-3-8b, hardware: {{gpu: h100-sxm}}, workload: {{generator: poisson, rate: {} "
        "req/s, requests: 1000, lengths: sharegpt}}}}\nslo: {{ttft_p99: {} ms}}\ncandidates: {}\n{}",
        kOfferedRate, kLimitMs, candidates, more);
    return read_plan_tree(read_yaml_text(text, "plan.yaml"), "plan.yaml", {});
  }

  PlanSpec spec_;
  PlanSpace space_;
  std::vector<ShapeFacts> facts_;
  MadeUpOutcome outcome_;
  std::vector<MadeUpRun> runs_;
};

}  // namespace inferometer::testing
