#include "sim/study/plan/plan_work.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/check.hpp"
#include "costmodel/operators.hpp"
#include "sim/study/plan/shared_prefixes.hpp"
#include "workloads/workload_config.hpp"

namespace inferometer {
namespace {

/// `cached`: tokens of the prompt that are not computed, and that others hold, too.
RequestWork work_of(const TrafficRequest& request, std::int64_t cached, std::int64_t longest,
                    std::optional<std::int64_t> window) {
  RequestWork work;
  work.arrival = request.arrival;
  if (request.prompt >= longest) {
    return work;
  }
  work.prompt = request.prompt - cached;
  work.later = std::min(request.output, longest - request.prompt) - 1;
  work.pairs = static_cast<double>(attention_pairs({work.prompt, cached}, window));
  if (work.later > 0) {
    // The first decode step attends the prompt and the token that it is fed: as a chunk of `later` tokens
    // would.
    const ChunkShape decoded{work.later, request.prompt};
    work.decode_context = static_cast<double>(attention_pairs(decoded, window));
    work.held = static_cast<double>(attention_pairs(decoded, std::nullopt) - cached * work.later);
  }
  return work;
}

std::int64_t shortest_model_len(const Deployment& unit) {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (const PoolDeployment& pool : unit.pools) {
    shortest = std::min(shortest, pool.limits.max_model_len);
  }
  return shortest;
}

/// The shortest of all pools; none when one has none.
std::optional<std::int64_t> shortest_window(const Deployment& unit) {
  std::optional<std::int64_t> shortest;
  for (const PoolDeployment& pool : unit.pools) {
    if (const auto window = pool.spec.model.sliding_window; window && (!shortest || *window < *shortest)) {
      shortest = window;
    }
  }
  return shortest;
}

/// Sums over requests that rates are chosen by.
struct Totals {
  double tokens = 0, later = 0, held = 0, requests = 0;
};

Totals totals_of(std::span<const RequestWork> works) {
  Totals totals;
  for (const RequestWork& work : works) {
    totals.tokens += static_cast<double>(work.prompt + work.later);
    totals.later += static_cast<double>(work.later);
    totals.held += work.held;
    totals.requests += work.prompt > 0 ? 1 : 0;
  }
  return totals;
}

/// What a token that is emitted takes for each that it attends. Emitted by computing a preempted sequence
/// again, all tokens are run in place of being attended: where attention counts half as much as a token at
/// most, and a token twice as much as attention at least, that is never cheaper, from two tokens on. With a
/// prefix cache it may be: then only the last block is run, and what is ahead of it attended as a prompt
/// attends it. That is one token for each preemption, and not counted here.
double attention_of_emission(const PoolCost& pool) {
  const LeastCost& cost = pool.cost;
  return std::min(cost.seconds_per_context_token / pool.tokens_per_decode,
                  cost.tokens.lines().back().seconds_per_unit / 2);
}

}  // namespace

std::optional<std::vector<TrafficRequest>> traffic_of(const Scenario& scenario) {
  const std::unique_ptr<Workload> workload =
      make_workload(scenario.workload(), scenario.seed(), scenario.trace_directory());
  std::vector<TrafficRequest> traffic;
  SharedPrefixes prefixes;
  Request request;
  while (workload->next_arrival()) {
    workload->take(request);
    prefixes.add(request);
    traffic.push_back({request.arrival, request.prompt.count(), request.output.count()});
  }
  for (std::size_t id = 0; id < traffic.size(); ++id) {
    workload->finished(static_cast<std::int64_t>(id), traffic.back().arrival);
  }
  if (workload->next_arrival()) {
    return std::nullopt;
  }
  const std::vector<std::int64_t> shared = prefixes.tokens();
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    traffic[i].shared = shared[i];
  }
  return traffic;
}

std::vector<PoolCost> pool_costs(const Deployment& unit) {
  std::vector<PoolCost> pools;
  for (std::size_t i = 0; i < unit.pools.size(); ++i) {
    const PoolDeployment& pool = unit.pools[i];
    PoolCost cost;
    cost.cost = least_cost(pool);
    cost.replicas = unit.replicas(i);
    cost.stages = pool.parallelism.pipeline;
    cost.decodes = pool.spec.role != PoolRole::prefill || unit.cluster->dynamic_split.has_value();
    cost.max_step_tokens = std::max(pool.pricer_limits.max_tokens, pool.limits.max_model_len);
    cost.tokens_per_decode = static_cast<double>(pool.pricer_limits.max_queries);
    cost.lane_sequences = static_cast<double>(ceil_div(pool.limits.max_num_seqs, cost.stages));
    cost.kv_tokens = static_cast<double>(pool.limits.total_blocks * pool.limits.block_size);
    pools.push_back(std::move(cost));
  }
  return pools;
}

std::vector<RequestWork> works_of(const std::vector<TrafficRequest>& traffic, const Deployment& unit) {
  const std::int64_t longest = shortest_model_len(unit);
  const std::optional<std::int64_t> window = shortest_window(unit);
  const bool caches = std::any_of(unit.pools.begin(), unit.pools.end(),
                                  [](const PoolDeployment& pool) { return pool.replica.caches_prefixes; });
  std::vector<RequestWork> works;
  works.reserve(traffic.size());
  for (const TrafficRequest& request : traffic) {
    works.push_back(work_of(request, caches ? request.shared : 0, longest, window));
  }
  return works;
}

double WorkRates::prompt(const RequestWork& work) const {
  return work.prompt == 0
             ? 0
             : per_token * static_cast<double>(work.prompt) + per_pair * work.pairs + per_request;
}

double WorkRates::later(const RequestWork& work) const {
  return (per_token + per_later) * static_cast<double>(work.later) + per_context * work.decode_context +
         per_held * work.held;
}

double WorkRates::whole(const RequestWork& work) const {
  return prompt(work) + later(work);
}

WorkRates cheapest(const WorkRates& a, const WorkRates& b) {
  return {std::min(a.per_token, b.per_token),     std::min(a.per_pair, b.per_pair),
          std::min(a.per_context, b.per_context), std::min(a.per_held, b.per_held),
          std::min(a.per_later, b.per_later),     std::min(a.per_request, b.per_request)};
}

WorkRates rates_of(const PoolCost& pool, StepLimit limit, std::span<const RequestWork> works) {
  const LeastCost& cost = pool.cost;
  const Totals totals = totals_of(works);
  const double emitted = pool.tokens_per_decode;
  const double per_later = limit == StepLimit::sequences ? 1 / (pool.lane_sequences * emitted) : 0;
  const double per_held = limit == StepLimit::kv_cache ? 1 / (pool.kv_tokens * emitted) : 0;
  const double steps = per_later * totals.later + per_held * totals.held;
  const double attention = attention_of_emission(pool);
  const CostLine tokens = cost.tokens.best_line(steps, totals.tokens, 2 * attention);
  const CostLine rows = cost.rows.best_line(steps, totals.later + totals.requests, 0);
  // The host holds a replica up, but no stage of a pipeline.
  const bool holds = pool.stages == 1;
  const double per_step =
      tokens.seconds_per_step + rows.seconds_per_step + (holds ? cost.host_seconds_per_step : 0);
  const double host = holds ? cost.host_seconds_per_sequence : 0;
  const auto stages = static_cast<double>(pool.stages);
  WorkRates rates;
  rates.per_token = tokens.seconds_per_unit / stages;
  rates.per_pair = cost.seconds_per_pair / stages;
  rates.per_context = attention / stages;
  rates.per_held = per_step * per_held / stages;
  rates.per_later = (per_step * per_later + rows.seconds_per_unit + host / emitted) / stages;
  rates.per_request = (rows.seconds_per_unit + host) / stages;
  return rates;
}

double least_ttft_seconds(const PoolCost& pool, const RequestWork& work) {
  const double steps = static_cast<double>(ceil_div(work.prompt, pool.max_step_tokens));
  return pool.cost.tokens.of(steps, static_cast<double>(work.prompt)) + pool.cost.rows.of(1, 1) +
         pool.cost.seconds_per_pair * work.pairs +
         (pool.cost.host_seconds_per_step + pool.cost.host_seconds_per_sequence) * steps;
}

double least_gap_seconds(const PoolCost& pool, double context) {
  const double attention = attention_of_emission(pool);
  return pool.cost.tokens.best_line(1, 1, 2 * attention).at(1, 1) + pool.cost.rows.of(1, 1) +
         attention * context + pool.cost.host_seconds_per_step + pool.cost.host_seconds_per_sequence;
}

}  // namespace inferometer
