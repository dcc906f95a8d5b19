#include <cmath>
#include <vector>

#include "calibration/device/elementwise_calls.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "kernels/elementwise/rms_norm.hpp"

namespace inferometer {
namespace {

using kernels::ElementType;

class NormCall final : public PreparedCall {
 public:
  NormCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : memory_(context.memory), seed_(seed) {
    shape_ = {.tokens = whole_axis(call, "tokens", 1),
              .width = whole_axis(call, "width", 1),
              .adds_residual = call.variant == "add_norm"};
    input_fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 0)};
    weight_fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 1)};
    residual_fill_ = {.type = ElementType::bf16, .seed = seed_of_input(seed, 2)};
    input_ = memory_.take({shape_.tokens, shape_.width}, ElementType::bf16);
    weight_ = memory_.take({shape_.width}, ElementType::bf16);
    output_ = memory_.take({input_.count}, ElementType::bf16);
    if (shape_.adds_residual) {
      residual_ = memory_.take({input_.count}, ElementType::bf16);
    }
  }

  std::string kernel() const override { return shape_.adds_residual ? "add_rms_norm" : "rms_norm"; }

  void fill() override {
    memory_.fill(input_, input_fill_);
    memory_.fill(weight_, weight_fill_);
    memory_.poison(output_);
    if (shape_.adds_residual) {
      memory_.fill(residual_, residual_fill_);
    }
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::rms_norm(
        shape_,
        {.input = input_.data, .residual = residual_.data, .weight = weight_.data, .output = output_.data},
        stream);
  }

  void check(Comparison& comparison) override {
    std::vector<double> weights;
    for (std::int64_t column = 0; column < shape_.width; ++column) {
      weights.push_back(exact_element(weight_fill_, column));
    }
    constexpr double kFactor = 4;  // inputs and outputs, of the norm and of the residual stream
    for (const std::int64_t token : sampled_indices(
             shape_.tokens, outputs_to_compare(kFactor * static_cast<double>(shape_.width)), seed_)) {
      check_token(token, weights, comparison);
    }
    memory_.check_finite(output_, comparison);
    if (shape_.adds_residual) {
      memory_.check_finite(residual_, comparison);
    }
  }

 private:
  void check_token(std::int64_t token, const std::vector<double>& weights, Comparison& comparison) {
    const std::int64_t first = token * shape_.width;
    std::vector<double> x;
    for (std::int64_t i = first; i < first + shape_.width; ++i) {
      x.push_back(exact_element(input_fill_, i) +
                  (shape_.adds_residual ? exact_element(residual_fill_, i) : 0));
    }
    const std::vector<double> expected = kernels::rms_norm_reference(x, weights);
    const std::vector<double> output = memory_.read(output_, first, shape_.width);
    for (std::size_t column = 0; column < output.size(); ++column) {
      comparison.add(first + static_cast<std::int64_t>(column), output[column], expected[column],
                     kernels::kRmsNormTolerance * std::fabs(expected[column]) + kTinyError);
    }
    if (!shape_.adds_residual) {
      return;
    }
    constexpr double kHalfStepOfBf16 = 0x1p-8;
    const std::vector<double> residual = memory_.read(residual_, first, shape_.width);
    for (std::size_t column = 0; column < residual.size(); ++column) {
      comparison.add(first + static_cast<std::int64_t>(column), residual[column], x[column],
                     kHalfStepOfBf16 * std::fabs(x[column]) + kTinyError);
    }
  }

  CallMemory memory_;
  std::uint64_t seed_;
  kernels::RmsNormShape shape_;
  kernels::RandomFill input_fill_, weight_fill_, residual_fill_;
  DeviceBuffer input_, weight_, output_, residual_;
};

}  // namespace

std::unique_ptr<PreparedCall> prepare_norm(RunnerContext& context, const KernelCall& call,
                                           std::uint64_t seed) {
  return std::make_unique<NormCall>(context, call, seed);
}

}  // namespace inferometer
