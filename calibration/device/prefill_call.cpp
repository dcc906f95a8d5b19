#include "calibration/device/prefill_call.hpp"

#include <vector>

#include <fmt/format.h>

#include "calibration/device/not_prepared.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "kernels/attention/prefill_attention.hpp"

namespace inferometer {

using kernels::ElementType;

PrefillCall::PrefillCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
    : memory_(context.memory),
      shape_{.batch = whole_axis(call, "batch", 1),
             .tokens = whole_axis(call, "tokens", 1),
             .past = whole_axis(call, "past", 0),
             .heads = whole_axis(call, "heads", 1),
             .kv_heads = whole_axis(call, "kv_heads", 1),
             .head_dim = whole_axis(call, "head_dim", 1),
             .window = whole_axis(call, "window", 0)},
      seed_(seed) {
  if (shape_.batch * shape_.keys() > INT32_MAX) {
    throw NotPrepared(Prepared::Outcome::unsupported, "prefill attention: at most 2^31 - 1 keys in a batch");
  }
  query_fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 0), .factor = kQueryFactor};
  key_fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 1)};
  value_fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 2)};
  query_ = memory_.take({shape_.batch * shape_.tokens, shape_.heads, shape_.head_dim}, ElementType::bf16);
  keys_ = memory_.take({shape_.batch * shape_.keys(), shape_.kv_heads, shape_.head_dim}, ElementType::bf16);
  values_ = memory_.take({keys_.count}, ElementType::bf16);
  output_ = memory_.take({query_.count}, ElementType::bf16);
}

void PrefillCall::fill() {
  memory_.fill(query_, query_fill_);
  memory_.fill(keys_, key_fill_);
  memory_.fill(values_, value_fill_);
  memory_.poison(output_);
}

void PrefillCall::refill() {
  memory_.poison(output_);
}

void PrefillCall::check(Comparison& comparison) {
  const std::int64_t rows = shape_.batch * shape_.tokens * shape_.heads;
  const std::int64_t seen = shape_.is_limited() ? shape_.window : shape_.keys();
  const double elements = 2.0 * static_cast<double>(seen * shape_.head_dim);
  for (const std::int64_t row : sampled_indices(rows, outputs_to_compare(elements), seed_)) {
    check_row(row, comparison);
  }
  memory_.check_finite(output_, comparison);
}

void PrefillCall::check_row(std::int64_t row, Comparison& comparison) {
  const std::int64_t token = row / shape_.heads;
  const std::int64_t kv_head = row % shape_.heads / (shape_.heads / shape_.kv_heads);
  const std::int64_t kv_width = shape_.kv_heads * shape_.head_dim;
  const std::int64_t first = row * shape_.head_dim;
  const std::int64_t first_key = token / shape_.tokens * shape_.keys() * kv_width + kv_head * shape_.head_dim;
  std::vector<double> query;
  for (std::int64_t column = 0; column < shape_.head_dim; ++column) {
    query.push_back(exact_element(query_fill_, first + column));
  }
  const auto element_of = [&](const kernels::RandomFill& fill) {
    return [&fill, first_key, kv_width](std::int64_t position, std::size_t column) {
      return exact_element(fill, first_key + position * kv_width + static_cast<std::int64_t>(column));
    };
  };
  const std::vector<double> expected =
      kernels::prefill_attention_reference(query, shape_.past + token % shape_.tokens, shape_.window,
                                           element_of(key_fill_), element_of(value_fill_));
  const std::vector<double> output = memory_.read(output_, first, shape_.head_dim);
  for (std::size_t column = 0; column < output.size(); ++column) {
    comparison.add(first + static_cast<std::int64_t>(column), output[column], expected[column],
                   kernels::kPrefillAttentionTolerance * kLargestElement);
  }
}

void require_bf16_prefill(const KernelCall& call) {
  if (call.variant != "bf16") {
    throw NotPrepared(Prepared::Outcome::unsupported,
                      fmt::format("no {} kernel; prefill attention runs bf16", call.variant));
  }
}

}  // namespace inferometer
