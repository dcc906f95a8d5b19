#pragma once

// Which experts tokens are routed to, on average: how many different ones, and how many tokens land on the
// fullest GPU. Who uses it: the operators of a mixture of experts, reports. Formulas: spec 2.2.

#include <cstdint>
#include <vector>

#include "costmodel/model_spec.hpp"

namespace inferometer {

/// Probability that a token is routed to each expert, the most popular first: in proportion to i^-skew, at
/// most 1, together experts_per_token. O(experts), but for many that reach 1.
std::vector<double> expert_probabilities(const MixtureOfExperts& moe);

/// Expected number of different experts that so many tokens reach, each routed on its own:
/// sum_i 1 - (1 - p_i)^tokens; N (1 - (1 - k/N)^tokens) when all are equally likely. O(1) then, else
/// O(experts). Precondition: tokens >= 0.
double distinct_experts(const MixtureOfExperts& moe, double tokens);

/// Expected (token, expert) pairs on the fullest of `groups` GPUs or groups of them that hold different
/// experts: m + sqrt(2 m ln groups), where m = tokens k / groups is the mean, or with a skew the share of the
/// group that has the most popular expert when they are dealt out in order of popularity, as engines place
/// them to balance load. Never more than every token could send there.
double fullest_group_pairs(const MixtureOfExperts& moe, double tokens, std::int64_t groups);

}  // namespace inferometer
