#include <vector>

#include <fmt/format.h>

#include "calibration/device/not_prepared.hpp"
#include "calibration/device/prepared_call.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "kernels/attention/prefill_attention.hpp"

namespace inferometer {
namespace {

using kernels::ElementType;

/// Equal sequences: each of `tokens` new tokens over `past` cached ones.
class PrefillCall final : public PreparedCall {
 public:
  PrefillCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : memory_(context.memory), seed_(seed), compute_capability_(context.compute_capability) {
    tokens_ = whole_axis(call, "tokens", 1);
    past_ = whole_axis(call, "past", 0);
    const std::int64_t batch = whole_axis(call, "batch", 1);
    shape_ = {.batch = batch,
              .max_tokens = tokens_,
              .total_tokens = batch * tokens_,
              .total_keys = batch * (past_ + tokens_),
              .heads = whole_axis(call, "heads", 1),
              .kv_heads = whole_axis(call, "kv_heads", 1),
              .head_dim = whole_axis(call, "head_dim", 1),
              .window = whole_axis(call, "window", 0),
              .element = ElementType::bf16};
    if (shape_.total_keys > INT32_MAX) {
      throw NotPrepared(Prepared::Outcome::unsupported,
                        "prefill attention: at most 2^31 - 1 keys in a batch");
    }
    query_fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 0), .factor = kQueryFactor};
    key_fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 1)};
    value_fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 2)};
    query_ = memory_.take({shape_.total_tokens, shape_.heads, shape_.head_dim}, ElementType::bf16);
    keys_ = memory_.take({shape_.total_keys, shape_.kv_heads, shape_.head_dim}, ElementType::bf16);
    values_ = memory_.take({keys_.count}, ElementType::bf16);
    output_ = memory_.take({query_.count}, ElementType::bf16);
    query_offsets_ = memory_.take_int32(batch + 1);
    key_offsets_ = memory_.take_int32(batch + 1);
  }

  std::string kernel() const override {
    return fmt::format("prefill_attention_sm{}", compute_capability_ == 90 ? 90 : 80);
  }

  void fill() override {
    memory_.fill(query_, query_fill_);
    memory_.fill(keys_, key_fill_);
    memory_.fill(values_, value_fill_);
    memory_.poison(output_);
    memory_.fill_int32(query_offsets_, shape_.batch + 1, 0, static_cast<std::int32_t>(tokens_));
    memory_.fill_int32(key_offsets_, shape_.batch + 1, 0, static_cast<std::int32_t>(past_ + tokens_));
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::prefill_attention(shape_,
                                      {.query = query_.data,
                                       .keys = keys_.data,
                                       .values = values_.data,
                                       .output = output_.data,
                                       .query_offsets = query_offsets_,
                                       .key_offsets = key_offsets_},
                                      stream);
  }

  void check(Comparison& comparison) override {
    const std::int64_t rows = shape_.total_tokens * shape_.heads;
    const double elements = 2.0 * static_cast<double>((past_ + tokens_) * shape_.head_dim);
    for (const std::int64_t row : sampled_indices(rows, outputs_to_compare(elements), seed_)) {
      check_row(row, comparison);
    }
    memory_.check_finite(output_, comparison);
  }

 private:
  [[nodiscard]] std::int64_t query_width() const { return shape_.heads * shape_.head_dim; }
  [[nodiscard]] std::int64_t kv_width() const { return shape_.kv_heads * shape_.head_dim; }

  /// `row`: new token of the batch times heads, plus head.
  void check_row(std::int64_t row, Comparison& comparison) {
    const std::int64_t token = row / shape_.heads;
    const std::int64_t kv_head = row % shape_.heads / (shape_.heads / shape_.kv_heads);
    const std::int64_t sequence = token / tokens_;
    const std::int64_t first = row * shape_.head_dim;
    const std::int64_t first_key = sequence * (past_ + tokens_) * kv_width() + kv_head * shape_.head_dim;
    std::vector<double> query;
    for (std::int64_t column = 0; column < shape_.head_dim; ++column) {
      query.push_back(exact_element(query_fill_, first + column));
    }
    const auto element_of = [&](const kernels::RandomFill& fill) {
      return [this, &fill, first_key](std::int64_t position, std::size_t column) {
        return exact_element(fill, first_key + position * kv_width() + static_cast<std::int64_t>(column));
      };
    };
    const std::vector<double> expected = kernels::prefill_attention_reference(
        query, past_ + token % tokens_, shape_.window, element_of(key_fill_), element_of(value_fill_));
    const std::vector<double> output = memory_.read(output_, first, shape_.head_dim);
    for (std::size_t column = 0; column < output.size(); ++column) {
      comparison.add(first + static_cast<std::int64_t>(column), output[column], expected[column],
                     kernels::kPrefillAttentionTolerance * kLargestElement);
    }
  }

  CallMemory memory_;
  std::uint64_t seed_;
  int compute_capability_;
  std::int64_t tokens_ = 0, past_ = 0;  // of each sequence
  kernels::PrefillAttentionShape shape_;
  kernels::RandomFill query_fill_, key_fill_, value_fill_;
  DeviceBuffer query_, keys_, values_, output_;
  std::int32_t* query_offsets_ = nullptr;
  std::int32_t* key_offsets_ = nullptr;
};

}  // namespace

std::unique_ptr<PreparedCall> prepare_prefill_attention(RunnerContext& context, const KernelCall& call,
                                                        std::uint64_t seed) {
  if (call.variant != "bf16") {
    throw NotPrepared(Prepared::Outcome::unsupported,
                      fmt::format("no {} kernel; prefill attention runs bf16", call.variant));
  }
  return std::make_unique<PrefillCall>(context, call, seed);
}

}  // namespace inferometer
