#include "sim/scheduler/new_token_ratio.hpp"

#include <algorithm>

#include "base/int128.hpp"

namespace inferometer {
namespace {

// SGLang's constants (python/sglang/srt/managers, 2025): SGLANG_INIT_NEW_TOKEN_RATIO 0.7,
// SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR 0.14, SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS 600,
// SGLANG_RETRACT_DECODE_STEPS 20.
constexpr double kInitial = 0.7;
constexpr std::int64_t kLeastPercent = 14;
constexpr std::int64_t kDecaySteps = 600;
constexpr std::int64_t kStepsAfterRetraction = 20;

std::int64_t initial_ratio(double conservativeness) {
  const double ratio = std::min(1.0, kInitial * conservativeness);
  return static_cast<std::int64_t>(ratio * static_cast<double>(NewTokenRatio::kOne) + 0.5);
}

}  // namespace

NewTokenRatio::NewTokenRatio(double conservativeness)
    : initial_(initial_ratio(conservativeness)), least_(initial_ * kLeastPercent / 100), value_(initial_) {
}

std::int64_t NewTokenRatio::at(std::int64_t decode_steps) const {
  const std::int64_t steps = std::max<std::int64_t>(0, decode_steps - since_);
  const Int128 fallen = Int128(initial_ - least_) * steps / kDecaySteps;
  return static_cast<std::int64_t>(std::max<Int128>(least_, value_ - fallen));
}

std::int64_t NewTokenRatio::of(std::int64_t tokens, std::int64_t decode_steps) const {
  return static_cast<std::int64_t>(Int128(tokens) * at(decode_steps) / kOne);
}

void NewTokenRatio::estimate(std::int64_t emitted, std::int64_t sequences, std::int64_t allowed,
                             std::int64_t decode_steps) {
  const Int128 expected = Int128(emitted + kStepsAfterRetraction * sequences) * kOne / (allowed + 1);
  set(static_cast<std::int64_t>(std::min<Int128>(expected, kOne)), decode_steps + 1);
}

}  // namespace inferometer
