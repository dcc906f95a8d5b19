#include "costmodel/kernels/kernel_fit.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/portable_math.hpp"
#include "costmodel/kernels/kernel_work.hpp"
#include "costmodel/kernels/linear_trend.hpp"

namespace inferometer {
namespace {

double interpolated(const SizeCurve& curve, double bytes) {
  const auto above = std::upper_bound(curve.bytes.begin(), curve.bytes.end(), bytes);
  if (above == curve.bytes.begin()) {
    return curve.log_ratio.front();
  }
  if (above == curve.bytes.end()) {
    return curve.log_ratio.back();
  }
  const auto high = static_cast<std::size_t>(above - curve.bytes.begin());
  const double low_log = portable_log(curve.bytes[high - 1]);
  const double share = (portable_log(bytes) - low_log) / (portable_log(curve.bytes[high]) - low_log);
  return curve.log_ratio[high - 1] + share * (curve.log_ratio[high] - curve.log_ratio[high - 1]);
}

/// The curve of the smallest measured group that holds so many GPUs, else of the largest.
double curve_correction(const std::vector<SizeCurve>& curves, const KernelCall& call) {
  const auto holds = [&](const SizeCurve& curve) { return curve.gpus >= call.axes[0]; };
  const auto found = std::find_if(curves.begin(), curves.end(), holds);
  return interpolated(found == curves.end() ? curves.back() : *found, call.axes[1]);
}

std::string_view size_region(double size, double small, double large,
                             const std::array<std::string_view, 3>& names) {
  return size <= small ? names[0] : size <= large ? names[1] : names[2];
}

}  // namespace

double log_correction(const KernelFit& fit, const KernelCall& call, const GpuSpec& gpu) {
  double correction = 0;
  if (fit.trees.tree_count() > 0) {
    const KernelFeatures features = kernel_features(call, gpu);
    const bool in_l2 = fit.trees_in_l2.tree_count() > 0 && fits_in_l2(call, gpu);
    correction += (in_l2 ? fit.trees_in_l2 : fit.trees).value(features.span()) +
                  linear_trend(fit.slopes, fit.trees.edges(), features.span());
  }
  if (!fit.curves.empty()) {
    correction += curve_correction(fit.curves, call);
  }
  return correction;
}

double predicted_seconds(const KernelFit& fit, const KernelCall& call, const GpuSpec& gpu) {
  return roofline_parts(call, fit.roofline, gpu).total_s() * portable_exp(log_correction(fit, call, gpu));
}

double extrapolation(const KernelFit& fit, const KernelCall& call) {
  double farthest = 1;
  for (std::size_t i = 0; i < fit.range.size(); ++i) {
    const AxisRange range = fit.range[i];
    const double value = call.axes[i];
    if (value > range.high) {
      farthest = std::max(farthest, range.high > 0 ? value / range.high : HUGE_VAL);
    } else if (value < range.low) {
      farthest = std::max(farthest, value > 0 ? range.low / value : HUGE_VAL);
    }
  }
  return farthest;
}

const RegionError* error_of(const KernelFit& fit, std::string_view region) {
  const auto found = std::find_if(fit.regions.begin(), fit.regions.end(),
                                  [region](const RegionError& error) { return error.region == region; });
  if (found != fit.regions.end()) {
    return &*found;
  }
  return fit.regions.empty() ? nullptr : &fit.regions.front();
}

bool fits_in_l2(const KernelCall& call, const GpuSpec& gpu) {
  return call.family == KernelFamily::decode_attention &&
         kv_bytes(call) <= static_cast<double>(gpu.l2_cache.count());
}

std::string_view region_of(const KernelCall& call, const GpuSpec& gpu) {
  switch (call.family) {
    case KernelFamily::gemm:
      return size_region(call.axes[0], 64, 512, {"m to 64", "m 65 to 512", "m above 512"});
    case KernelFamily::prefill_attention:
    case KernelFamily::mla_prefill:
      return size_region(call.axes[1], 256, 2048,
                         {"tokens to 256", "tokens 257 to 2048", "tokens above 2048"});
    case KernelFamily::decode_attention:
      return fits_in_l2(call, gpu) ? "KV within L2" : "KV beyond L2";
    case KernelFamily::moe:
      return size_region(call.axes[0], 64, 512, {"tokens to 64", "tokens 65 to 512", "tokens above 512"});
    case KernelFamily::mla_decode:
      return size_region(
          call.axes[0] * call.axes[1], 65'536, 1'048'576,
          {"to 64 Ki cached tokens", "64 Ki to 1 Mi cached tokens", "above 1 Mi cached tokens"});
    case KernelFamily::collective:
      return size_region(call.axes[1], 65'536, 4'194'304, {"to 64 KiB", "64 KiB to 4 MiB", "above 4 MiB"});
    case KernelFamily::elementwise:
    case KernelFamily::host:
      return "all";
  }
  check_failed("family", __FILE__, __LINE__, "unknown kernel family");
}

}  // namespace inferometer
