#pragma once

// The normal distribution with the same bits on every machine (base/portable_math.hpp), for generators.

namespace inferometer {

/// Share of a standard normal variable below x. Error at most 1e-15 absolute and 1e-12 relative (|x| <= 37).
/// Power series up to |x| = 3, continued fraction beyond (Marsaglia, "Evaluating the Normal Distribution",
/// 2004).
double normal_cdf(double x);

/// The x with normal_cdf(x) = p, error at most 1e-8 for p in [1e-300, 1 - 1e-16]. Formula 26.2.23 of
/// Abramowitz and Stegun (error 4.5e-4), then one Halley step. Precondition: 0 < p < 1.
double normal_quantile(double p);

/// Correlation of two normal variables whose ranks correlate (Spearman) by `rank_correlation` in [-1, 1]:
/// 2 sin(pi / 6 * rank_correlation).
double normal_correlation(double rank_correlation);

}  // namespace inferometer
