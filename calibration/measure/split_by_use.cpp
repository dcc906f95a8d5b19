#include "calibration/measure/split_by_use.hpp"

#include "calibration/sweep/design_sweep.hpp"

namespace inferometer {

SplitMeasurements split_by_use(const std::vector<Measurements>& measured) {
  SplitMeasurements parts;
  for (const Measurements& set : measured) {
    Measurements fit, held_out;
    fit.header = set.header;
    held_out.header = set.header;
    for (const MeasuredKernel& point : set.points) {
      (use_of(point.call) == PointUse::fit ? fit : held_out).points.push_back(point);
    }
    parts.fit.push_back(std::move(fit));
    parts.held_out.push_back(std::move(held_out));
  }
  return parts;
}

}  // namespace inferometer
