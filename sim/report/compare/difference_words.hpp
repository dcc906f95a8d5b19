#pragma once

// A difference between two variants as cells of tables have it.

#include <string>

#include "sim/study/compare/compare_result.hpp"

namespace inferometer {

/// "-41.2 +-3.1 %", "2.40 +-0.20 x" for twice as much and more, "+3.00" where the baseline has 0; "" for
/// none.
std::string short_difference(const std::string& metric, const Difference& difference);

/// "better", "worse", "higher", "lower", "~" for no difference shown, "=" for none in any pair; with "*"
/// where a queue grows.
std::string verdict_word(const Difference& difference);

}  // namespace inferometer
