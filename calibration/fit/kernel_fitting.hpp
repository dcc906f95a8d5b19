#pragma once

// From measured kernels of one family and variant to a fit with its error. Who uses it: fit_profile.hpp.

#include <span>
#include <string>
#include <vector>

#include "calibration/record/measurement.hpp"
#include "costmodel/kernels/kernel_fit.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Whether the kernel found keys and values in the L2 cache that it would read from memory between the other
/// kernels of a step.
bool was_read_from_cache(const MeasuredKernel& point, const GpuSpec& gpu);

/// The points as the fit sees them: points of equal calls become one with their median time, and decode
/// attention that was measured out of the L2 cache gets the time that reading from memory takes longer, or is
/// left out where part of it was in the cache. In order of first appearance. No other point is left out: the
/// least absolute error gives one that is far off no more weight than any other.
std::vector<MeasuredKernel> prepared(std::span<const MeasuredKernel> points, const GpuSpec& gpu);

/// Roofline constants, correction and range. Its regions are empty. Precondition: points as prepared() gives
/// them, of one family and variant, at least one.
KernelFit fit_kernel(std::span<const MeasuredKernel> points, const GpuSpec& gpu);

/// One held-out prediction.
struct HeldOut {
  const MeasuredKernel* point;
  double predicted_s;
};

/// What is held out together.
enum class SplitBy {
  shape,  ///< all points of a shape: (n, k) of a GEMM, heads of an attention, experts and their split
  model,  ///< experts: all points of a layer, however split; other families: as by shape
  point,  ///< single points: other sizes of the same shape are known
};

/// Fits `folds` times, each time without a share of the shapes, and predicts those. Shapes are dealt out by a
/// random stream of its own, the same every time. Points of regions that were not measured as they happen
/// (decode attention within L2) are not predicted.
std::vector<HeldOut> cross_validate(std::span<const MeasuredKernel> points, const GpuSpec& gpu, SplitBy split,
                                    int folds);

/// A fit with the errors of a cross-validation by shape.
KernelFit fit_with_errors(std::span<const MeasuredKernel> points, const GpuSpec& gpu, int folds);

}  // namespace inferometer
