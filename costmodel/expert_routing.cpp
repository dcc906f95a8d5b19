#include "costmodel/expert_routing.hpp"

#include <algorithm>

#include "base/portable_math.hpp"

namespace inferometer {

/// Those whose share would pass 1 get 1, most popular first; the rest share what is left in proportion.
std::vector<double> expert_probabilities(const MixtureOfExperts& moe) {
  std::vector<double> probabilities;
  double weights = 0;
  for (std::int64_t i = 1; i <= moe.experts; ++i) {
    probabilities.push_back(portable_pow(static_cast<double>(i), -moe.skew));
    weights += probabilities.back();
  }
  auto chosen = static_cast<double>(moe.experts_per_token);
  for (double& probability : probabilities) {
    const double share = weights > 0 ? std::min(1.0, chosen * probability / weights) : 0;
    weights -= probability;
    chosen -= share;
    probability = share;
  }
  return probabilities;
}

double distinct_experts(const MixtureOfExperts& moe, double tokens) {
  const auto experts = static_cast<double>(moe.experts);
  if (moe.skew == 0) {
    return experts * (1 - portable_pow(1 - static_cast<double>(moe.experts_per_token) / experts, tokens));
  }
  double reached = 0;
  for (const double probability : expert_probabilities(moe)) {
    reached += 1 - portable_pow(1 - probability, tokens);
  }
  return reached;
}

double fullest_group_pairs(const MixtureOfExperts& moe, double tokens, std::int64_t groups) {
  double share = static_cast<double>(moe.experts_per_token) / static_cast<double>(groups);
  if (moe.skew != 0) {
    const std::vector<double> probabilities = expert_probabilities(moe);
    share = 0;
    for (std::size_t i = 0; i < probabilities.size(); i += static_cast<std::size_t>(groups)) {
      share += probabilities[i];
    }
  }
  const double mean = tokens * share;
  const double fullest = mean + portable_sqrt(2 * mean * portable_log(static_cast<double>(groups)));
  const std::int64_t most = std::min(moe.experts_per_token, (moe.experts + groups - 1) / groups);
  return std::min(fullest, tokens * static_cast<double>(most));
}

}  // namespace inferometer
