#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "calibration/device/not_prepared.hpp"
#include "calibration/device/prepared_call.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "kernels/attention/decode_attention.hpp"
#include "kernels/attention/paged_kv.hpp"
#include "kernels/common/divide_up.hpp"
#include "kernels/common/permutation.hpp"

namespace inferometer {
namespace {

using kernels::ElementType;

// Of an fp8 cache: powers of two, so that the reference has them exactly; not 1, so that a scale that is
// forgotten shows.
constexpr float kKeyScale = 2;
constexpr float kValueScale = 0.5F;

ElementType cache_type(const KernelCall& call) {
  if (call.variant == "bf16") {
    return ElementType::bf16;
  }
  if (call.variant == "fp8_kv") {
    return ElementType::fp8_e4m3;
  }
  throw NotPrepared(Prepared::Outcome::unsupported,
                    fmt::format("no {} kernel; decode attention runs bf16 and fp8_kv", call.variant));
}

/// Equal sequences whose blocks lie all over the cache.
class DecodeCall final : public PreparedCall {
 public:
  DecodeCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : memory_(context.memory), seed_(seed) {
    const std::int64_t longest = INT32_MAX - kernels::kPageTokens;
    const std::int64_t context_length = whole_axis(call, "context", 1);
    shape_ = {.batch = whole_axis(call, "batch", 1),
              .longest_context = context_length,
              .heads = whole_axis(call, "heads", 1),
              .kv_heads = whole_axis(call, "kv_heads", 1),
              .head_dim = whole_axis(call, "head_dim", 1),
              .window = whole_axis(call, "window", 0),
              .max_blocks = kernels::divide_up<std::int64_t>(context_length, kernels::kPageTokens),
              .query_type = ElementType::bf16,
              .kv_type = cache_type(call)};
    if (shape_.batch > longest || shape_.longest_context > longest ||
        shape_.batch * shape_.max_blocks > longest) {
      throw NotPrepared(Prepared::Outcome::unsupported,
                        "decode attention: at most 2^31 - 17 blocks in a cache");
    }
    std::size_t workspace_bytes = 0;
    require_launched(kernels::decode_attention_workspace(shape_, workspace_bytes));
    splits_ = kernels::decode_attention_plan(shape_, context.sm_count, context.shared_bytes_per_sm).splits;
    layout_ = {.kv_heads = shape_.kv_heads, .head_dim = shape_.head_dim};
    const bool is_small = shape_.kv_type == ElementType::fp8_e4m3;
    query_fill_ = {
        .type = ElementType::bf16, .seed = seed_of_input(seed, 0), .factor = kQueryFactor / key_scale()};
    key_fill_ = {.type = shape_.kv_type, .seed = seed_of_input(seed, 1), .factor = 1, .small = is_small};
    value_fill_ = {.type = shape_.kv_type, .seed = seed_of_input(seed, 2), .factor = 1, .small = is_small};
    query_ = memory_.take({shape_.batch, shape_.heads, shape_.head_dim}, ElementType::bf16);
    keys_ = memory_.take({blocks(), shape_.kv_heads, kernels::kPageTokens, shape_.head_dim}, shape_.kv_type);
    values_ = memory_.take({keys_.count}, shape_.kv_type);
    output_ = memory_.take({query_.count}, ElementType::bf16);
    block_table_ = memory_.take_int32(blocks());
    contexts_ = memory_.take_int32(shape_.batch);
    workspace_bytes_ = static_cast<std::int64_t>(workspace_bytes);
    workspace_ = memory_.take_bytes(workspace_bytes_);
  }

  std::string kernel() const override { return fmt::format("decode_attention_{}_splits", splits_); }

  void fill() override {
    memory_.fill(query_, query_fill_);
    memory_.fill(keys_, key_fill_);
    memory_.fill(values_, value_fill_);
    memory_.poison(output_);
    memory_.fill_permutation(block_table_, blocks(), table_seed());
    memory_.fill_int32(contexts_, shape_.batch, static_cast<std::int32_t>(shape_.longest_context), 0);
  }

  void refill() override { memory_.poison(output_); }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::decode_attention(shape_,
                                     {.query = query_.data,
                                      .keys = keys_.data,
                                      .values = values_.data,
                                      .block_table = block_table_,
                                      .contexts = contexts_,
                                      .key_scale = key_scale(),
                                      .value_scale = value_scale(),
                                      .workspace = workspace_,
                                      .workspace_bytes = static_cast<std::size_t>(workspace_bytes_),
                                      .output = output_.data},
                                     stream);
  }

  void check(Comparison& comparison) override {
    const std::int64_t rows = shape_.batch * shape_.heads;
    const double elements =
        2.0 * static_cast<double>((shape_.longest_context - first_key()) * shape_.head_dim);
    for (const std::int64_t row : sampled_indices(rows, outputs_to_compare(elements), seed_)) {
      check_row(row, comparison);
    }
    memory_.check_finite(output_, comparison);
  }

 private:
  [[nodiscard]] std::int64_t blocks() const { return shape_.batch * shape_.max_blocks; }
  /// The oldest that the window leaves in sight.
  [[nodiscard]] std::int64_t first_key() const {
    return shape_.window > 0 ? std::max<std::int64_t>(0, shape_.longest_context - shape_.window) : 0;
  }
  [[nodiscard]] std::uint64_t table_seed() const { return seed_of_input(seed_, 3); }
  [[nodiscard]] bool has_scales() const { return shape_.kv_type == ElementType::fp8_e4m3; }
  [[nodiscard]] float key_scale() const { return has_scales() ? kKeyScale : 1; }
  [[nodiscard]] float value_scale() const { return has_scales() ? kValueScale : 1; }
  void check_row(std::int64_t row, Comparison& comparison);

  CallMemory memory_;
  std::uint64_t seed_;
  kernels::DecodeAttentionShape shape_;
  kernels::PagedKvLayout layout_;
  kernels::RandomFill query_fill_, key_fill_, value_fill_;
  DeviceBuffer query_, keys_, values_, output_;
  std::int32_t* block_table_ = nullptr;
  std::int32_t* contexts_ = nullptr;
  void* workspace_ = nullptr;
  std::int64_t workspace_bytes_ = 0;
  int splits_ = 1;
};

/// `row`: sequence times heads, plus head.
void DecodeCall::check_row(std::int64_t row, Comparison& comparison) {
  const std::int64_t sequence = row / shape_.heads;
  const std::int64_t kv_head = row % shape_.heads / (shape_.heads / shape_.kv_heads);
  const std::int64_t first = row * shape_.head_dim;
  std::vector<std::int32_t> pages;  // the sequence's row of the block table
  for (std::int64_t page = 0; page < shape_.max_blocks; ++page) {
    const bool is_seen = (page + 1) * kernels::kPageTokens > first_key();
    pages.push_back(is_seen ? static_cast<std::int32_t>(kernels::permuted(
                                  table_seed(), sequence * shape_.max_blocks + page, blocks()))
                            : 0);
  }
  std::vector<double> query;
  for (std::int64_t column = 0; column < shape_.head_dim; ++column) {
    query.push_back(exact_element(query_fill_, first + column));
  }
  const auto element_of = [&](const kernels::RandomFill& fill, double scale) {
    return [this, &pages, &fill, kv_head, scale](std::int64_t position, std::int64_t column) {
      const kernels::PagedToken token = kernels::token_at(pages.data(), position);
      return scale * exact_element(fill, kernels::kv_element(layout_, token, kv_head, column));
    };
  };
  const std::vector<double> expected = kernels::decode_attention_reference(
      query, shape_.longest_context, shape_.window, element_of(key_fill_, static_cast<double>(key_scale())),
      element_of(value_fill_, static_cast<double>(value_scale())));
  const double largest_value =
      static_cast<double>(value_scale()) * (has_scales() ? kLargestSmallElement : kLargestElement);
  const std::vector<double> output = memory_.read(output_, first, shape_.head_dim);
  for (std::size_t column = 0; column < output.size(); ++column) {
    comparison.add(first + static_cast<std::int64_t>(column), output[column], expected[column],
                   kernels::kDecodeAttentionTolerance * largest_value);
  }
}

}  // namespace

std::unique_ptr<PreparedCall> prepare_decode_attention(RunnerContext& context, const KernelCall& call,
                                                       std::uint64_t seed) {
  return std::make_unique<DecodeCall>(context, call, seed);
}

}  // namespace inferometer
