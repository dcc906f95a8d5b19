#include <vector>

#include "calibration/device/elementwise_calls.hpp"
#include "calibration/device/random_inputs.hpp"
#include "calibration/device/sampled_indices.hpp"
#include "kernels/sampling/argmax.hpp"
#include "kernels/sampling/top_p.hpp"

namespace inferometer {
namespace {

using kernels::ElementType;

constexpr double kSameToken = 0.5;

/// Rows of logits, and the token that is chosen of each.
class SamplingCall : public PreparedCall {
 public:
  /// A row's reference takes as long as recomputing it `reference_factor` times.
  SamplingCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed, float factor,
               double reference_factor)
      : memory_(context.memory),
        seed_(seed),
        reference_factor_(reference_factor),
        rows_(whole_axis(call, "tokens", 1)),
        vocab_(whole_axis(call, "width", 1)),
        fill_{.type = ElementType::fp32, .seed = seed_of_input(seed, 0), .factor = factor},
        logits_(memory_.take({rows_, vocab_}, ElementType::fp32)),
        tokens_(memory_.take_int32(rows_)) {}

  void fill() override {
    memory_.fill(logits_, fill_);
    constexpr std::int32_t kNoToken = -1;
    memory_.fill_int32(tokens_, rows_, kNoToken, 0);
  }

  void check(Comparison& comparison) override {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(rows_));
    memory_.read_bytes(tokens_, rows_ * static_cast<std::int64_t>(sizeof(std::int32_t)), tokens.data());
    for (const std::int32_t token : tokens) {
      if (token < 0 || token >= vocab_) {
        comparison.add_wrong("a row has a token that is not in the vocabulary");
      }
    }
    for (const std::int64_t row : compared_rows()) {
      std::vector<float> logits;
      for (std::int64_t i = row * vocab_; i < (row + 1) * vocab_; ++i) {
        logits.push_back(static_cast<float>(exact_element(fill_, i)));
      }
      check_row(row, logits, tokens[static_cast<std::size_t>(row)], comparison);
    }
  }

 protected:
  virtual void check_row(std::int64_t row, std::vector<float>& logits, std::int32_t token,
                         Comparison& comparison) = 0;

  [[nodiscard]] std::vector<std::int64_t> compared_rows() const {
    return sampled_indices(rows_, outputs_to_compare(reference_factor_ * static_cast<double>(vocab_)), seed_);
  }

  CallMemory memory_;
  std::uint64_t seed_;
  double reference_factor_;
  std::int64_t rows_, vocab_;
  kernels::RandomFill fill_;
  DeviceBuffer logits_;
  std::int32_t* tokens_;
};

class ArgmaxCall final : public SamplingCall {
 public:
  ArgmaxCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : SamplingCall(context, call, seed, 1, 2), shape_{.rows = rows_, .vocab = vocab_} {
    workspace_ = memory_.take_bytes(kernels::argmax_workspace_bytes(shape_));
  }

  std::string kernel() const override { return "argmax"; }

  void fill() override {
    SamplingCall::fill();
    memory_.zero(workspace_, kernels::argmax_workspace_bytes(shape_));
    // Random logits have 255 values, so that the largest stands near the beginning of each row. Those that
    // are compared get a larger one somewhere.
    for (const std::int64_t row : compared_rows()) {
      memory_.upload(static_cast<float*>(logits_.data) + row * vocab_ + largest_of(row), &kLargestLogit,
                     sizeof kLargestLogit);
    }
  }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::argmax(
        shape_,
        {.logits = static_cast<const float*>(logits_.data), .tokens = tokens_, .workspace = workspace_},
        stream);
  }

 private:
  static constexpr float kLargestLogit = 2;

  [[nodiscard]] std::int64_t largest_of(std::int64_t row) const {
    const std::uint64_t bits = kernels::random_bits(seed_of_input(seed_, 1), static_cast<std::uint64_t>(row));
    return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(vocab_));
  }

  void check_row(std::int64_t row, std::vector<float>& logits, std::int32_t token,
                 Comparison& comparison) override {
    logits[static_cast<std::size_t>(largest_of(row))] = kLargestLogit;
    comparison.add(row, token, kernels::argmax_reference(logits), kSameToken);
  }

  kernels::ArgmaxShape shape_;
  void* workspace_ = nullptr;
};

class TopPCall final : public SamplingCall {
 public:
  TopPCall(RunnerContext& context, const KernelCall& call, std::uint64_t seed)
      : SamplingCall(context, call, seed, kLogitFactor, kSortingFactor),
        shape_{.rows = rows_,
               .vocab = vocab_,
               .temperature = 1,
               .top_p = kTopP,
               .seed = seed_of_input(seed, 1)} {}

  std::string kernel() const override { return "top_p"; }

  kernels::LaunchResult launch(kernels::Stream stream) override {
    return kernels::top_p(shape_, {.logits = static_cast<const float*>(logits_.data), .tokens = tokens_},
                          stream);
  }

 private:
  // Logits within 16 of each other, of which 0.9 of all weight takes the highest 2.3: a seventh of the
  // tokens.
  static constexpr float kLogitFactor = 8;
  static constexpr float kTopP = 0.9F;
  static constexpr double kSortingFactor = 20;

  void check_row(std::int64_t row, std::vector<float>& logits, std::int32_t token,
                 Comparison& comparison) override {
    const double draw = kernels::uniform_draw(shape_.seed, static_cast<std::uint64_t>(row));
    const kernels::TopPChoice choice =
        kernels::top_p_reference(logits, shape_.temperature, shape_.top_p, draw);
    const bool is_decided = choice.margin > kernels::kTopPTolerance;
    comparison.add(row, token, is_decided ? choice.token : token, kSameToken);
  }

  kernels::TopPShape shape_;
};

}  // namespace

std::unique_ptr<PreparedCall> prepare_sampling(RunnerContext& context, const KernelCall& call,
                                               std::uint64_t seed) {
  if (call.variant == "argmax") {
    return std::make_unique<ArgmaxCall>(context, call, seed);
  }
  return std::make_unique<TopPCall>(context, call, seed);
}

}  // namespace inferometer
