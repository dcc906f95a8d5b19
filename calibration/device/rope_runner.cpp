#include <algorithm>
#include <cmath>
#include <vector>

#include "calibration/device/elementwise_calls.hpp"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "kernels/common/divide_up.hpp"
#include "kernels/common/permutation.hpp"
#include "kernels/elementwise/rope_kv_write.hpp"

namespace inferometer {
namespace {

using kernels::ElementType;

constexpr std::int64_t kHeadDim = 128;
constexpr std::int64_t kHeadsOfKvHead = 4;
constexpr std::int64_t kComparedHeads = 3;  // of a token: first, last, one between

class RopeCall final : public PreparedCall {
 public:
  RopeCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : memory_(context.memory), seed_(seed) {
    const std::int64_t width = whole_axis(call, "width", 2 * kHeadDim);
    if (width % kHeadDim != 0) {
      throw NotPrepared(Prepared::Outcome::unsupported,
                        "rope: the width is a multiple of 128, the width of a head");
    }
    const std::int64_t all_heads = width / kHeadDim;
    shape_.tokens = whole_axis(call, "tokens", 1);
    shape_.kv_heads = std::max<std::int64_t>(1, all_heads / (kHeadsOfKvHead + 1));
    shape_.heads = all_heads - shape_.kv_heads;
    shape_.head_dim = kHeadDim;
    blocks_ = kernels::divide_up<std::int64_t>(shape_.tokens, kernels::kRopeBlockTokens);
    fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 0)};
    qkv_ = memory_.take({shape_.tokens, qkv_heads(), kHeadDim}, ElementType::bf16);
    query_ = memory_.take({shape_.tokens, shape_.heads, kHeadDim}, ElementType::bf16);
    keys_ = memory_.take({blocks_, kernels::kRopeBlockTokens, shape_.kv_heads, kHeadDim}, ElementType::bf16);
    values_ = memory_.take({keys_.count}, ElementType::bf16);
    positions_ = memory_.take_int32(shape_.tokens);
    slots_ = memory_.take_int32(shape_.tokens);
  }

  std::string kernel() const override { return "rope_kv_write"; }

  void fill() override {
    memory_.fill(qkv_, fill_);
    memory_.poison(query_);
    memory_.poison(keys_);
    memory_.poison(values_);
    memory_.fill_int32(positions_, shape_.tokens, 0, 1);
    std::vector<std::int32_t> slots;
    for (std::int64_t token = 0; token < shape_.tokens; ++token) {
      const bool is_next = token % kernels::kRopeBlockTokens != 0;
      slots.push_back(is_next ? slots.back() + 1 : static_cast<std::int32_t>(slot_of_token(token)));
    }
    memory_.upload(slots_, slots.data(), shape_.tokens * static_cast<std::int64_t>(sizeof(std::int32_t)));
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::rope_kv_write(shape_,
                                  {.qkv = qkv_.data,
                                   .positions = positions_,
                                   .slots = slots_,
                                   .query = query_.data,
                                   .key_cache = keys_.data,
                                   .value_cache = values_.data},
                                  stream);
  }

  void check(Comparison& comparison) override {
    for (const std::int64_t token : sampled_indices(shape_.tokens, kMostOutputs, seed_)) {
      for (const std::int64_t head : sampled_indices(shape_.heads, kComparedHeads, seed_)) {
        const std::int64_t first = (token * shape_.heads + head) * kHeadDim;
        compare_turned(token, head, query_, first, comparison);
      }
      for (const std::int64_t kv_head : sampled_indices(shape_.kv_heads, kComparedHeads, seed_)) {
        const std::int64_t first =
            kernels::kv_cache_element(slot_of_token(token), kv_head, 0, shape_.kv_heads, kHeadDim);
        compare_turned(token, shape_.heads + kv_head, keys_, first, comparison);
        const std::vector<double> expected = head_of(token, shape_.heads + shape_.kv_heads + kv_head);
        const std::vector<double> value = memory_.read(values_, first, kHeadDim);
        for (std::size_t i = 0; i < value.size(); ++i) {
          comparison.add(first + static_cast<std::int64_t>(i), value[i], expected[i], kTinyError);
        }
      }
    }
    memory_.check_finite(query_, comparison);
    const std::int64_t left_alone =
        (blocks_ * kernels::kRopeBlockTokens - shape_.tokens) * shape_.kv_heads * kHeadDim;
    memory_.check_finite(keys_, comparison, left_alone);
    memory_.check_finite(values_, comparison, left_alone);
  }

 private:
  [[nodiscard]] std::int64_t qkv_heads() const { return shape_.heads + 2 * shape_.kv_heads; }

  /// Whole blocks, as a prefill fills them, all over the cache.
  [[nodiscard]] std::int64_t slot_of_token(std::int64_t token) const {
    const std::int64_t block =
        kernels::permuted(seed_of_input(seed_, 1), token / kernels::kRopeBlockTokens, blocks_);
    return block * kernels::kRopeBlockTokens + token % kernels::kRopeBlockTokens;
  }

  [[nodiscard]] std::vector<double> head_of(std::int64_t token, std::int64_t head) const {
    const std::int64_t first = (token * qkv_heads() + head) * kHeadDim;
    std::vector<double> elements;
    for (std::int64_t i = first; i < first + kHeadDim; ++i) {
      elements.push_back(exact_element(fill_, i));
    }
    return elements;
  }

  void compare_turned(std::int64_t token, std::int64_t head, const DeviceBuffer& buffer, std::int64_t first,
                      Comparison& comparison) {
    const std::vector<double> before = head_of(token, head);
    const std::vector<double> expected = kernels::rope_reference(before, token, shape_.theta);
    const std::vector<double> turned = memory_.read(buffer, first, kHeadDim);
    const std::size_t half = before.size() / 2;
    for (std::size_t i = 0; i < turned.size(); ++i) {
      const double larger = std::max(std::fabs(before[i % half]), std::fabs(before[i % half + half]));
      comparison.add(first + static_cast<std::int64_t>(i), turned[i], expected[i],
                     kernels::kRopeTolerance * larger + kTinyError);
    }
  }

  CallMemory memory_;
  std::uint64_t seed_;
  kernels::RopeKvWriteShape shape_;
  std::int64_t blocks_ = 0;
  kernels::RandomFill fill_;
  DeviceBuffer qkv_, query_, keys_, values_;
  std::int32_t* positions_ = nullptr;
  std::int32_t* slots_ = nullptr;
};

}  // namespace

std::unique_ptr<PreparedCall> prepare_rope(RunnerContext& context, const KernelCall& call,
                                           std::uint64_t seed) {
  return std::make_unique<RopeCall>(context, call, seed);
}

}  // namespace inferometer
