#pragma once

// The small kernels around a timed one. Who uses it: timer.cpp, collective_runner.cpp.

#include <cstdint>

#include "calibration/device/clock_stamp.hpp"
#include "kernels/common/kernel_status.hpp"

namespace inferometer {

/// Stamps are stored by the number of the SM; GPUs have 78 to 160.
inline constexpr int kStampedSms = 1024;

/// What a flush writes and reads, in sizes of the L2 cache: one size could leave lines of before, as the
/// cache chooses what to drop by a hash of the address.
inline constexpr std::int64_t kFlushedL2Sizes = 2;

/// Nothing, `count` times in a row.
kernels::LaunchResult launch_empty(int count, kernels::Stream stream);

/// Each SM writes its counters to stamps[its number]; `stamps` has kStampedSms elements in device memory.
kernels::LaunchResult launch_stamps(ClockStamp* stamps, int sm_count, kernels::Stream stream);

/// Leaves nothing in the L2 cache that a measured kernel reads, and nothing that it must write back for
/// others: writes all of `buffer`, which is twice the L2 cache, then reads it, so that the lines that stay
/// are as in memory. `bytes` is a multiple of 16.
kernels::LaunchResult launch_l2_flush(void* buffer, std::int64_t bytes, int sm_count, kernels::Stream stream);

/// Keeps the stream busy for so long, while the host queues what follows.
kernels::LaunchResult launch_hold(std::int64_t nanoseconds, kernels::Stream stream);

}  // namespace inferometer
