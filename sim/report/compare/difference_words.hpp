#pragma once

// A difference between two variants as cells of tables have it.

#include <string>

#include "sim/study/compare/compare_result.hpp"

namespace inferometer {

/// The interval of the relative difference: "-44.3 to -38.1 %", "2.20 to 2.60 x" for twice as much and more;
/// "-41.2 %" without an interval, "+3.00" where there is no relative one; "" for none in any pair.
std::string short_difference(const std::string& metric, const Difference& difference);

/// "better", "worse", "higher", "lower", "~" for no difference shown, "=" for none in any pair; with "*"
/// where a queue grows.
std::string verdict_word(const Difference& difference);

}  // namespace inferometer
