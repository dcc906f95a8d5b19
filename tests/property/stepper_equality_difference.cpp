#include <algorithm>
#include <optional>
#include <utility>

#include "tests/property/stepper_equality_run.hpp"

namespace inferometer::testing {
namespace {

void append(std::string& text, const char* name, std::int64_t value) {
  text += std::string(" ") + name + " " + std::to_string(value);
}

std::string compare_steps(const SeenRun& got, const SeenRun& expected) {
  for (std::size_t i = 0; i < std::min(got.steps.size(), expected.steps.size()); ++i) {
    if (got.steps[i] != expected.steps[i]) {
      return "step " + std::to_string(i) + "\n got" + to_text(got.steps[i]) + "\n not" +
             to_text(expected.steps[i]);
    }
  }
  return got.steps.size() == expected.steps.size() ? "" : "number of steps";
}

bool same(const FinishedRequest& a, const FinishedRequest& b) {
  return a.id == b.id && a.session == b.session && a.arrival == b.arrival && a.admitted == b.admitted &&
         a.first_token == b.first_token && a.finished == b.finished && a.prompt == b.prompt &&
         a.output == b.output && a.preemptions == b.preemptions && a.max_new == b.max_new &&
         a.cached == b.cached && a.recached == b.recached;
}

std::string compare_requests(const SeenRun& got, const SeenRun& expected) {
  if (got.finished.size() != expected.finished.size() || got.rejected.size() != expected.rejected.size()) {
    return "number of requests finished or rejected";
  }
  for (std::size_t i = 0; i < got.finished.size(); ++i) {
    if (!same(got.finished[i], expected.finished[i])) {
      return "finished request number " + std::to_string(i);
    }
  }
  for (std::size_t i = 0; i < got.rejected.size(); ++i) {
    const RejectedRequest& a = got.rejected[i];
    const RejectedRequest& b = expected.rejected[i];
    if (a.id != b.id || a.arrival != b.arrival || a.rejected != b.rejected || a.prompt != b.prompt) {
      return "rejected request number " + std::to_string(i);
    }
  }
  return got.arrivals == expected.arrivals ? "" : "arrivals";
}

bool same(const PhaseTotals& a, const PhaseTotals& b) {
  const bool same_work =
      a.work.has_value() == b.work.has_value() &&
      (!a.work || (a.work->flops() == b.work->flops() && a.work->hbm_bytes() == b.work->hbm_bytes()));
  return same_work && a.steps == b.steps && a.cost.sum() == b.cost.sum() &&
         a.prefill_tokens == b.prefill_tokens && a.decode_tokens == b.decode_tokens;
}

bool same(const LevelTotals& a, const LevelTotals& b) {
  return a.integral == b.integral && a.peak == b.peak;
}

bool same(const ArrivalTotals& a, const ArrivalTotals& b) {
  return a.count == b.count && a.first == b.first && a.last == b.last && a.squared_gaps == b.squared_gaps &&
         a.in_system.kept() == b.in_system.kept() && a.in_system.stride() == b.in_system.stride() &&
         a.waiting_at_last == b.waiting_at_last;
}

bool same(const std::optional<DurationStatistics>& a, const std::optional<DurationStatistics>& b) {
  if (!a || !b) {
    return a.has_value() == b.has_value();
  }
  return a->count == b->count && a->mean_ms == b->mean_ms && a->std_ms == b->std_ms &&
         a->min_ms == b->min_ms && a->max_ms == b->max_ms && a->median_ms == b->median_ms &&
         a->p50_ms == b->p50_ms && a->p90_ms == b->p90_ms && a->p95_ms == b->p95_ms && a->p99_ms == b->p99_ms;
}

bool same(const FinishTotals& a, const FinishTotals& b) {
  return a.count == b.count && a.prompt_tokens == b.prompt_tokens && a.output_tokens == b.output_tokens &&
         a.good == b.good && a.last == b.last &&
         std::equal(a.lengths.kept().begin(), a.lengths.kept().end(), b.lengths.kept().begin(),
                    b.lengths.kept().end());
}

bool same(const std::vector<RejectionCount>& a, const std::vector<RejectionCount>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const RejectionCount& x, const RejectionCount& y) {
                      return x.reason == y.reason && x.requests == y.requests;
                    });
}

std::string compare_totals(const RunTotals& a, const RunTotals& b) {
  const PoolTotals& steps_a = a.pools.front();
  const PoolTotals& steps_b = b.pools.front();
  const std::vector<std::pair<const char*, bool>> parts = {
      {"prefill steps", same(steps_a.phases[0], steps_b.phases[0])},
      {"decode steps", same(steps_a.phases[1], steps_b.phases[1])},
      {"mixed steps", same(steps_a.phases[2], steps_b.phases[2])},
      {"held blocks", same(steps_a.held_blocks, steps_b.held_blocks)},
      {"decodes", same(steps_a.decodes, steps_b.decodes)},
      {"drafted", steps_a.drafted == steps_b.drafted},
      {"running", same(steps_a.running, steps_b.running)},
      {"arrivals", same(a.arrivals, b.arrivals)},
      {"most waiting", a.max_waiting() == b.max_waiting()},
      {"preemptions", a.preemptions() == b.preemptions()},
      {"in the system", a.in_system == b.in_system},
      {"stays", a.stays == b.stays},
      {"most in the system", a.max_in_system == b.max_in_system},
      {"finished", same(a.finished, b.finished)},
      {"rejections", same(a.rejections, b.rejections)},
      {"last event", a.last_event == b.last_event},
      {"waiting", a.waiting_integral() == b.waiting_integral()},
  };
  for (const auto& [name, is_same] : parts) {
    if (!is_same) {
      return std::string("totals: ") + name;
    }
  }
  return "";
}

bool same(const DurationDistribution& a, const DurationDistribution& b) {
  return a.count() == b.count() && a.sum() == b.sum() &&
         same(a.statistics(PercentileRule::linear), b.statistics(PercentileRule::linear)) &&
         same(a.statistics(PercentileRule::floor_of_rank), b.statistics(PercentileRule::floor_of_rank));
}

std::string compare_recorders(const MetricsRecorder& a, const MetricsRecorder& b) {
  if (!same(a.gaps(), b.gaps())) {
    return "gaps";
  }
  const bool same_latencies = same(a.latencies().ttft, b.latencies().ttft) &&
                              same(a.latencies().tpot, b.latencies().tpot) &&
                              same(a.latencies().e2el, b.latencies().e2el) &&
                              same(a.latencies().queue_delay, b.latencies().queue_delay);
  if (a.max_emitted_per_second() != b.max_emitted_per_second()) {
    return "most emitted in a second";
  }
  return same_latencies ? compare_totals(a.totals(), b.totals()) : "latencies";
}

std::int64_t steps_of(const StepCounts& counts) {
  return counts.in_stretches + counts.single();
}

std::string compare_ends(const SeenRun& got, const SeenRun& expected) {
  const Census& a = got.census;
  const Census& b = expected.census;
  const bool same_census = a.injected == b.injected && a.completed == b.completed && a.running == b.running &&
                           a.waiting == b.waiting && a.rejected == b.rejected;
  if (!same_census) {
    return "census";
  }
  if (got.offload != expected.offload) {
    return "what went to host memory and back";
  }
  return steps_of(got.counts) == steps_of(expected.counts) ? "" : "counts of steps";
}

}  // namespace

std::string to_text(const SeenStep& step) {
  std::string text;
  append(text, "start", step.start.since_start().count());
  append(text, "end", step.end.since_start().count());
  append(text, "compute", step.cost.compute.count());
  append(text, "bandwidth", step.cost.bandwidth.count());
  append(text, "latency", step.cost.latency.count());
  append(text, "communication", step.cost.communication.count());
  append(text, "host", step.cost.host.count());
  append(text, "bubble", step.cost.bubble.count());
  append(text, "shape.decodes", step.shape_decodes);
  append(text, "context", step.decode_context);
  append(text, "context in windows", step.decode_window_context);
  append(text, "rows", step.sampled_rows);
  append(text, "prefill", step.prefill_tokens);
  append(text, "decodes", step.decodes);
  append(text, "emitted", step.emitted);
  append(text, "running", step.running);
  append(text, "preempted", step.preempted);
  append(text, "held", step.held_blocks);
  append(text, "positions of a decode", step.queries);
  append(text, "accepted", step.accepted);
  for (const std::int64_t value : step.chunks) {
    append(text, "chunk", value);
  }
  for (const std::int64_t value : step.gaps) {
    append(text, "gap", value);
  }
  return text;
}

std::string first_difference(const SeenRun& got, const SeenRun& expected) {
  for (const std::string& difference :
       {compare_steps(got, expected), compare_requests(got, expected),
        compare_recorders(got.recorder, expected.recorder), compare_recorders(got.sketch, expected.sketch),
        compare_ends(got, expected)}) {
    if (!difference.empty()) {
      return difference;
    }
  }
  return "";
}

}  // namespace inferometer::testing
