#include "calibration/record/plausibility.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

constexpr double kLongSeconds = 10e-6;
constexpr std::size_t kEnoughLongPoints = 5;

// Medians over the published tables lie between 1.1 and 5.
constexpr double kLeastRatio = 0.5;
constexpr double kMostRatio = 30;

// Kernels of no work to speak of take 2 us to 1 ms with everything around them.
constexpr double kLeastShortSeconds = 0.1e-6;
constexpr double kMostShortSeconds = 3e-3;

// Clocks above those that the datasheet's peak stands for, and rounded times.
constexpr double kFasterThanDatasheet = 0.9;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The units next to the one that a file should hold: times that are too long are of the shorter one.
std::string_view other_unit(std::string_view unit, bool is_too_long) {
  if (unit == "ns") {
    return is_too_long ? "ps" : "us";
  }
  return is_too_long ? "us" : "s";
}

/// The time that nothing can undercut, not even data in a cache.
double least_seconds(const KernelCall& call, const KernelWork& work, const GpuSpec& gpu) {
  KernelWork certain = work;
  // Which experts are reached is only known on the average: a skewed choice reaches fewer.
  const bool is_moe = call.family == KernelFamily::moe;
  if (is_moe || work.hbm_bytes <= 2 * static_cast<double>(gpu.l2_cache.count())) {
    certain.hbm_bytes = 0;
  }
  if (is_moe && call.axes[axis_index(KernelFamily::moe, "expert_parallel")] > 1) {
    certain.flops = 0;
  }
  return datasheet_seconds(certain, gpu);
}

}  // namespace

void check_time_scale(const Measurements& set, const GpuSpec& gpu, const std::string& file,
                      std::string_view unit) {
  std::vector<double> ratios;
  std::vector<double> short_seconds;
  for (const MeasuredKernel& point : set.points) {
    if (point.call.family == KernelFamily::host) {
      continue;
    }
    const double least = datasheet_seconds(kernel_work(point.call), gpu);
    if (least > kLongSeconds) {
      ratios.push_back(point.seconds / least);
    } else {
      short_seconds.push_back(point.seconds);
    }
  }
  const auto refuse = [&](bool is_too_long, const std::string& what) {
    throw ConfigError(Position{file, 0, 0},
                      fmt::format("{}: the times look like {} instead of {}, or the GPU is "
                                  "not {}",
                                  what, other_unit(unit, is_too_long), unit, gpu.name));
  };
  if (ratios.size() >= kEnoughLongPoints) {
    const double middle = median(ratios);
    if (middle < kLeastRatio || middle > kMostRatio) {
      refuse(middle > kMostRatio,
             fmt::format("half of {} points take {:.4g} times what the datasheet says or {}", ratios.size(),
                         middle, middle > kMostRatio ? "more" : "less"));
    }
  } else if (!short_seconds.empty()) {
    const double middle = median(short_seconds);
    if (middle < kLeastShortSeconds || middle > kMostShortSeconds) {
      refuse(middle > kMostShortSeconds,
             fmt::format("half of {} points that the GPU needs less than 10 us for take {:.4g} us or {}",
                         short_seconds.size(), middle * 1e6, middle > kMostShortSeconds ? "more" : "less"));
    }
  }
}

void set_suspects_apart(Measurements& set, const GpuSpec& gpu) {
  const auto is_suspect = [&](const MeasuredKernel& point) {
    const double least = least_seconds(point.call, kernel_work(point.call), gpu);
    if (point.seconds >= kFasterThanDatasheet * least) {
      return false;
    }
    set.suspects.push_back(
        {point.where, fmt::format("{} in {:.6g} us; the datasheet allows no less than {:.6g} us",
                                  to_string(point.call), point.seconds * 1e6, least * 1e6)});
    return true;
  };
  set.points.erase(std::remove_if(set.points.begin(), set.points.end(), is_suspect), set.points.end());
}

}  // namespace inferometer
