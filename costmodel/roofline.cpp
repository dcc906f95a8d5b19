#include "costmodel/roofline.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/error.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

Roofs scaled(const GpuSpec& gpu, const KernelEfficiency& efficiency, double slowness) {
  return {slowed(efficiency.start_up, slowness),
          FlopsPerSecond(gpu.bf16_peak.count() * efficiency.compute_efficiency / slowness),
          BytesPerSecond(gpu.hbm_bandwidth.count() * efficiency.bandwidth_efficiency / slowness)};
}

}  // namespace

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::compute:
      return "compute";
    case Bound::bandwidth:
      return "bandwidth";
    case Bound::start_up:
      return "start-up";
    case Bound::communication:
      return "communication";
  }
  check_failed("bound", __FILE__, __LINE__, "unknown bound");
}

Bound bound_of(const RoofTimes& times) {
  const Duration roof = std::max(times.compute, times.bandwidth);
  if (times.communication > std::max(roof, times.start_up)) {
    return Bound::communication;
  }
  if (times.start_up > roof) {
    return Bound::start_up;
  }
  return times.compute_bound() ? Bound::compute : Bound::bandwidth;
}

double arithmetic_intensity(Flops flops, Bytes bytes) {
  return bytes.count() == 0 ? 0 : flops.count() / static_cast<double>(bytes.count());
}

void require_simulable(double seconds) {
  constexpr double kLongestStepSeconds = 1e6;
  if (!(seconds <= kLongestStepSeconds)) {
    throw ConfigError(
        Position{"cost_model"},
        "a step would take more than 11 days: the efficiencies or the figures of the GPU are too "
        "low for such a model and batch");
  }
}

std::int64_t whole_picoseconds(double seconds) {
  require_simulable(seconds);
  return duration_from_seconds(seconds).count();
}

Roofline::Roofline(const GpuSpec& gpu, const Profile& profile, CostLevel level,
                   const Parallelism& parallelism)
    : fitted_(level == CostLevel::roofline), links_(gpu, profile, fitted_, parallelism) {
  const KernelEfficiency ideal;
  const auto roofs = [&](const KernelEfficiency& fit) {
    return scaled(gpu, fitted_ ? fit : ideal, parallelism.slowness());
  };
  gemm_ = roofs(profile.gemm);
  prefill_attention_ = roofs(profile.prefill_attention);
  decode_attention_ = roofs(profile.decode_attention);
  elementwise_ = roofs(profile.elementwise);
  fp8_speed_ = peak(gpu, MathUnit::fp8).count() / gpu.bf16_peak.count();
  if (fitted_) {
    decode_per_sequence_head_ = slowed(profile.decode_per_sequence_head, parallelism.slowness());
    overhang_keys_ = static_cast<double>(profile.overhang_tokens - 1) / 2;
  }
}

bool Roofline::is_extrapolated(const Operator& work) const {
  return fitted_ && links_.is_estimate(work);
}

Roofs Roofline::roofs(OperatorFamily family) const {
  switch (family) {
    case OperatorFamily::gemm:
    case OperatorFamily::experts:
      return gemm_;
    case OperatorFamily::prefill_attention:
      return prefill_attention_;
    case OperatorFamily::decode_attention:
      return decode_attention_;
    case OperatorFamily::elementwise:
    case OperatorFamily::collective:
    case OperatorFamily::transfer:
      return elementwise_;
  }
  check_failed("family", __FILE__, __LINE__, "unknown operator family");
}

Roofs Roofline::roofs_of(const Operator& work) const {
  Roofs family = roofs(work.family);
  const bool is_product = work.family == OperatorFamily::gemm || work.family == OperatorFamily::experts;
  if (is_product && work.call && kernel_work(*work.call).unit == MathUnit::fp8) {
    family.compute = family.compute * fp8_speed_;
  }
  return family;
}

RoofTimes Roofline::time(const Operator& work) const {
  if (work.family == OperatorFamily::collective || work.family == OperatorFamily::transfer) {
    return {.communication = links_.time(work)};
  }
  const Roofs family = roofs_of(work);
  const Flops busy = work.flops + work.flops_per_key * overhang_keys_;
  require_simulable(std::max(busy.count() / family.compute.count(),
                             static_cast<double>(work.hbm_bytes.count()) / family.bandwidth.count()));
  return {.start_up = (work.shares_launch ? Duration() : family.start_up) +
                      decode_per_sequence_head_ * work.sequence_heads,
          .compute = busy / family.compute,
          .bandwidth = work.hbm_bytes / family.bandwidth};
}

}  // namespace inferometer
