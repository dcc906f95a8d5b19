#pragma once

#include <string>

#include "sim/metrics/prefix_summary.hpp"
#include "sim/metrics/stability.hpp"

namespace inferometer {

/// "38.2 % of prompt tokens found, 30.1 % left by their own session; mean TTFT 120 ms with a hit, 800 ms
/// without". For terminal and page.
std::string prefix_sentence(const PrefixSummary& prefixes);

/// What to add where an estimated capacity is named: "", or ", if no prompt were found in a cache".
std::string capacity_condition(const StabilityReport& stability);

}  // namespace inferometer
