#pragma once

// How far latencies move with the length of steps, in a sentence. Who uses it: the terminal summary.

#include <optional>
#include <string>

#include "sim/scenario/sensitivity.hpp"

namespace inferometer {

/// "were steps 5 % longer: TTFT +11.8 %, E2E +5.0 % on average; 5 % shorter: TTFT -6.2 %, E2E -5.0 %", of the
/// means that the run has; "" when there is nothing to say.
std::string sensitivity_sentence(const std::optional<Sensitivity>& sensitivity);

}  // namespace inferometer
