#pragma once

// Speculative decoding as an engine's steps see it: how many tokens are drafted, and which are accepted. Who
// uses it: BatchState, and the replica, which counts.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace inferometer {

/// Most tokens drafted for a sequence in one step. Beyond it nobody gains: at an acceptance of 0.9 the last
/// of sixteen is accepted in one step of five.
inline constexpr std::int64_t kMostDrafts = 16;

struct SpeculationRule {
  static constexpr std::int64_t kAnyBatch = std::numeric_limits<std::int64_t>::max();

  std::int64_t tokens = 1;  ///< drafted for each decoding sequence in each step [k]; 1 to kMostDrafts
  /// Each step drafts as many of them as bring most work for its time (costmodel/draft_choice.hpp), or none.
  bool adaptive = false;
  std::int64_t lookahead =
      0;  ///< KV slots that are kept beyond those of the step, in which the drafter writes
  /// The drafter needs the hidden states of the last cached block, which nobody keeps: of a cached prefix
  /// that block is computed again (vLLM, v1/core/kv_cache_manager.py, use_eagle).
  bool recomputes_last_hit = false;
  /// While more sequences decode, nothing is drafted.
  std::int64_t most_sequences = kAnyBatch;
  /// Probability that the draft at each position is accepted, given that those before it are; one for each of
  /// `tokens`, 0 to 1.
  std::vector<double> acceptance;
  /// Requests differ: what is added to all acceptances of one is uniform between minus and plus this.
  /// Preconditions: no acceptance leaves 0 to 1.
  double spread = 0;
  std::uint64_t seed = 0;
};

/// How many of `drafts` drafted tokens a request has accepted in the step that starts when it has emitted so
/// many: a function of rule, request and that number alone, so that it does not matter who asks when, and a
/// step that is run again comes out the same. Precondition: drafts <= rule.tokens. O(accepted).
std::int64_t accepted_drafts(const SpeculationRule& rule, std::int64_t request, std::int64_t emitted,
                             std::int64_t drafts);

/// What came of drafting, in one step or in many. Names as in vLLM's metrics (v1/spec_decode/metrics.py).
struct DraftCounts {
  std::int64_t drafts = 0;  ///< times that tokens were drafted for a sequence
  std::int64_t draft_tokens = 0;
  std::int64_t most_tokens = 0;      ///< drafted at a time
  std::int64_t accepted_tokens = 0;  ///< those beyond the end of an output included, as vLLM counts
  std::int64_t emitted_tokens = 0;   ///< accepted ones that came out
  /// Accepted tokens by their position among the drafted ones.
  std::array<std::int64_t, static_cast<std::size_t>(kMostDrafts)> accepted_by_position{};

  void add(const DraftCounts& other);
  friend bool operator==(const DraftCounts&, const DraftCounts&) = default;
};

}  // namespace inferometer
