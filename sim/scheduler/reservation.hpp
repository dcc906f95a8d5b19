#pragma once

#include <cstdint>

#include "base/config/table.hpp"
#include "sim/batch/sequence.hpp"
#include "sim/scheduler/batch_policy.hpp"

namespace inferometer {

/// How much KV a policy that never preempts sets aside for a sequence at admission.
struct Reservation {
  std::int64_t max_model_len = 0;
  bool whole_model_len = false;

  /// Tokens to hold room for: what the client allowed, or the longest sequence of all.
  [[nodiscard]] std::int64_t tokens(const Sequence& sequence) const {
    return whole_model_len ? max_model_len : sequence.prompt + sequence.max_new;
  }
};

/// Adds the engine key `reserve`.
void add_reservation_key(Table& table);
Reservation reservation_from(const Values& engine, const EngineLimits& limits);
/// Token bound of a step for policies without a token budget: one longest sequence. A step may run more; that
/// only matters to activation memory, for which such engines gave no rule.
std::int64_t reserving_step_tokens(const Values& engine, std::int64_t max_model_len);

}  // namespace inferometer
