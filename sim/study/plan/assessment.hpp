#pragma once

#include <vector>

#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

/// What the outcomes of all seeds say of a deployment. `outcomes`: at least one; pointers not null.
/// `failed_max`: largest share of requests that may fail.
Assessment assess(const std::vector<const Outcome*>& outcomes, const Size& size, double rate_factor,
                  double failed_max);

}  // namespace inferometer
