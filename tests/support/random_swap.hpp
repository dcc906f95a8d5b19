#pragma once

#include <string>

#include "tests/support/dice.hpp"
#include "tests/support/sim_harness.hpp"

namespace inferometer::testing {

/// Preempted sequences of an engine with policy continuous may go to host memory, of which there may be less
/// than they need.
void draw_swap(Dice& dice, EngineSetup& setup);
/// For messages; empty without swapping.
std::string swap_text(const EngineSetup& setup);

}  // namespace inferometer::testing
