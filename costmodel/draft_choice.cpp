#include "costmodel/draft_choice.hpp"

#include <algorithm>
#include <array>

namespace inferometer {
namespace {

/// In picoseconds.
double price(const StepPricer& pricer, const DraftingStep& step, std::int64_t drafts,
             std::int64_t prompt_tokens) {
  const std::array<ChunkShape, 1> chunk = {{{prompt_tokens, 0}}};
  StepShape shape;
  shape.decodes = step.decodes;
  shape.add_context(step.context);
  shape.queries = drafts + 1;
  shape.sampled_rows = shape.decode_tokens();
  if (prompt_tokens > 0) {
    shape.chunks = chunk;
    ++shape.sampled_rows;
  }
  return static_cast<double>(pricer.price(shape).total().count());
}

}  // namespace

std::int64_t best_drafts(const StepPricer& pricer, const DraftingStep& step, double acceptance,
                         std::int64_t most) {
  const double decodes_alone = price(pricer, step, 0, 0);
  std::int64_t best = 0;
  double best_goodput = 0;
  double tokens = 0;  // that a sequence emits, on average
  double all_right = 1;
  std::int64_t beside = -1;  // prompt tokens that `with_prompts` is the price of
  double with_prompts = 0;
  for (std::int64_t drafts = 0; drafts <= most; ++drafts) {
    tokens += all_right;
    all_right *= acceptance;
    const std::int64_t room = std::max<std::int64_t>(0, step.most_tokens - step.decodes * (drafts + 1));
    const std::int64_t prompt_tokens = std::min(step.prompt_tokens, room);
    if (prompt_tokens != beside) {
      beside = prompt_tokens;
      with_prompts = prompt_tokens == 0 ? decodes_alone : price(pricer, step, 0, prompt_tokens);
    }
    const double work = tokens * decodes_alone + (with_prompts - decodes_alone);
    const double goodput = work / price(pricer, step, drafts, prompt_tokens);
    if (goodput > best_goodput) {
      best = drafts;
      best_goodput = goodput;
    }
  }
  return best;
}

}  // namespace inferometer
