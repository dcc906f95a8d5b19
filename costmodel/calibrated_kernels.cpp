#include "costmodel/calibrated_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "costmodel/calibrated_gemm.hpp"
#include "costmodel/correction_by_rows.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kCommonFormat = "bf16";
/// An operator that not every profile has, and what is measured in its stead.
struct StandIn {
  std::string_view variant, measured;
};

// Not every library fuses norm and residual; engines have an all-reduce of their own, sweeps that of NCCL.
constexpr StandIn kStandIns[] = {{"add_norm", "norm"}, {"all_reduce", "nccl_all_reduce"}};

// An error is drawn for a whole region. Those in the tails are of single points, and would make an operator
// ten times as slow at every size.
constexpr double kLeastDrawn = 0.05;

RooflineParts times(const RooflineParts& parts, double factor) {
  return {parts.start_up_s * factor, parts.compute_s * factor, parts.bandwidth_s * factor};
}

RooflineParts without(double launch_s, const RooflineParts& parts) {
  const double rest_s = std::max(launch_s - parts.start_up_s, 0.0);
  return {std::max(parts.start_up_s - launch_s, 0.0), std::max(parts.compute_s - rest_s, 0.0),
          std::max(parts.bandwidth_s - rest_s, 0.0)};
}

bool is_prefill(KernelFamily family) {
  return family == KernelFamily::prefill_attention || family == KernelFamily::mla_prefill;
}

bool is_attention(KernelFamily family) {
  return is_prefill(family) || family == KernelFamily::decode_attention || family == KernelFamily::mla_decode;
}

/// The measured value next to an axis that lies outside of all of them.
std::optional<double> nearest_measured(const KernelFit& fit, const KernelCall& call, std::size_t axis) {
  constexpr std::size_t kBatch = 0;
  constexpr std::size_t kLength = 1;
  const AxisRange range = fit.range[axis];
  const double value = call.axes[axis];
  if (call.family == KernelFamily::elementwise || (is_prefill(call.family) && axis == kBatch)) {
    return std::nullopt;
  }
  if (value > range.high) {
    return range.high;
  }
  const bool is_short = is_attention(call.family) && axis == kLength;
  return value < range.low && !is_short ? std::optional<double>(range.low) : std::nullopt;
}

}  // namespace

RoofTimes rounded(const RooflineParts& parts) {
  require_simulable(parts.total_s());
  return {.start_up = duration_from_seconds(parts.start_up_s),
          .compute = duration_from_seconds(parts.compute_s),
          .bandwidth = duration_from_seconds(parts.bandwidth_s)};
}

CalibratedKernels::CalibratedKernels(const KernelProfile& kernels, const GpuSpec& gpu,
                                     const Roofline& fallback, std::optional<std::uint64_t> resample)
    : kernels_(kernels), gpu_(gpu), fallback_(fallback), resample_(resample) {
}

ChosenFit CalibratedKernels::choose(const KernelCall& call) const {
  if (call.family == KernelFamily::collective &&
      fallback_.has_described_links(static_cast<std::int64_t>(call.axes[0]))) {
    return {};  // collectives were measured within one node, over its own links
  }
  if (const KernelFit* fit = find_fit(kernels_, call.family, call.variant)) {
    return {fit, call.variant, false};
  }
  for (const StandIn& other : kStandIns) {
    if (call.variant == other.variant) {
      return choose({call.family, std::string(other.measured), call.axes});
    }
  }
  const bool has_formats =
      call.family == KernelFamily::gemm || call.family == KernelFamily::moe || is_attention(call.family);
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
  return log_ratio_at(*error, kLeastDrawn + (1 - 2 * kLeastDrawn) * RandomStream(*resample_, path).uniform());
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
  if (work.family == OperatorFamily::gemm) {
    return rounded(CalibratedGemm(*this, work).parts(static_cast<std::int64_t>(work.call->axes[0])));
  }
  if (work.family == OperatorFamily::experts) {
    return rounded(own_parts(work, chosen, CorrectionByRows(*this, work).at(work.call->axes[0])));
  }
  // The call of chunks stands for whole prompts that are as much work, but read fewer keys.
  const RooflineParts found = work.family == OperatorFamily::prefill_attention
                                  ? own_parts(work, chosen, correction(work.name, chosen, *work.call))
                                  : parts(work.name, chosen, *work.call);
  if (work.family == OperatorFamily::collective) {
    require_simulable(found.total_s());
    return {.communication = duration_from_seconds(found.total_s())};
  }
  return rounded(work.shares_launch ? without(launch_s(work.name, chosen, *work.call), found) : found);
}

RooflineParts CalibratedKernels::own_parts(const Operator& work, const ChosenFit& chosen,
                                           double log_correction) const {
  const RooflineConstants& constants = chosen.fit->roofline;
  const Flops busy = work.flops + work.flops_per_key * ((constants.overhang_tokens - 1) / 2);
  const double peak_flops = peak(gpu_, kernel_work(*work.call).unit).count() * constants.compute_efficiency;
  const double bandwidth = gpu_.hbm_bandwidth.count() * constants.bandwidth_efficiency;
  return times({constants.start_up_s, busy.count() / peak_flops,
                static_cast<double>(work.hbm_bytes.count()) / bandwidth},
               portable_exp(log_correction));
}

double CalibratedKernels::launch_s(std::string_view operator_name, const ChosenFit& chosen,
                                   KernelCall call) const {
  call.axes[0] = 1;
  call.axes[1] = 1;
  return std::min(chosen.fit->roofline.start_up_s, parts(operator_name, chosen, call).total_s());
}

bool CalibratedKernels::is_extrapolated(const ChosenFit& chosen, const KernelCall& call) {
  for (std::size_t axis = 0; axis < chosen.fit->range.size(); ++axis) {
    if (nearest_measured(*chosen.fit, call, axis)) {
      return true;
    }
  }
  return chosen.is_scaled;
}

bool CalibratedKernels::is_extrapolated(const Operator& work) const {
  const ChosenFit chosen = work.call ? choose(*work.call) : ChosenFit{};
  return chosen.fit != nullptr ? is_extrapolated(chosen, *work.call) : fallback_.is_extrapolated(work);
}

std::vector<Extrapolation> CalibratedKernels::extrapolations(const Operator& work) const {
  std::vector<Extrapolation> list;
  const ChosenFit chosen = work.call ? choose(*work.call) : ChosenFit{};
  if (chosen.fit == nullptr) {
    return list;
  }
  const auto axes = info(work.call->family).axes;
  for (std::size_t i = 0; i < chosen.fit->range.size(); ++i) {
    if (const auto measured = nearest_measured(*chosen.fit, *work.call, i)) {
      // The call of prompt chunks stands for whole prompts that are as much work.
      const bool is_prompt = is_prefill(work.call->family) && axes[i] == "tokens";
      list.push_back({std::string(work.name), is_prompt ? "tokens + 2 past" : std::string(axes[i]),
                      work.call->axes[i], *measured});
    }
  }
  return list;
}

}  // namespace inferometer
