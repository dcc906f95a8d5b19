#include "workloads/lengths.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/portable_math.hpp"
#include "workloads/normal_distribution.hpp"

namespace inferometer {

namespace {

/// The smallest probability a sampler asks for: half of uniform()'s step, so that 0 never comes.
constexpr double kSmallestShare = 0x1p-54;

TokenCount rounded(double length) {
  return TokenCount(static_cast<std::int64_t>(std::floor(length + 0.5)));
}

class FixedLength : public LengthDistribution {
 public:
  explicit FixedLength(TokenCount tokens) : tokens_(tokens) {}
  [[nodiscard]] TokenCount quantile(double) const override { return tokens_; }

 private:
  TokenCount tokens_;
};

class UniformLength : public LengthDistribution {
 public:
  UniformLength(TokenCount min, TokenCount max) : min_(min), max_(max) {}

  [[nodiscard]] TokenCount quantile(double p) const override {
    const double values = static_cast<double>((max_ - min_).count() + 1);
    const TokenCount length = min_ + TokenCount(static_cast<std::int64_t>(p * values));
    return std::min(length, max_);
  }

 private:
  TokenCount min_, max_;
};

/// The shares of the untruncated log-normal below the two bounds (half a token out, since lengths are
/// rounded).
struct Cut {
  double below, upto;
};

Cut cut_of(const LogNormalLength& options) {
  const double log_median = portable_log(options.median);
  const auto share_below = [&](double tokens) {
    return normal_cdf((portable_log(tokens) - log_median) / options.sigma);
  };
  return {share_below(static_cast<double>(options.min.count()) - 0.5),
          share_below(static_cast<double>(options.max.count()) + 0.5)};
}

class LogNormal : public LengthDistribution {
 public:
  explicit LogNormal(const LogNormalLength& options)
      : options_(options), log_median_(portable_log(options.median)), cut_(cut_of(options)) {}

  [[nodiscard]] TokenCount quantile(double p) const override {
    const double share = cut_.below + p * (cut_.upto - cut_.below);
    if (share <= 0 || share >= 1) {
      return share <= 0 ? options_.min : options_.max;
    }
    const double length = portable_exp(log_median_ + options_.sigma * normal_quantile(share));
    const double max = static_cast<double>(options_.max.count());
    return length >= max ? options_.max : std::max(rounded(length), options_.min);
  }

 private:
  LogNormalLength options_;
  double log_median_;
  Cut cut_;
};

class ZipfLength : public LengthDistribution {
 public:
  ZipfLength(TokenCount min, TokenCount max, double exponent) : min_(min) {
    const auto values = static_cast<std::size_t>((max - min).count() + 1);
    cumulative_.reserve(values);
    double total = 0;
    for (std::size_t i = 0; i < values; ++i) {
      const double length = static_cast<double>(min.count()) + static_cast<double>(i);
      total += portable_pow(static_cast<double>(min.count()) / length, exponent);
      cumulative_.push_back(total);
    }
  }

  [[nodiscard]] TokenCount quantile(double p) const override {
    const auto found = std::lower_bound(cumulative_.begin(), cumulative_.end() - 1, p * cumulative_.back());
    return min_ + TokenCount(found - cumulative_.begin());
  }

 private:
  TokenCount min_;
  std::vector<double> cumulative_;  ///< not normalised
};

class QuantileLength : public LengthDistribution {
 public:
  QuantileLength(std::vector<double> probabilities, std::vector<double> lengths)
      : probabilities_(std::move(probabilities)), lengths_(std::move(lengths)) {}

  [[nodiscard]] TokenCount quantile(double p) const override {
    const auto upper = std::upper_bound(probabilities_.begin() + 1, probabilities_.end() - 1, p);
    const auto i = static_cast<std::size_t>(upper - probabilities_.begin());
    const double share = (p - probabilities_[i - 1]) / (probabilities_[i] - probabilities_[i - 1]);
    return rounded(lengths_[i - 1] + share * (lengths_[i] - lengths_[i - 1]));
  }

 private:
  std::vector<double> probabilities_, lengths_;
};

double share_from(RandomStream& stream) {
  return std::max(stream.uniform(), kSmallestShare);
}

}  // namespace

std::unique_ptr<LengthDistribution> make_fixed_length(TokenCount tokens) {
  INFEROMETER_CHECK(tokens.count() >= 1, "a length is at least 1");
  return std::make_unique<FixedLength>(tokens);
}

std::unique_ptr<LengthDistribution> make_uniform_length(TokenCount min, TokenCount max) {
  INFEROMETER_CHECK(min.count() >= 1 && min <= max, "1 <= min <= max");
  return std::make_unique<UniformLength>(min, max);
}

std::unique_ptr<LengthDistribution> make_log_normal_length(const LogNormalLength& options) {
  INFEROMETER_CHECK(log_normal_share(options) >= kSmallestLogNormalShare,
                    "hardly any length lies within the bounds");
  return std::make_unique<LogNormal>(options);
}

double log_normal_share(const LogNormalLength& options) {
  INFEROMETER_CHECK(options.median > 0 && options.sigma > 0, "median and sigma are positive");
  INFEROMETER_CHECK(options.min.count() >= 1 && options.min <= options.max, "1 <= min <= max");
  const Cut cut = cut_of(options);
  return cut.upto - cut.below;
}

double log_normal_median(double mean, double sigma) {
  return mean * portable_exp(-0.5 * sigma * sigma);
}

std::unique_ptr<LengthDistribution> make_zipf_length(TokenCount min, TokenCount max, double exponent) {
  INFEROMETER_CHECK(min.count() >= 1 && min <= max && max.count() <= kLongestLength,
                    "1 <= min <= max <= 2^20");
  INFEROMETER_CHECK(exponent >= 0, "the exponent is not negative");
  return std::make_unique<ZipfLength>(min, max, exponent);
}

std::unique_ptr<LengthDistribution> make_quantile_length(std::vector<double> probabilities,
                                                         std::vector<double> lengths) {
  const std::string mistake = quantile_mistake(probabilities, lengths);
  INFEROMETER_CHECK(mistake.empty(), mistake);
  return std::make_unique<QuantileLength>(std::move(probabilities), std::move(lengths));
}

std::string quantile_mistake(const std::vector<double>& probabilities, const std::vector<double>& lengths) {
  if (probabilities.size() != lengths.size()) {
    return fmt::format("expected as many lengths as probabilities, found {} and {}", lengths.size(),
                       probabilities.size());
  }
  if (probabilities.size() < 2 || probabilities.front() != 0 || probabilities.back() != 1) {
    return "expected probabilities from 0 to 1, two at least";
  }
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    if (!(probabilities[i - 1] < probabilities[i])) {
      return fmt::format("expected probabilities that rise, found {} after {}", probabilities[i],
                         probabilities[i - 1]);
    }
    if (!(lengths[i - 1] <= lengths[i])) {
      return fmt::format("expected lengths that do not fall, found {} after {}", lengths[i], lengths[i - 1]);
    }
  }
  if (lengths.front() < 1 || lengths.back() > static_cast<double>(kLongestLength)) {
    return fmt::format("expected lengths from 1 to {}", kLongestLength);
  }
  return "";
}

LengthSampler::LengthSampler(std::shared_ptr<const LengthDistribution> prompt,
                             std::shared_ptr<const LengthDistribution> output, double rank_correlation,
                             std::uint64_t seed)
    : prompt_(std::move(prompt)),
      output_(std::move(output)),
      correlation_(normal_correlation(rank_correlation)),
      independence_(portable_sqrt(std::max(0.0, 1.0 - correlation_ * correlation_))),
      prompt_stream_(seed, "workload/lengths/prompt"),
      output_stream_(seed, "workload/lengths/output") {
  INFEROMETER_CHECK(rank_correlation >= -1 && rank_correlation <= 1, "a correlation lies in [-1, 1]");
}

LengthSampler::Lengths LengthSampler::next() {
  const double prompt_share = share_from(prompt_stream_);
  double output_share = share_from(output_stream_);
  if (correlation_ != 0) {
    const double z =
        correlation_ * normal_quantile(prompt_share) + independence_ * normal_quantile(output_share);
    output_share = std::clamp(normal_cdf(z), kSmallestShare, 1.0 - kSmallestShare * 2);
  }
  return {prompt_->quantile(prompt_share), output_->quantile(output_share)};
}

}  // namespace inferometer
