#pragma once

// The section `speculation` of an engine: its keys, and what they mean for a step's token budget. Who uses
// it: the engine's table, policies that take speculation, scenarios.

#include <cstdint>

#include "base/config/table.hpp"
#include "base/config/values.hpp"

namespace inferometer {

/// Names of keys are vLLM's (SpeculativeConfig) where it has them.
Table speculation_table();

/// Tokens drafted for each sequence in a step; 0 without speculation. `engine`: parsed by engine_table().
std::int64_t drafted_tokens(const Values& engine);

/// Most tokens that one decode step of all sequences may run: one each, and the drafted ones of as many as
/// draft at once.
std::int64_t most_decode_tokens(const Values& engine);

}  // namespace inferometer
