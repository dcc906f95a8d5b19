#pragma once

// How long prompts and outputs are. Every distribution is given by its quantile function, so that one uniform
// number makes one length, and so that a prompt and its output can be correlated whatever their distributions
// (Gaussian copula). Who uses it: generated workloads and presets.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"

namespace inferometer {

/// Longest prompt or output that a distribution may be asked for: 2^20 tokens.
inline constexpr std::int64_t kLongestLength = std::int64_t{1} << 20;

class LengthDistribution {
 public:
  virtual ~LengthDistribution() = default;
  /// The smallest length that a share `p` of all lengths does not exceed; p in (0, 1). At least 1, never
  /// falling in p. At most O(log(number of different lengths)).
  [[nodiscard]] virtual TokenCount quantile(double p) const = 0;
};

/// Always `tokens` (>= 1).
std::unique_ptr<LengthDistribution> make_fixed_length(TokenCount tokens);

/// Every whole number of [min, max] equally often. Precondition: 1 <= min <= max.
std::unique_ptr<LengthDistribution> make_uniform_length(TokenCount min, TokenCount max);

/// exp(normal) rounded to the nearest whole number, without what falls outside [min, max] (cut off, not moved
/// to the bounds).
struct LogNormalLength {
  double median = 0;  ///< > 0, before cutting; the mean before cutting is median * exp(sigma^2 / 2)
  double sigma = 0;   ///< > 0, of the natural logarithm
  TokenCount min{1};
  TokenCount max{kLongestLength};
};
/// Smallest share of the whole distribution that must lie within [min, max].
inline constexpr double kSmallestLogNormalShare = 1e-6;
/// Precondition: log_normal_share(options), what lies within [min, max], is at least kSmallestLogNormalShare.
std::unique_ptr<LengthDistribution> make_log_normal_length(const LogNormalLength& options);
double log_normal_share(const LogNormalLength& options);
/// Median of the log-normal distribution that has this mean.
double log_normal_median(double mean, double sigma);

/// Whole numbers L of [min, max] with probability in proportion to L^-exponent (bounded Zipf law).
/// O(max - min) memory. Precondition: 1 <= min <= max <= kLongestLength, exponent >= 0.
std::unique_ptr<LengthDistribution> make_zipf_length(TokenCount min, TokenCount max, double exponent);

/// Straight lines between the points (probabilities[i], lengths[i]), rounded to the nearest whole number.
/// Precondition: quantile_mistake() finds none.
std::unique_ptr<LengthDistribution> make_quantile_length(std::vector<double> probabilities,
                                                         std::vector<double> lengths);

/// What is wrong with such points, as a sentence for the user, or "": two points at least and as many of
/// both; probabilities rise strictly from 0 to 1; lengths of [1, kLongestLength] that never fall.
std::string quantile_mistake(const std::vector<double>& probabilities, const std::vector<double>& lengths);

/// What prompts and outputs follow together.
struct LengthPair {
  std::shared_ptr<const LengthDistribution> prompt, output;
  double correlation = 0;  ///< in [-1, 1]: Spearman's, of the lengths before rounding
};

/// Draws prompts and outputs. The streams "workload/lengths/prompt" and "workload/lengths/output" give one
/// number each a request; prompts do not depend on the correlation.
class LengthSampler {
 public:
  struct Lengths {
    TokenCount prompt, output;
  };

  /// `rank_correlation` in [-1, 1]: Spearman's, of the lengths before rounding.
  LengthSampler(std::shared_ptr<const LengthDistribution> prompt,
                std::shared_ptr<const LengthDistribution> output, double rank_correlation,
                std::uint64_t seed);

  LengthSampler(const LengthPair& lengths, std::uint64_t seed)
      : LengthSampler(lengths.prompt, lengths.output, lengths.correlation, seed) {}

  Lengths next();

 private:
  std::shared_ptr<const LengthDistribution> prompt_, output_;
  double correlation_;   ///< of the two normal variables of the copula
  double independence_;  ///< sqrt(1 - correlation^2)
  RandomStream prompt_stream_, output_stream_;
};

}  // namespace inferometer
