#pragma once

#include <string>

#include "calibration/compare/comparison.hpp"

namespace inferometer {

/// What `inferometer calibrate compare` prints: who is compared, a table by family, variant and region, the
/// notes.
std::string comparison_text(const KernelTimes& a, const KernelTimes& b, const Comparison& comparison);

}  // namespace inferometer
