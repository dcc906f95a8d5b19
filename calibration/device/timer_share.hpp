#pragma once

// What the timer itself takes. Two events around a graph of n empty kernels are a + b n apart: a is the
// timer's own (the events and the start of the graph), b is a kernel's share of a graph, which any kernel has
// and which therefore stays in its time. Who uses it: timer.cpp.

#include <vector>

namespace inferometer {

/// Kernels of the two graphs. 32 more make b's error a thirty-second of the events'.
inline constexpr int kFewEmptyKernels = 1;
inline constexpr int kManyEmptyKernels = 33;

struct TimerShare {
  double own_seconds = 0;         ///< a, taken off every sample
  double per_kernel_seconds = 0;  ///< b
};

/// From samples of both graphs, by their medians; neither share is below 0. Preconditions: no set is empty.
TimerShare timer_share(std::vector<double> seconds_of_few, std::vector<double> seconds_of_many);

/// Precondition: not empty.
double median(std::vector<double> values);

}  // namespace inferometer
