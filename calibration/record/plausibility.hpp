#pragma once

// What no GPU can have measured. Who uses it: read_measurements(), for each file.

#include <string>
#include <string_view>

#include "calibration/record/measurement.hpp"
#include "hardware/gpu_spec.hpp"

namespace inferometer {

/// Throws ConfigError when the times of `points` as a whole are so far from the datasheet that the file must
/// hold another unit than `unit` ("ms", "ns") or be of another GPU: by the median of time over least time of
/// the points that take the GPU 10 us or more, else by the median time of the shorter ones.
void check_time_scale(const Measurements& set, const GpuSpec& gpu, const std::string& file,
                      std::string_view unit);

/// Moves points that are faster than 0.9 of the datasheet's time to the suspects: those that arithmetic or a
/// link bounds, and those whose data are more than twice the L2 cache, so that they come from memory. O(n).
void set_suspects_apart(Measurements& set, const GpuSpec& gpu);

}  // namespace inferometer
