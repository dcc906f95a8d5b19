#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "sim/kvcache/prefix_cache.hpp"

namespace inferometer {

/// Index of a live sequence in its replica's BatchState; reused after the sequence has left.
using SequenceId = std::int32_t;
inline constexpr SequenceId kNoSequence = -1;

/// A request on a replica, from enqueueing to its last token, or to the moment when another replica has its
/// KV. Fields marked (*) are exact while the sequence waits or prefills; while it decodes they hold their
/// values of the moment it joined the decode set, and BatchState derives the present ones, so that a decode
/// step touches no sequence.
struct Sequence {
  enum class State : std::uint8_t {
    waiting,
    prefilling,
    decoding,
    expected,     ///< its KV comes from another replica; waits for blocks
    loading,      ///< holds blocks, waits for KV from there or from host memory
    ready,        ///< holds KV, waits for a seat among those that run
    swapped,      ///< ran; its KV is in host memory, waits for blocks
    handed_over,  ///< its KV is held here until another replica has it
    gone,         ///< a vacant place
  };

  std::int64_t request_id = 0;
  std::int64_t session = -1;
  TimePoint arrival;
  TimePoint admitted;       ///< start of the first step that ran it; valid once it ran
  TimePoint first_token;    ///< valid once emitted > 0
  TimePoint last_emission;  ///< (*) valid once emitted > 0
  std::int64_t prompt = 0;
  std::int64_t output = 0;       ///< tokens it will emit; policies must not look at it
  std::int64_t max_new = 0;      ///< tokens the client allowed; what a policy may reserve for
  std::int64_t emitted = 0;      ///< (*)
  std::int64_t computed = 0;     ///< (*) tokens whose KV is cached
  std::int64_t held_blocks = 0;  ///< (*)
  std::int64_t join_step = 0;    ///< decode steps the replica had done when it joined the decode set
  std::int64_t order = 0;        ///< Expectation::order
  PrefixSources cached{};        ///< tokens found in the prefix cache when it was first admitted
  PrefixSources recached{};      ///< likewise, when it was admitted again
  PrefixSources before_load{};   ///< of the one that counts, before KV was brought from host memory
  std::int64_t rank = 0;         ///< BatchPolicy::queue_rank(): lower ones wait further ahead
  TimePoint prefill_end;         ///< of the replica that computed the prompt, where that was another one
  Duration handover{};           ///< from there to its KV being here
  std::int32_t priority = 0;     ///< Request::priority
  std::int32_t preemptions = 0;
  std::int32_t prefill_replica = -1;  ///< that other replica
  std::int32_t retries = 0;
  SequenceId previous = kNoSequence;  ///< in running order
  SequenceId next = kNoSequence;
  State state = State::waiting;
  bool was_admitted = false;
  bool prompt_only = false;       ///< hands its KV over at the end of its prefill
  bool first_token_here = false;  ///< of KV that comes from elsewhere: see Expectation
  bool pushes = false;            ///< likewise, and says so of each chunk
  bool grows = true;              ///< decoding takes new blocks (false: all were reserved at admission)
};

/// What is known of a request when it has emitted its last token.
struct FinishedRequest {
  std::int64_t id = 0;
  std::int64_t session = -1;
  TimePoint arrival, admitted, first_token, finished;
  std::int64_t prompt = 0;
  std::int64_t output = 0;
  std::int32_t preemptions = 0;
  std::int64_t max_new = 0;           ///< tokens the client allowed, cut to max_model_len
  std::int32_t replica = 0;           ///< that finished it
  std::int32_t prefill_replica = -1;  ///< that computed its prompt, when it was another one
  std::int32_t retries = 0;           ///< times it was begun anew, after failures
  Duration handover{};                ///< from the end of its prefill to its KV being there; 0 when it stayed
  TimePoint prefill_end{};            ///< valid when `prefill_replica` is
  std::int32_t priority = 0;
  PrefixSources cached{};    ///< tokens found in the prefix cache when it was first admitted
  PrefixSources recached{};  ///< likewise, when it was admitted again after preemptions
};

}  // namespace inferometer
