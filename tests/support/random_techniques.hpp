#pragma once

// Techniques that few policies have, drawn at random: drafted tokens, host memory and disk for KV.

#include <string>

#include "sim/batch/speculation.hpp"
#include "sim/kvcache/kv_offload.hpp"
#include "tests/support/dice.hpp"

namespace inferometer::testing {

/// One to kMostDrafts tokens, fixed or adaptive, with and without lookahead slots; never recomputes_last_hit.
SpeculationRule random_rule(Dice& dice);

/// Host memory for a block up to more than there are, two of three with a disk behind it; copies that take a
/// picosecond up to several steps.
KvOffloadConfig random_offload(Dice& dice);

/// For failure messages.
std::string to_text(const SpeculationRule& rule);
std::string to_text(const KvOffloadConfig& offload);

}  // namespace inferometer::testing
