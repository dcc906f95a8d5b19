#pragma once

// How many tokens to draft for each sequence of a step: as many as bring most work for the time of the step,
// by an estimate of how often drafts are right. Goodput, as SmartSpec has it (Liu et al., Optimizing
// Speculative Decoding for Serving Large Language Models Using Goodput, 2024), with prompts beside decodes.
// Who uses it: replicas with engine.speculation.adaptive.

#include <cstdint>

#include "costmodel/step_pricer.hpp"
#include "costmodel/step_shape.hpp"

namespace inferometer {

/// A step that is about to be planned, as far as anybody knows it by then.
struct DraftingStep {
  std::int64_t decodes = 0;        ///< sequences that decode, >= 1
  ContextTokens context;           ///< that they attend to
  std::int64_t prompt_tokens = 0;  ///< left to run of prompts that may run beside them
  std::int64_t most_tokens = 0;    ///< of the step: what decodes leave of it prompts may take
};

/// The number of drafts k from 0 to `most` with the highest goodput when each draft is right with probability
/// `acceptance` (0 to 1) after others that were; of equally good ones the fewest. Goodput is the time in
/// which the work of the step would be done without drafts, over the time that the step takes: (1 - a^(k+1))
/// / (1 - a) times a decode step of one token each, and what the prompts of the step take beside one. Without
/// prompts that is SmartSpec's tokens a second, over those of no drafts. Prompts count as one chunk from the
/// first token on. O(most) prices.
std::int64_t best_drafts(const StepPricer& pricer, const DraftingStep& step, double acceptance,
                         std::int64_t most);

}  // namespace inferometer
