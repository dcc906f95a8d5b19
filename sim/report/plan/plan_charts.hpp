#pragma once

// The charts of a plan's page. Each is absent when the plan has nothing to draw in it. Of plans with many
// shapes they show those that matter most, and say how many they leave out.

#include <optional>

#include "sim/report/page/page.hpp"
#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

/// Cost against the plan's latency: a point for each size that was simulated, the front as a line.
std::optional<Chart> front_chart(const PlanResult& plan);

/// Latency against the offered rate, a line for each shape whose sustained rate was looked for.
std::optional<Chart> rate_chart(const PlanResult& plan);

/// What the smallest size that meets costs, a bar for each shape.
std::optional<Chart> cost_chart(const PlanResult& plan);

/// Where GPUs spent their time, a bar for each shape that was simulated.
std::optional<Chart> time_chart(const PlanResult& plan);

/// Distributions of the answer's latencies.
std::optional<Chart> latency_chart(const PlanResult& plan);

}  // namespace inferometer
