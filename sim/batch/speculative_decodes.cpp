// Decodes that draft. What each accepts is its own matter, so that a step touches every sequence; their
// blocks are counted one by one, too, since rejected tokens leave blocks held that the next step needs.

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "sim/batch/batch_state.hpp"

namespace inferometer {

void BatchState::speculate(const SpeculationRule& rule, std::int64_t max_model_len) {
  INFEROMETER_CHECK(rule.tokens >= 1 && rule.tokens <= kMostDrafts &&
                        rule.acceptance.size() == static_cast<std::size_t>(rule.tokens),
                    "each drafted token has its acceptance");
  INFEROMETER_CHECK(running_count() == 0, "speculation is decided before anything runs");
  Drafting drafting;
  drafting.rule = rule;
  drafting.max_model_len = max_model_len;
  drafting_ = std::move(drafting);
}

std::int64_t BatchState::blocks_with_lookahead(std::int64_t tokens) const {
  return store_->pool.blocks_for(
      drafting_ ? std::min(tokens + drafting_->rule.lookahead, drafting_->max_model_len) : tokens);
}

std::int64_t BatchState::draft_blocks_needed(SequenceId id) const {
  const std::int64_t slots = blocks_with_lookahead(computed(id) + 1 + drafting_->drafts);
  return std::max<std::int64_t>(0, slots - sequence(id).held_blocks);
}

std::int64_t BatchState::blocks_needed(SequenceId id) const {
  return drafting_ ? draft_blocks_needed(id) : static_cast<std::int64_t>(decodes_.needs_block(sequence(id)));
}

void BatchState::prepare_drafts(std::int64_t drafts) {
  INFEROMETER_CHECK(drafts >= 0 && drafts <= drafting_->rule.tokens,
                    "no more is drafted than slots are kept for");
  drafting_->drafts = drafts;
  drafting_->blocks_needed = 0;
  for (SequenceId id = head_; id != kNoSequence; id = sequence(id).next) {
    if (sequence(id).state == Sequence::State::decoding) {
      drafting_->blocks_needed += draft_blocks_needed(id);
    }
  }
}

void BatchState::take_draft_blocks() {
  INFEROMETER_CHECK(suspended_ == 0, "all decoding sequences draft");
  std::int64_t taken = 0;
  for (SequenceId id = head_; id != kNoSequence; id = sequence(id).next) {
    const bool is_preempted = sequence(id).held_blocks == 0;
    if (sequence(id).state == Sequence::State::decoding && !is_preempted) {
      const std::int64_t needed = draft_blocks_needed(id);
      at(id).held_blocks += needed;
      taken += needed;
    }
  }
  store_->pool.take(BlockCount(taken));
}

DraftCounts BatchState::accept_drafts() {
  DraftCounts counts;
  if (!drafting_) {
    return counts;
  }
  if (drafts() == 0) {
    drafting_->estimate.add(counts, 0);
    return counts;
  }
  for (SequenceId id = head_; id != kNoSequence; id = sequence(id).next) {
    Sequence& s = at(id);
    if (s.state != Sequence::State::decoding) {
      continue;
    }
    const std::int64_t now_emitted = emitted(id);
    const std::int64_t accepted =
        accepted_drafts(drafting_->rule, s.request_id, now_emitted - 1, drafting_->drafts);
    const std::int64_t comes_out = std::min(accepted, s.output - now_emitted);
    if (comes_out > 0) {
      decodes_.emit_more(s, id, comes_out);
    }
    ++counts.drafts;
    counts.accepted_tokens += accepted;
    counts.emitted_tokens += comes_out;
    for (std::int64_t position = 0; position < accepted; ++position) {
      ++counts.accepted_by_position[static_cast<std::size_t>(position)];
    }
  }
  counts.draft_tokens = counts.drafts * drafting_->drafts;
  counts.most_tokens = drafting_->drafts;
  drafting_->estimate.add(counts, drafting_->drafts);
  store_->tokens += counts.emitted_tokens;
  return counts;
}

}  // namespace inferometer
