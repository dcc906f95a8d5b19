#pragma once

// One run of a random deployment with either stepper, watched in all that users can see, and for the fast
// stepper in what ended each stretch.

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/metrics/recorder.hpp"
#include "tests/support/random_deployment.hpp"

namespace inferometer::testing {

/// A step as visit_steps() shows it.
struct SeenStep {
  TimePoint start, end;
  StepCost cost;
  std::int64_t shape_decodes = 0, decode_context = 0, decode_window_context = 0, sampled_rows = 0;
  std::vector<std::int64_t> chunks;  ///< tokens and past of each
  std::int64_t decodes = 0, prefill_tokens = 0, emitted = 0, running = 0, preempted = 0, held_blocks = 0;
  std::int64_t queries = 0, accepted = 0;
  std::vector<std::int64_t> gaps;  ///< length and number of each, ascending, no length twice
  bool operator==(const SeenStep&) const = default;
};

/// Of a record of one step.
SeenStep seen_step(const StepRecord& step);
/// All of it, for failure messages.
std::string to_text(const SeenStep& step);

/// What can keep a stretch from being one step longer.
enum class Limit : std::size_t {
  finish,          ///< a sequence emits its last token
  prefill,         ///< the next chunk would be the last of its prompt
  blocks,          ///< the next step would take more KV blocks than are free
  window,          ///< a decoding sequence's attention window is full
  roof,            ///< attention passes to the other roof
  host,            ///< the host is hidden behind the GPU from here on
  chunk_window,    ///< a chunk reaches the attention window
  promise,         ///< the policy promised no more
  arrival,         ///< a request came during the last step
  arrival_at_end,  ///< a request came at the very end of the last step
  host_load,       ///< KV came back from host memory during the last step or at its end
};
inline constexpr std::size_t kLimits = 11;

struct SeenStretch {
  TimePoint start, end;
  TimePoint too_early;   ///< whoever came by then would have ended it earlier
  TimePoint last_heard;  ///< whoever came after that did not end it
  std::int64_t steps = 0;
  bool has_chunks = false, has_decodes = false;
  bool ends_on_arrival = false;
  std::array<bool, kLimits> limits{};
};

struct SeenRun {
  std::vector<SeenStep> steps;
  std::vector<FinishedRequest> finished;
  std::vector<RejectedRequest> rejected;
  MetricsRecorder recorder, sketch;  ///< the second with percentiles off a histogram
  Census census;
  StepCounts counts;
  KvOffloadCounts offload;
  std::vector<TimePoint> arrivals;
  std::vector<SeenStretch> stretches;
  std::string broken;  ///< the first invariant that did not hold; empty when all did
};

SeenRun run_seen(const RandomDeployment& deployment, Stepper stepper);

/// Where two runs differ first; empty when they do not.
std::string first_difference(const SeenRun& got, const SeenRun& expected);

}  // namespace inferometer::testing
