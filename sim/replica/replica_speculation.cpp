// How many tokens are drafted in the next step.

#include "costmodel/draft_choice.hpp"
#include "sim/replica/replica.hpp"

namespace inferometer {

std::int64_t Replica::tokens_to_draft() const {
  const SpeculationRule& rule = *config_.speculation;
  const DecodeSet& decodes = state_.decodes();
  if (decodes.count() > rule.most_sequences) {
    return 0;
  }
  if (!rule.adaptive || decodes.count() == 0) {
    return rule.tokens;
  }
  const DraftingStep step{.decodes = decodes.count(),
                          .context = decodes.context(),
                          .prompt_tokens = prompt_tokens_ahead(),
                          .most_tokens = config_.step_tokens};
  return best_drafts(*pricer_, step, state_.acceptance(), rule.tokens);
}

// The policy has not been asked yet. Those that prefill go on; the queue is taken to move when its head finds
// a seat and blocks.
std::int64_t Replica::prompt_tokens_ahead() const {
  const std::deque<SequenceId>& queue = state_.waiting();
  const BlockPool& blocks = state_.blocks();
  const bool queue_moves = !queue.empty() && state_.running_count() < config_.max_num_seqs &&
                           blocks.blocks_for(state_.tokens(queue.front())) <= blocks.free().count();
  if (queue_moves) {
    return state_.store().prefill_left;
  }
  std::int64_t tokens = 0;
  for (const SequenceId id : state_.prefilling()) {
    tokens += state_.tokens(id) - state_.computed(id);
  }
  return tokens;
}

}  // namespace inferometer
