#include "costmodel/attention_rank.hpp"

#include "base/units.hpp"

namespace inferometer {

AttentionRank::AttentionRank(const StepShape& step, std::int64_t ranks)
    : ranks_(ranks), all_decodes_(step.decodes), shape_(step) {
  if (ranks == 1) {
    return;
  }
  shape_.decodes = ceil_div(step.decodes, ranks);
  if (step.decodes > 0) {
    shape_.decode_context = ceil_div(step.decode_context * shape_.decodes, step.decodes);
    shape_.decode_window_context = ceil_div(step.decode_window_context * shape_.decodes, step.decodes);
  }
  shape_.sampled_rows = ceil_div(step.sampled_rows, ranks);
  for (const ChunkShape& chunk : step.chunks) {
    const std::int64_t tokens = ceil_div(chunk.tokens, ranks);
    chunks_.push_back({tokens, chunk.past + ceil_div(chunk.tokens - tokens, 2)});
  }
  shape_.chunks = chunks_;
}

ContextTokens AttentionRank::growth(const ContextTokens& of_step) const {
  if (ranks_ == 1 || all_decodes_ == 0) {
    return of_step;
  }
  return {of_step.full * shape_.decodes / all_decodes_, of_step.windowed * shape_.decodes / all_decodes_};
}

bool AttentionRank::is_straight(const ContextTokens& of_step) const {
  if (ranks_ == 1) {
    return true;
  }
  return chunks_.empty() && (all_decodes_ == 0 || (of_step.full * shape_.decodes % all_decodes_ == 0 &&
                                                   of_step.windowed * shape_.decodes % all_decodes_ == 0));
}

}  // namespace inferometer
