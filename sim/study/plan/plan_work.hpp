#pragma once

// The work of a request, and what it takes at least of a unit's time. Who uses it: the bounds of plans.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/scenario/deployment.hpp"
#include "sim/study/plan/least_cost.hpp"
#include "sim/study/plan/plan_bounds.hpp"

namespace inferometer {

/// What a request makes its replicas do at least, whatever is chunked, batched, computed again, or, where
/// prefixes are cached, left by others. Nothing for one whose prompt leaves no room for a token, which is
/// turned away.
struct RequestWork {
  TimePoint arrival;
  std::int64_t prompt = 0;
  std::int64_t later = 0;     ///< tokens after the first, cut at max_model_len
  double pairs = 0;           ///< of prompt tokens and keys that they attend
  double decode_context = 0;  ///< tokens attended in its decode steps
  double held = 0;            ///< tokens whose KV it holds in those steps, added up
};

/// A replica of the unit, as a resource.
struct PoolCost {
  LeastCost cost;
  std::int64_t replicas = 1;  ///< in a unit
  std::int64_t stages = 1;
  bool decodes = true;               ///< whether tokens after the first may be made there
  std::int64_t max_step_tokens = 0;  ///< most tokens of a prompt in a step
  double tokens_per_decode = 1;      ///< most tokens that a sequence emits in a step
  double lane_sequences = 0;         ///< most sequences that decode in a step
  double kv_tokens = 0;              ///< that a replica's KV cache holds
};

std::vector<PoolCost> pool_costs(const Deployment& unit);

/// The traffic as the unit's replicas see it. The shortest max_model_len of its pools counts.
std::vector<RequestWork> works_of(const std::vector<TrafficRequest>& traffic, const Deployment& unit);

/// A replica's time for each part of a request's work, such that the time of any set of requests is at least
/// the sum: in seconds, of a pipeline divided by its stages, which work side by side.
struct WorkRates {
  double per_token = 0;    ///< of the prompt and of the output but for its last
  double per_pair = 0;     ///< prompt token x key
  double per_context = 0;  ///< token attended in a decode step
  double per_held = 0;     ///< token held in a decode step
  double per_later = 0;    ///< output token but for the first
  double per_request = 0;

  [[nodiscard]] double whole(const RequestWork& work) const;
  [[nodiscard]] double prompt(const RequestWork& work) const;
  /// Of the tokens after the first.
  [[nodiscard]] double later(const RequestWork& work) const;
};

/// Each part at the cheapest pool that has it so.
WorkRates cheapest(const WorkRates& a, const WorkRates& b);

/// What limits the number of steps: nothing but their tokens; sequences that decode side by side; the KV
/// cache, that holds them.
enum class StepLimit { tokens, sequences, kv_cache };

/// Rates of a pool that are highest for these requests all together.
WorkRates rates_of(const PoolCost& pool, StepLimit limit, std::span<const RequestWork> works);

/// From arrival to first token.
double least_ttft_seconds(const PoolCost& pool, const RequestWork& work);
/// Between two tokens of a sequence, so many attended tokens before the second.
double least_gap_seconds(const PoolCost& pool, double context);

}  // namespace inferometer
