#pragma once

#include <string>
#include <vector>

#include "calibration/record/measurement.hpp"

namespace inferometer {

/// What sets of measurements hold: a line for each family and variant with its points and the range of each
/// axis; then what was left out and why. Ends in a newline.
std::string measurement_report(const std::vector<Measurements>& sets);

}  // namespace inferometer
