#pragma once

#include <optional>
#include <span>

#include "base/units.hpp"
#include "sim/metrics/request_lengths.hpp"
#include "sim/scenario/deployment.hpp"

namespace inferometer {

/// The rate at which a deployment works off requests of such lengths when it never has to wait for one: on
/// one replica of each pool they are replayed all at once, and the rate is taken between the moments when a
/// fifth and four fifths have finished, so that neither filling nor draining counts. A prefill replica runs
/// the prompts alone; a decode replica finds their KV there. Rates of the replicas of a pool add up (all that
/// it may come to have), and of the pools for prefill and decode the slower one counts, beside the mixed one.
/// Lengths that drift over the sample (traces do) are mixed, so that the part that counts is like the whole.
/// Prompts of the sample have no content, so none is found in a cache of prefixes: where many are, the rate
/// is too low. Exact for any policy, since it is the same simulation, but for that, uneven routing, waiting
/// for transfers, prompts that change pools, failures; an estimate of the run's capacity as far as the sample
/// is like the run: of n requests whose work has a coefficient of variation c, the relative error is about c
/// / sqrt(0.6 n). Deterministic. Absent when fewer requests are given than twice max_num_seqs, too few to
/// fill the engine, and where replicas change between prefill and decode: there is no one split to estimate.
std::optional<PerSecond> saturated_rate(const Deployment& deployment, std::span<const RequestLengths> sample);

/// How many requests a good sample has.
std::int64_t capacity_sample_size(const Deployment& deployment);

}  // namespace inferometer
