#include "costmodel/calibrated_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"
#include "base/random.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kCommonFormat = "bf16";

RoofTimes rounded(const RooflineParts& parts) {
  require_simulable(parts.total_s());
  return {.start_up = duration_from_seconds(parts.start_up_s),
          .compute = duration_from_seconds(parts.compute_s),
          .bandwidth = duration_from_seconds(parts.bandwidth_s)};
}

RooflineParts times(const RooflineParts& parts, double factor) {
  return {parts.start_up_s * factor, parts.compute_s * factor, parts.bandwidth_s * factor};
}

/// The error of a region; where none was measured, of the first.
const RegionError* error_of(const KernelFit& fit, std::string_view region) {
  const auto found = std::find_if(fit.regions.begin(), fit.regions.end(),
                                  [region](const RegionError& error) { return error.region == region; });
  if (found != fit.regions.end()) {
    return &*found;
  }
  return fit.regions.empty() ? nullptr : &fit.regions.front();
}

}  // namespace

CalibratedKernels::CalibratedKernels(const KernelProfile& kernels, const GpuSpec& gpu,
                                     const Roofline& fallback, std::optional<std::uint64_t> resample)
    : kernels_(kernels), gpu_(gpu), fallback_(fallback), resample_(resample) {
}

ChosenFit CalibratedKernels::choose(const KernelCall& call) const {
  if (const KernelFit* fit = find_fit(kernels_, call.family, call.variant)) {
    return {fit, call.variant, false};
  }
  const bool has_formats = call.family == KernelFamily::gemm ||
                           call.family == KernelFamily::prefill_attention ||
                           call.family == KernelFamily::decode_attention;
  const KernelFit* common = has_formats ? find_fit(kernels_, call.family, kCommonFormat) : nullptr;
  return common != nullptr ? ChosenFit{common, std::string(kCommonFormat), true} : ChosenFit{};
}

double CalibratedKernels::resampled(std::string_view operator_name, const KernelFit& fit,
                                    const KernelCall& call) const {
  const std::string_view region = region_of(call, gpu_);
  const RegionError* error = resample_ ? error_of(fit, region) : nullptr;
  if (error == nullptr) {
    return 0;
  }
  // One draw for each operator and region of a run: errors of neighbouring sizes go together.
  std::string path = "uncertainty/" + std::to_string(*resample_) + "/";
  path.append(operator_name).append("/").append(region);
  return log_ratio_at(*error, RandomStream(*resample_, path).uniform());
}

double CalibratedKernels::correction(std::string_view operator_name, const ChosenFit& chosen,
                                     const KernelCall& call) const {
  KernelCall measured = call;
  measured.variant = chosen.measured_variant;
  return log_correction(*chosen.fit, measured, gpu_) + resampled(operator_name, *chosen.fit, call);
}

RooflineParts CalibratedKernels::parts(std::string_view operator_name, const ChosenFit& chosen,
                                       const KernelCall& call) const {
  return times(roofline_parts(call, chosen.fit->roofline, gpu_),
               portable_exp(correction(operator_name, chosen, call)));
}

RoofTimes CalibratedKernels::time(const Operator& work) const {
  const ChosenFit chosen = work.call ? choose(*work.call) : ChosenFit{};
  if (chosen.fit == nullptr) {
    return fallback_.time(work);
  }
  if (work.family == OperatorFamily::elementwise) {
    // Kernels that were measured read and write other things than ours, which fuse more: only their start-up
    // and bandwidth carry over.
    const RooflineConstants& constants = chosen.fit->roofline;
    const double bytes = static_cast<double>(work.hbm_bytes.count());
    return rounded(
        {constants.start_up_s, 0, bytes / (gpu_.hbm_bandwidth.count() * constants.bandwidth_efficiency)});
  }
  const RooflineParts found = parts(work.name, chosen, *work.call);
  if (work.family == OperatorFamily::collective) {
    require_simulable(found.total_s());
    return {.communication = duration_from_seconds(found.total_s())};
  }
  RoofTimes result = rounded(found);
  if (work.shares_launch) {
    result.start_up = Duration();
  }
  return result;
}

bool CalibratedKernels::is_extrapolated(const Operator& work) const {
  const ChosenFit chosen = work.call ? choose(*work.call) : ChosenFit{};
  return chosen.fit != nullptr && (chosen.is_scaled || extrapolation(*chosen.fit, *work.call) > 1);
}

}  // namespace inferometer
