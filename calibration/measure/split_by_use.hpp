#pragma once

// A measured sweep, parted into what a profile is fitted to and what it is judged by. Who uses it: `calibrate
// run`.

#include <vector>

#include "calibration/record/measurement.hpp"

namespace inferometer {

struct SplitMeasurements {
  std::vector<Measurements> fit, held_out;
};

/// Each set's points by use_of() (design_sweep.hpp). Both parts have as many sets, with their headers.
SplitMeasurements split_by_use(const std::vector<Measurements>& measured);

}  // namespace inferometer
