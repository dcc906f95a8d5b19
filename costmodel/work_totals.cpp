#include "costmodel/work_totals.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/int128.hpp"
#include "costmodel/operators.hpp"

namespace inferometer {
namespace {

std::int64_t whole_flops(std::span<const Operator> operators) {
  return static_cast<std::int64_t>(total_flops(operators).count());
}

std::int64_t hbm(std::span<const Operator> operators) {
  return total_hbm_bytes(operators).count();
}

}  // namespace

WorkTotals::WorkTotals(const ModelSpec& model, std::int64_t tensor_parallel)
    : attention_(model, tensor_parallel) {
  // Operators are linear in their counts: two points of each give the line.
  const auto line = [](std::int64_t one, std::int64_t two) { return Linear{2 * one - two, two - one}; };
  const std::vector<Operator> one_token = token_operators(model, tensor_parallel, 1);
  const std::vector<Operator> two_tokens = token_operators(model, tensor_parallel, 2);
  const std::vector<Operator> one_row = row_operators(model, tensor_parallel, 1);
  const std::vector<Operator> two_rows = row_operators(model, tensor_parallel, 2);
  token_flops_ = line(whole_flops(one_token), whole_flops(two_tokens));
  row_flops_ = line(whole_flops(one_row), whole_flops(two_rows));
  token_bytes_ = line(hbm(one_token), hbm(two_tokens));
  row_bytes_ = line(hbm(one_row), hbm(two_rows));
}

void WorkTotals::add(const StepShape& shape, std::int64_t steps, const ContextTokens& context_growth) {
  steps_ += steps;
  sampling_steps_ += shape.sampled_rows > 0 ? steps : 0;
  tokens_ += shape.tokens() * steps;
  rows_ += shape.sampled_rows * steps;
  attention_.add(shape, steps, context_growth, attended_);
}

StepWork WorkTotals::of_step(const StepShape& shape) const {
  const std::int64_t tokens = shape.tokens();
  AttentionWork::Counts attended;
  attention_.add(shape, 1, {}, attended);
  StepWork work = attention_.of(attended);
  work += {token_flops_.once + Int128{token_flops_.per_unit} * tokens,
           token_bytes_.once + Int128{token_bytes_.per_unit} * tokens};
  if (shape.sampled_rows > 0) {
    work.flops += row_flops_.once + Int128{row_flops_.per_unit} * shape.sampled_rows;
    work.hbm_bytes += row_bytes_.once + Int128{row_bytes_.per_unit} * shape.sampled_rows;
  }
  return work;
}

Flops WorkTotals::flops() const {
  const Int128 sum = Int128{token_flops_.once} * steps_ + Int128{token_flops_.per_unit} * tokens_ +
                     Int128{row_flops_.once} * sampling_steps_ + Int128{row_flops_.per_unit} * rows_ +
                     attention_.of(attended_).flops;
  return Flops(static_cast<double>(sum));
}

Int128 WorkTotals::hbm_bytes_sum() const {
  return Int128{token_bytes_.once} * steps_ + Int128{token_bytes_.per_unit} * tokens_ +
         Int128{row_bytes_.once} * sampling_steps_ + Int128{row_bytes_.per_unit} * rows_ +
         attention_.of(attended_).hbm_bytes;
}

Bytes WorkTotals::hbm_bytes() const {
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max();
  return Bytes(static_cast<std::int64_t>(std::min(hbm_bytes_sum(), kMost)));
}

double WorkTotals::hbm_bytes_unbounded() const {
  return static_cast<double>(hbm_bytes_sum());
}

}  // namespace inferometer
