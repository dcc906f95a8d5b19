// Any bytes as a profile of kernels: either a ConfigError that says something, or a profile that predicts
// times for what its kernels are asked for and is written and read again as the same one.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "costmodel/kernels/kernel_profile.hpp"

namespace {

using namespace inferometer;

void expect(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// A call with the same value on every axis.
KernelCall call_of(const KernelFit& fit, double value) {
  KernelCall call{.family = fit.family, .variant = fit.variant};
  for (std::size_t axis = 0; axis < fit.range.size(); ++axis) {
    call.axes[axis] = value;
  }
  return call;
}

void check(const KernelFit& fit, const GpuSpec& gpu) {
  expect(fit.points >= 1 && fit.range.size() == info(fit.family).axes.size());
  for (const double value : {1.0, 2.0, 100.0, 1e5}) {
    const KernelCall call = call_of(fit, value);
    const double seconds = predicted_seconds(fit, call, gpu);
    expect(std::isfinite(seconds) && seconds >= 0);
    expect(extrapolation(fit, call) >= 1);
    expect(!region_of(call, gpu).empty());
  }
  for (const RegionError& error : fit.regions) {
    expect(error.points >= 1 && log_ratio_at(error, 0.05) <= log_ratio_at(error, 0.95));
  }
}

std::string read_and_written(const std::string& text) {
  return to_json(parse_kernel_profile(text, "profile.json"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const GpuSpec kGpu = load_gpu("h100-sxm");
  try {
    const KernelProfile profile =
        parse_kernel_profile({reinterpret_cast<const char*>(data), size}, "profile.json");
    for (const KernelFit& fit : profile.fits) {
      check(fit, kGpu);
    }
    // Written numbers have fewer digits than some that were read, and -0 comes back as 0: the same from then
    // on.
    const std::string text = read_and_written(to_json(profile));
    expect(read_and_written(text) == text);
  } catch (const ConfigError& error) {
    expect(!error.diagnostics().empty() && !error.diagnostics().front().message.empty());
  }
  return 0;
}
