#pragma once

// Measured kernels made up from a known roofline, for tests of fits.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "calibration/record/measurement.hpp"
#include "costmodel/kernels/kernel_roofline.hpp"
#include "tests/support/dice.hpp"
#include "tests/unit/costmodel/kernels/kernel_calls.hpp"

namespace inferometer::test {

using Points = std::vector<MeasuredKernel>;

inline MeasuredKernel measured(const KernelCall& call, double seconds) {
  MeasuredKernel point;
  point.call = call;
  point.seconds = seconds;
  return point;
}

/// The calls, taking what the roofline says.
inline Points timed(const std::vector<KernelCall>& calls, const RooflineConstants& constants,
                    const GpuSpec& gpu) {
  Points points;
  for (const KernelCall& call : calls) {
    points.push_back(measured(call, roofline_parts(call, constants, gpu).total_s()));
  }
  return points;
}

/// One point in ten takes three times as long or a third of it.
inline Points with_outliers(Points points) {
  testing::Dice dice(7, "outliers");
  for (MeasuredKernel& point : points) {
    if (dice.chance(10)) {
      point.seconds *= dice.chance(50) ? 3 : 1.0 / 3;
    }
  }
  return points;
}

/// Every m of some of every shape of some: latency, bandwidth and compute all decide somewhere.
inline std::vector<KernelCall> gemm_calls() {
  std::vector<KernelCall> calls;
  for (const double m : {1, 8, 64, 256, 1024, 4096, 16384}) {
    for (const double n : {128, 1024, 4096, 12288}) {
      for (const double k : {128, 2048, 8192}) {
        calls.push_back(gemm_call(m, n, k));
      }
    }
  }
  return calls;
}

inline std::vector<KernelCall> decode_calls() {
  std::vector<KernelCall> calls;
  for (const double batch : {1, 4, 32, 128}) {
    for (const double context : {2, 128, 1024, 8192, 65536}) {
      for (const std::pair<double, double> heads : {std::pair(8, 1), std::pair(8, 8), std::pair(64, 8)}) {
        calls.push_back(decode_call(batch, context, heads.first, heads.second));
      }
    }
  }
  return calls;
}

}  // namespace inferometer::test
