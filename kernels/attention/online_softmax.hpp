#pragma once

// Softmax over scores that arrive in pieces (Milakov, Gimelshein 2018), in base 2: scores are multiplied by
// log2(e) beforehand, for the GPU has an instruction for 2^x. With m the largest score so far,
//
//   sum         = sum over the scores s of 2^(s - m)
//   accumulator = sum over the scores s of 2^(s - m) * value
//
// and sum and accumulator are multiplied by 2^(m_old - m_new) whenever m grows. The output is accumulator /
// sum. No score yet is m = -infinity, sum = 0, accumulator = 0; merging with that changes nothing. Scores of
// -infinity weigh nothing. Kernels and host share these functions.

#include <cmath>

#include "kernels/common/host_device.hpp"

namespace inferometer::kernels {

inline constexpr double kLog2E = 1.4426950408889634;

template <class Real>
INFEROMETER_HOST_DEVICE constexpr Real no_score() {
  return static_cast<Real>(-INFINITY);
}

template <class Real>
struct SoftmaxState {
  Real max = no_score<Real>();
  Real sum = 0;
};

/// 2^x. On a GPU by its instruction: within 2^-22 of it, 0 where the result would be below 2^-126.
template <class Real>
INFEROMETER_HOST_DEVICE Real power_of_2(Real x) {
#ifdef __CUDA_ARCH__
  static_assert(sizeof(Real) == sizeof(float));
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return std::exp2(x);
#endif
}

/// Weight of a score, or of what was summed under the maximum `score`, under the maximum `max` >= score.
/// Precondition: there was a score, max > -infinity.
template <class Real>
INFEROMETER_HOST_DEVICE Real weight_under(Real score, Real max) {
  return power_of_2(score - max);
}

/// The same where there may have been none. -infinity less -infinity would be no number.
template <class Real>
INFEROMETER_HOST_DEVICE Real rescale_factor(Real from, Real to) {
  return from == no_score<Real>() ? Real(0) : weight_under(from, to);
}

/// The state of both. An accumulator that goes with `a` is multiplied by rescale_factor(a.max, merged.max),
/// and so for b.
template <class Real>
INFEROMETER_HOST_DEVICE SoftmaxState<Real> merged(const SoftmaxState<Real>& a, const SoftmaxState<Real>& b) {
  const Real max = a.max > b.max ? a.max : b.max;
  return {max, a.sum * rescale_factor(a.max, max) + b.sum * rescale_factor(b.max, max)};
}

/// What the accumulator is multiplied by in the end: 1 / sum, 0 where nothing was attended.
template <class Real>
INFEROMETER_HOST_DEVICE Real normaliser(const SoftmaxState<Real>& state) {
  return state.sum > 0 ? 1 / state.sum : Real(0);
}

}  // namespace inferometer::kernels
