#pragma once

// The parts of a time split, for arithmetic on all of them. Who uses it: studies, which take means over runs.

#include "sim/metrics/resource_summary.hpp"

namespace inferometer {

inline constexpr double TimeSplit::*kTimeSplitParts[] = {
    &TimeSplit::compute, &TimeSplit::bandwidth, &TimeSplit::communication, &TimeSplit::latency,
    &TimeSplit::host,    &TimeSplit::idle,      &TimeSplit::bubble};

}  // namespace inferometer
