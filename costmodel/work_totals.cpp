#include "costmodel/work_totals.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/int128.hpp"
#include "costmodel/feed_forward.hpp"
#include "costmodel/operators.hpp"

namespace inferometer {
namespace {

std::int64_t whole_flops(std::span<const Operator> operators) {
  return static_cast<std::int64_t>(total_flops(operators).count());
}

std::int64_t hbm(std::span<const Operator> operators) {
  return total_hbm_bytes(operators).count();
}

/// Steps of more tokens are rare, and looked up when they come.
constexpr std::int64_t kTabledTokens = 2048;

std::vector<Operator> but_experts(std::vector<Operator> operators) {
  std::erase_if(operators, [](const Operator& part) { return part.family == OperatorFamily::experts; });
  return operators;
}

StepWork experts_of(const ModelSpec& model, const ModelSplit& split, std::int64_t tokens) {
  const Operator experts = routed_experts(model, split, tokens);
  return {whole_flops({&experts, 1}), hbm({&experts, 1})};
}

}  // namespace

WorkTotals::WorkTotals(const ModelSpec& model, const ModelSplit& split)
    : model_(model), split_(split), attention_(model, split.tensor) {
  // Operators but the routed experts are linear in their counts: two points of each give the line. A token of
  // the line is one on every rank.
  const auto line = [](std::int64_t one, std::int64_t two) { return Linear{2 * one - two, two - one}; };
  const std::int64_t ranks = split.attention_data;
  const std::vector<Operator> one_token = but_experts(token_operators(model, split, ranks));
  const std::vector<Operator> two_tokens = but_experts(token_operators(model, split, 2 * ranks));
  const std::vector<Operator> one_row = row_operators(model, split, ranks);
  const std::vector<Operator> two_rows = row_operators(model, split, 2 * ranks);
  token_flops_ = line(whole_flops(one_token), whole_flops(two_tokens));
  row_flops_ = line(whole_flops(one_row), whole_flops(two_rows));
  token_bytes_ = line(hbm(one_token), hbm(two_tokens));
  row_bytes_ = line(hbm(one_row), hbm(two_rows));
  if (model.moe_layers() > 0) {
    std::vector<StepWork> by_tokens(1);
    for (std::int64_t tokens = 1; tokens <= kTabledTokens; ++tokens) {
      by_tokens.push_back(experts_of(model, split, tokens));
    }
    experts_ = std::make_shared<const std::vector<StepWork>>(std::move(by_tokens));
  }
}

StepWork WorkTotals::experts(std::int64_t tokens) const {
  if (experts_ == nullptr || tokens == 0) {
    return {};
  }
  const auto index = static_cast<std::size_t>(tokens);
  return index < experts_->size() ? (*experts_)[index] : experts_of(model_, split_, tokens);
}

void WorkTotals::add(const StepShape& shape, std::int64_t steps, const ContextTokens& context_growth) {
  steps_ += steps;
  sampling_steps_ += shape.sampled_rows > 0 ? steps : 0;
  tokens_ += shape.tokens() * steps;
  rows_ += shape.sampled_rows * steps;
  attention_.add(shape, steps, context_growth, attended_);
  const StepWork one_step = experts(shape.tokens());
  experts_sum_ += {one_step.flops * steps, one_step.hbm_bytes * steps};
}

StepWork WorkTotals::of_step(const StepShape& shape) const {
  AttentionWork::Counts attended;
  attention_.add(shape, 1, {}, attended);
  StepWork per_token = attention_.of(attended);
  per_token +=
      {Int128{token_flops_.per_unit} * shape.tokens() + Int128{row_flops_.per_unit} * shape.sampled_rows,
       Int128{token_bytes_.per_unit} * shape.tokens() + Int128{row_bytes_.per_unit} * shape.sampled_rows};
  const bool has_rows = shape.sampled_rows > 0;
  StepWork work = experts(shape.tokens());
  work +=
      {token_flops_.once + (has_rows ? row_flops_.once : 0) + per_token.flops / split_.attention_data,
       token_bytes_.once + (has_rows ? row_bytes_.once : 0) + per_token.hbm_bytes / split_.attention_data};
  return work;
}

Flops WorkTotals::flops() const {
  const Int128 per_token = Int128{token_flops_.per_unit} * tokens_ + Int128{row_flops_.per_unit} * rows_ +
                           attention_.of(attended_).flops;
  const Int128 sum = Int128{token_flops_.once} * steps_ + Int128{row_flops_.once} * sampling_steps_ +
                     per_token / split_.attention_data + experts_sum_.flops;
  return Flops(static_cast<double>(sum));
}

Int128 WorkTotals::hbm_bytes_sum() const {
  const Int128 per_token = Int128{token_bytes_.per_unit} * tokens_ + Int128{row_bytes_.per_unit} * rows_ +
                           attention_.of(attended_).hbm_bytes;
  return Int128{token_bytes_.once} * steps_ + Int128{row_bytes_.once} * sampling_steps_ +
         per_token / split_.attention_data + experts_sum_.hbm_bytes;
}

Bytes WorkTotals::hbm_bytes() const {
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max();
  return Bytes(static_cast<std::int64_t>(std::min(hbm_bytes_sum(), kMost)));
}

double WorkTotals::hbm_bytes_unbounded() const {
  return static_cast<double>(hbm_bytes_sum());
}

}  // namespace inferometer
