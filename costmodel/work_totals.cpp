#include "costmodel/work_totals.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/int128.hpp"
#include "base/triangular.hpp"
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

WorkTotals::WorkTotals(const ModelSpec& model, std::int64_t tensor_parallel) : window_(model.sliding_window) {
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
  const Operator query = decode_attention(model, tensor_parallel, 1, 0, false);
  const Operator key = decode_attention(model, tensor_parallel, 0, 1, false);
  flops_per_pair_ = whole_flops({&key, 1});
  bytes_per_key_ = hbm({&key, 1});
  bytes_per_query_ = hbm({&query, 1});
}

void WorkTotals::add(const StepShape& shape, std::int64_t steps, std::int64_t context_growth) {
  const std::int64_t grown = context_growth * triangular(steps);
  steps_ += steps;
  sampling_steps_ += shape.sampled_rows > 0 ? steps : 0;
  tokens_ += shape.tokens() * steps;
  rows_ += shape.sampled_rows * steps;
  pairs_ += shape.decode_pairs() * steps + grown * shape.queries;
  keys_ += shape.decode_keys() * steps + grown;
  for (ChunkShape chunk : shape.chunks) {
    for (std::int64_t step = 0; step < steps; ++step) {
      pairs_ += attention_pairs(chunk, window_);
      keys_ += attention_keys(chunk, window_);
      chunk.past += chunk.tokens;
    }
  }
}

StepWork WorkTotals::of_step(const StepShape& shape) const {
  const std::int64_t tokens = shape.tokens();
  std::int64_t pairs = shape.decode_pairs();
  std::int64_t keys = shape.decode_keys();
  for (const ChunkShape& chunk : shape.chunks) {
    pairs += attention_pairs(chunk, window_);
    keys += attention_keys(chunk, window_);
  }
  StepWork work{token_flops_.once + Int128{token_flops_.per_unit} * tokens + Int128{flops_per_pair_} * pairs,
                token_bytes_.once + Int128{token_bytes_.per_unit + bytes_per_query_} * tokens +
                    Int128{bytes_per_key_} * keys};
  if (shape.sampled_rows > 0) {
    work.flops += row_flops_.once + Int128{row_flops_.per_unit} * shape.sampled_rows;
    work.hbm_bytes += row_bytes_.once + Int128{row_bytes_.per_unit} * shape.sampled_rows;
  }
  return work;
}

Flops WorkTotals::flops() const {
  const Int128 sum = Int128{token_flops_.once} * steps_ + Int128{token_flops_.per_unit} * tokens_ +
                     Int128{row_flops_.once} * sampling_steps_ + Int128{row_flops_.per_unit} * rows_ +
                     Int128{flops_per_pair_} * pairs_;
  return Flops(static_cast<double>(sum));
}

Int128 WorkTotals::hbm_bytes_sum() const {
  return Int128{token_bytes_.once} * steps_ + Int128{token_bytes_.per_unit} * tokens_ +
         Int128{row_bytes_.once} * sampling_steps_ + Int128{row_bytes_.per_unit} * rows_ +
         Int128{bytes_per_key_} * keys_ + Int128{bytes_per_query_} * tokens_;
}

Bytes WorkTotals::hbm_bytes() const {
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max();
  return Bytes(static_cast<std::int64_t>(std::min(hbm_bytes_sum(), kMost)));
}

double WorkTotals::hbm_bytes_unbounded() const {
  return static_cast<double>(hbm_bytes_sum());
}

}  // namespace inferometer
