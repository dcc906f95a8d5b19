#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "calibration/device/elementwise_calls.hpp"
#include "calibration/device/not_prepared.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "kernels/elementwise/embedding.hpp"
#include "kernels/elementwise/silu_mul.hpp"

namespace inferometer {
namespace {

using kernels::ElementType;

std::vector<std::int64_t> compared_tokens(std::int64_t tokens, std::int64_t width, std::uint64_t seed) {
  constexpr double kFactor = 4;  // two inputs and their function, and the output read back
  return sampled_indices(tokens, outputs_to_compare(kFactor * static_cast<double>(width)), seed);
}

class EmbeddingCall final : public PreparedCall {
 public:
  EmbeddingCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : memory_(context.memory), seed_(seed) {
    shape_ = {.tokens = whole_axis(call, "tokens", 1), .width = whole_axis(call, "width", 1)};
    fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 0)};
    table_ = memory_.take({kEmbeddingRows, shape_.width}, ElementType::bf16);
    output_ = memory_.take({shape_.tokens, shape_.width}, ElementType::bf16);
    ids_ = memory_.take_int32(shape_.tokens);
  }

  std::string kernel() const override { return "embedding"; }

  void fill() override {
    memory_.fill(table_, fill_);
    memory_.poison(output_);
    std::vector<std::int32_t> ids;
    for (std::int64_t token = 0; token < shape_.tokens; ++token) {
      ids.push_back(static_cast<std::int32_t>(id_of(token)));
    }
    memory_.upload(ids_, ids.data(), shape_.tokens * static_cast<std::int64_t>(sizeof(std::int32_t)));
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::embedding(shape_, {.ids = ids_, .table = table_.data, .output = output_.data}, stream);
  }

  void check(Comparison& comparison) override {
    for (const std::int64_t token : compared_tokens(shape_.tokens, shape_.width, seed_)) {
      const std::int64_t first = token * shape_.width;
      const std::vector<double> output = memory_.read(output_, first, shape_.width);
      for (std::int64_t column = 0; column < shape_.width; ++column) {
        comparison.add(first + column, output[static_cast<std::size_t>(column)],
                       exact_element(fill_, id_of(token) * shape_.width + column), kTinyError);
      }
    }
    memory_.check_finite(output_, comparison);
  }

 private:
  [[nodiscard]] std::int64_t id_of(std::int64_t token) const {
    const std::uint64_t bits =
        kernels::random_bits(seed_of_input(seed_, 1), static_cast<std::uint64_t>(token));
    return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(kEmbeddingRows));
  }

  CallMemory memory_;
  std::uint64_t seed_;
  kernels::EmbeddingShape shape_;
  kernels::RandomFill fill_;
  DeviceBuffer table_, output_;
  std::int32_t* ids_ = nullptr;
};

class SiluMulCall final : public PreparedCall {
 public:
  SiluMulCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : memory_(context.memory), seed_(seed) {
    shape_ = {.tokens = whole_axis(call, "tokens", 1), .ffn = whole_axis(call, "width", 1)};
    constexpr float kGateFactor = 4;  // where silu is neither linear nor 0
    fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 0), .factor = kGateFactor};
    input_ = memory_.take({2, shape_.tokens, shape_.ffn}, ElementType::bf16);
    output_ = memory_.take({shape_.tokens, shape_.ffn}, ElementType::bf16);
  }

  std::string kernel() const override { return "silu_mul"; }

  void fill() override {
    memory_.fill(input_, fill_);
    memory_.poison(output_);
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::silu_mul(shape_, {.input = input_.data, .output = output_.data}, stream);
  }

  void check(Comparison& comparison) override {
    for (const std::int64_t token : compared_tokens(shape_.tokens, shape_.ffn, seed_)) {
      const std::int64_t first = token * shape_.ffn;
      const std::vector<double> output = memory_.read(output_, first, shape_.ffn);
      for (std::int64_t column = 0; column < shape_.ffn; ++column) {
        const std::int64_t gate = 2 * first + column;
        const double expected =
            kernels::silu_mul_reference(exact_element(fill_, gate), exact_element(fill_, gate + shape_.ffn));
        comparison.add(first + column, output[static_cast<std::size_t>(column)], expected,
                       kernels::kSiluMulTolerance * std::fabs(expected) + kTinyError);
      }
    }
    memory_.check_finite(output_, comparison);
  }

 private:
  CallMemory memory_;
  std::uint64_t seed_;
  kernels::SiluMulShape shape_;
  kernels::RandomFill fill_;
  DeviceBuffer input_, output_;
};

}  // namespace

std::unique_ptr<PreparedCall> prepare_embedding(RunnerContext& context, const KernelCall& call,
                                                std::uint64_t seed) {
  return std::make_unique<EmbeddingCall>(context, call, seed);
}

std::unique_ptr<PreparedCall> prepare_silu_mul(RunnerContext& context, const KernelCall& call,
                                               std::uint64_t seed) {
  return std::make_unique<SiluMulCall>(context, call, seed);
}

std::unique_ptr<PreparedCall> prepare_elementwise(RunnerContext& context, const KernelCall& call,
                                                  std::uint64_t seed) {
  using Prepare = std::unique_ptr<PreparedCall> (*)(RunnerContext&, const KernelCall&, std::uint64_t);
  struct Variant {
    std::string_view name;
    Prepare prepare;
  };
  constexpr Variant kVariants[] = {
      {"embedding", prepare_embedding}, {"norm", prepare_norm},         {"add_norm", prepare_norm},
      {"rope", prepare_rope},           {"silu_mul", prepare_silu_mul}, {"argmax", prepare_sampling},
      {"top_p", prepare_sampling},      {"kv_copy", prepare_kv_copy},   {"copy", prepare_copy}};
  for (const Variant& variant : kVariants) {
    if (variant.name == call.variant) {
      return variant.prepare(context, call, seed);
    }
  }
  throw NotPrepared(Prepared::Outcome::unsupported, fmt::format("no {} kernel", call.variant));
}

}  // namespace inferometer
