#pragma once

#include <string>

#include "sim/metrics/summary.hpp"
#include "sim/scenario/sensitivity.hpp"

namespace inferometer {

/// "steps 5 % longer: mean TTFT +14.2 %, TPOT +5.10 %, E2E +6 %", against the latencies of the run itself; of
/// those that it has and that are not zero. "steps 5 % longer: no latency to compare" without any.
std::string sensitivity_sentence(const Sensitivity& sensitivity, const Summary& summary);

}  // namespace inferometer
