#pragma once

// A second, independent simulator of one replica, to compare the real one with. Written from the published
// scheduling loops in the plainest way: a list of what waits, a list of what runs, every sequence with its
// own counters, every step walking all of them. No aggregates, no events, no shortcuts; O(running) a step.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {

/// Of policy sglang.
struct PlainSgLangKeys {
  std::int64_t chunk_size = 0;  ///< chunked_prefill_size
  std::int64_t max_prefill_tokens = 0;
  std::int64_t first_ratio = 0;  ///< new-token ratio, in billionths: 0.7 times schedule_conservativeness
  bool mixed_chunk = false;
  bool spare_page = true;
};

/// The engine's numbers and those of its policy, with the names of the engine keys.
struct PlainEngine {
  EngineSetup setup;        ///< `keys` is not looked at
  std::int64_t budget = 0;  ///< max_num_batched_tokens or chunk_size
  std::int64_t long_prefill_threshold = 0;
  bool chunked = true;
  bool full_isl = true;
  bool caches_prefixes = false;
  std::int64_t watermark_blocks = 0;
  bool reserve_model_len = false;
  bool reserve_max_new = false;  ///< what a request may emit is set aside, or the whole model's length
  Duration wait_window{};
  bool static_padding = true;
  PlainSgLangKeys sglang{};
};

struct PlainOutcome {
  std::vector<FinishedRequest> finished;       ///< by request number
  std::map<std::int64_t, TimePoint> rejected;  ///< request number -> when
  std::vector<StepLog::Step> steps;
  std::int64_t swapped_out = 0;
};

/// Runs the workload to its end.
PlainOutcome run_plainly(const PlainEngine& engine, Workload& workload);

}  // namespace inferometer::testing
