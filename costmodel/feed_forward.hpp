#pragma once

// The second half of a layer, as operators: a dense feed-forward network, or a router, routed experts and
// shared ones. Who uses it: operators.hpp, which lists all operators of a step; a run's totals.
//
// With one rank of attention every GPU has all tokens, and a layer ends in an all-reduce whatever the experts
// are split by. With several ranks tokens travel to the experts and back: dealt out experts get them by an
// all-to-all, in which a token goes once to each group that has one of its experts (at most min(k, groups)
// copies; 8 bit with scales where the experts compute in fp8) and comes back in 16 bit; split ones by an
// all-gather and a reduce-scatter.

#include <cstdint>
#include <vector>

#include "costmodel/model_spec.hpp"
#include "costmodel/model_split.hpp"
#include "costmodel/operator.hpp"

namespace inferometer {

inline constexpr std::string_view kRoutedExperts = "experts";

/// In order of execution, all-reduces apart. `tokens`: of the whole replica, of which each rank has as many.
std::vector<Operator> feed_forward_operators(const ModelSpec& model, const ModelSplit& split,
                                             std::int64_t tokens);

/// The routed experts alone, on the GPU that most tokens are sent to, of which `call` has the more. Weights
/// are those of the experts that so many tokens reach. Precondition: model.moe; tokens >= 1.
Operator routed_experts(const ModelSpec& model, const ModelSplit& split, std::int64_t tokens);

}  // namespace inferometer
