#include <vector>

#include "calibration/device/elementwise_calls.hpp"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "kernels/attention/paged_kv.hpp"
#include "kernels/common/permutation.hpp"
#include "kernels/copy/device_copy.hpp"
#include "kernels/copy/kv_block_copy.hpp"

namespace inferometer {
namespace {

using kernels::ElementType;

// Elements of a copied piece that are compared.
constexpr std::int64_t kComparedElements = 64;

/// Blocks of the lower half of a pool, copied to those of the upper half, both in random order.
class KvCopyCall final : public PreparedCall {
 public:
  KvCopyCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : memory_(context.memory), seed_(seed) {
    const std::int64_t tokens = whole_axis(call, "tokens", kernels::kPageTokens);
    if (tokens % kernels::kPageTokens != 0) {
      throw NotPrepared(Prepared::Outcome::unsupported, "kv_copy: whole blocks of 16 tokens");
    }
    blocks_ = tokens / kernels::kPageTokens;
    block_elements_ = kernels::kPageTokens * whole_axis(call, "width", 1);
    fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 0)};
    source_ = memory_.take({blocks_, block_elements_}, ElementType::bf16);
    target_ = memory_.take({source_.count}, ElementType::bf16);
    from_ = memory_.take_int32(blocks_);
    to_ = memory_.take_int32(blocks_);
  }

  std::string kernel() const override { return "kv_block_copy"; }

  void fill() override {
    memory_.fill(source_, fill_);
    memory_.poison(target_);
    memory_.fill_permutation(from_, blocks_, seed_of_input(seed_, 1));
    memory_.fill_permutation(to_, blocks_, seed_of_input(seed_, 2));
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::kv_block_copy(
        {.count = blocks_, .block_bytes = block_elements_ * kernels::bytes_of(ElementType::bf16)},
        {.source = source_.data, .target = target_.data, .from = from_, .to = to_}, stream);
  }

  void check(Comparison& comparison) override {
    for (const std::int64_t i :
         sampled_indices(blocks_, outputs_to_compare(static_cast<double>(block_elements_)), seed_)) {
      const std::int64_t from = kernels::permuted(seed_of_input(seed_, 1), i, blocks_) * block_elements_;
      const std::int64_t to = kernels::permuted(seed_of_input(seed_, 2), i, blocks_) * block_elements_;
      const std::vector<double> copied = memory_.read(target_, to, block_elements_);
      for (const std::int64_t element : sampled_indices(block_elements_, kComparedElements, seed_)) {
        comparison.add(to + element, copied[static_cast<std::size_t>(element)],
                       exact_element(fill_, from + element), kTinyError);
      }
    }
    memory_.check_finite(target_, comparison);
  }

 private:
  CallMemory memory_;
  std::uint64_t seed_;
  std::int64_t blocks_ = 0;
  std::int64_t block_elements_ = 0;  // of keys and values together
  kernels::RandomFill fill_;
  DeviceBuffer source_, target_;
  std::int32_t* from_ = nullptr;
  std::int32_t* to_ = nullptr;
};

class CopyCall final : public PreparedCall {
 public:
  CopyCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : memory_(context.memory), seed_(seed) {
    const std::int64_t tokens = whole_axis(call, "tokens", 1);
    const std::int64_t width = whole_axis(call, "width", 1);
    fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 0)};
    source_ = memory_.take({tokens, width}, ElementType::bf16);
    target_ = memory_.take({tokens, width}, ElementType::bf16);
  }

  std::string kernel() const override { return "device_copy"; }

  void fill() override {
    memory_.fill(source_, fill_);
    memory_.poison(target_);
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::device_copy(target_.data, source_.data, source_.bytes(), stream);
  }

  void check(Comparison& comparison) override {
    for (const std::int64_t element : sampled_indices(target_.count, kComparedElements, seed_)) {
      comparison.add(element, memory_.read(target_, element, 1).front(), exact_element(fill_, element),
                     kTinyError);
    }
    memory_.check_finite(target_, comparison);
  }

 private:
  CallMemory memory_;
  std::uint64_t seed_;
  kernels::RandomFill fill_;
  DeviceBuffer source_, target_;
};

}  // namespace

std::unique_ptr<PreparedCall> prepare_kv_copy(RunnerContext& context, const KernelCall& call,
                                              std::uint64_t seed) {
  return std::make_unique<KvCopyCall>(context, call, seed);
}

std::unique_ptr<PreparedCall> prepare_copy(RunnerContext& context, const KernelCall& call,
                                           std::uint64_t seed) {
  return std::make_unique<CopyCall>(context, call, seed);
}

}  // namespace inferometer
