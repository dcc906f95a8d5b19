#pragma once

#include <optional>
#include <vector>

#include "base/units.hpp"
#include "costmodel/step_shape.hpp"
#include "sim/batch/sequence.hpp"

namespace inferometer {

/// What a replica does in its next step, as a policy decides it and the replica carries it out, in this
/// order: rejections, preemptions, swaps, admissions, then prefill chunks and decodes take their blocks and
/// run. Decodes are named as a set, so that a plan costs what changes and not what runs.
struct StepPlan {
  struct Admission {
    SequenceId id = kNoSequence;
    /// Tokens to hold blocks for from the start, if more than the first chunk needs. A sequence that holds
    /// its whole length takes no more blocks later; otherwise this must not exceed the tokens it has when its
    /// prefill ends.
    std::int64_t reserve_tokens = 0;
    /// Of its first tokens, those whose KV is taken from the prefix cache: what ReplicaView::cached_prefix()
    /// said, or 0. Its chunks begin behind them; `reserve_tokens` includes them.
    std::int64_t cached_tokens = 0;
  };
  struct Chunk {
    SequenceId id = kNoSequence;
    std::int64_t tokens = 0;  ///< >= 1, at most what the sequence's prefill still lacks
  };
  /// Work that a padded batch does for nothing: priced, with no other effect.
  struct Padding {
    std::int64_t decodes = 0;       ///< finished sequences that still occupy the batch
    ContextTokens decode_context;   ///< tokens they attend to
    std::int64_t chunk_tokens = 0;  ///< price every chunk as if it were so long; 0: as it is
  };

  std::vector<SequenceId> rejected;   ///< waiting sequences that can never run
  std::vector<SequenceId> preempted;  ///< running; each loses its KV and waits again (BatchPolicy::requeue())
  /// Of those, in their order, decoding ones whose KV goes to host memory instead (ReplicaView::swap_room());
  /// they wait in ReplicaView::swapped().
  std::vector<SequenceId> swapped_out;
  /// The first ones of ReplicaView::swapped(), in its order. They take the blocks of all their tokens and the
  /// next, and decode in this step. Not in a plan that preempts.
  std::vector<SequenceId> swapped_in;
  std::vector<Admission> admitted;  ///< waiting; they run behind those that run, in this order
  /// Waiting; they take the blocks of `reserve_tokens` now and leave the queue until the KV of what is not
  /// cached of them has come from host memory. They then wait ahead of the others, with those tokens
  /// computed.
  std::vector<Admission> loads;
  std::vector<Chunk> chunks;  ///< of prefilling sequences, those admitted now included
  bool decode = false;        ///< every decoding sequence (left after preemptions) runs one token ...
  std::vector<SequenceId> decode_except;  ///< ... but these
  Padding padding;
  /// An empty plan may ask to be called again at this time even if nothing happens before.
  std::optional<TimePoint> wake_at;

  /// Keeps the storage.
  void clear() {
    rejected.clear();
    preempted.clear();
    swapped_out.clear();
    swapped_in.clear();
    admitted.clear();
    loads.clear();
    chunks.clear();
    decode = false;
    decode_except.clear();
    padding = {};
    wake_at.reset();
  }
};

}  // namespace inferometer
