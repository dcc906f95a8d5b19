#pragma once

// Fits the constants of a roofline to measured kernels. Who uses it: the fit of a profile.

#include <span>

#include "calibration/record/measurement.hpp"
#include "costmodel/kernels/kernel_roofline.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Constants with the least sum of |log(predicted / measured)|: iteratively reweighted least squares on
/// logarithms of the constants, Levenberg-Marquardt steps. Robust: a point however far off pulls no more than
/// any other. Constants that the family has no use for stay as they are. Uses at most 4,000 of the points
/// (experts: 500), evenly spread. Precondition: points of one family and variant, at least one.
RooflineConstants fit_roofline(std::span<const MeasuredKernel> points, const GpuSpec& gpu);

}  // namespace inferometer
