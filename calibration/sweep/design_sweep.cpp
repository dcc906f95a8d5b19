#include "calibration/sweep/design_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/random.hpp"
#include "calibration/sweep/point_cost.hpp"

namespace inferometer {
namespace {

// No point takes more than this part of the time of its kind, or than this time where that is more.
constexpr double kDearestPoint = 1.0 / 400;
constexpr double kCheapPointSeconds = 20e-3;
// Shapes held out, of a kind with trees.
constexpr double kHeldOutShapes = 0.125;

/// Shares of the time. By learning curves over the tables of aiconfigurator: GEMMs in fp8 need most points
/// for the same error, decode attention fewest.
double weight_of(const SweptKind& kind) {
  switch (kind.family) {
    case KernelFamily::gemm:
      return kind.variant == "fp8" ? 25 : 20;
    case KernelFamily::prefill_attention:
      return 26;
    case KernelFamily::decode_attention:
      return kind.variant == "bf16" ? 18 : 7;
    case KernelFamily::elementwise:
      return 0.5;
    case KernelFamily::collective:
      return 2;
    case KernelFamily::moe:
    case KernelFamily::mla_prefill:
    case KernelFamily::mla_decode:
    case KernelFamily::host:
      break;
  }
  return 0;
}

/// The axes that make a shape, as text.
std::string shape_of(const KernelCall& call) {
  const auto axis = [&](const char* name) {
    return std::to_string(call.axes[axis_index(call.family, name)]) + "/";
  };
  switch (call.family) {
    case KernelFamily::gemm:
      return axis("n") + axis("k");
    case KernelFamily::prefill_attention:
    case KernelFamily::decode_attention:
      return axis("heads") + axis("kv_heads");
    default:
      return "";
  }
}

/// The calls that may be measured in the time of their kind, in random order.
std::vector<KernelCall> affordable_calls(const KindCandidates& candidates, const GpuSpec& gpu,
                                         double seconds) {
  const double dearest_s = std::max(kDearestPoint * seconds, kCheapPointSeconds);
  std::vector<KernelCall> calls = candidates.calls;
  std::erase_if(calls, [&](const KernelCall& call) { return expected_point_seconds(call, gpu) > dearest_s; });
  RandomStream random(0, "calibration/sweep/" + std::string(to_string(candidates.kind.family)) + "/" +
                             candidates.kind.variant);
  for (std::size_t i = calls.size(); i > 1; --i) {
    std::swap(calls[i - 1], calls[random.below(i)]);
  }
  return calls;
}

/// At least one, whatever it takes.
std::vector<SweepPoint> points_of(const KindCandidates& candidates, const GpuSpec& gpu, double seconds) {
  std::vector<SweepPoint> points;
  double left = seconds;
  for (const KernelCall& call : affordable_calls(candidates, gpu, seconds)) {
    const double cost = expected_point_seconds(call, gpu);
    left -= cost;
    if (left < 0 && !points.empty()) {
      break;
    }
    points.push_back({call, use_of(call), cost});
  }
  return points;
}

/// Puts the kinds together so that at any time each has had the same part of its own points.
std::vector<SweepPoint> interleaved(const std::vector<std::vector<SweepPoint>>& kinds) {
  struct Place {
    double part;  ///< of its kind's points that lie before it
    const SweepPoint* point;
  };
  std::vector<Place> places;
  for (const std::vector<SweepPoint>& points : kinds) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      places.push_back({static_cast<double>(i) / static_cast<double>(points.size()), &points[i]});
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.part < b.part; });
  std::vector<SweepPoint> result;
  for (const Place& place : places) {
    result.push_back(*place.point);
  }
  return result;
}

}  // namespace

PointUse use_of(const KernelCall& call) {
  const std::string shape = shape_of(call);
  if (shape.empty()) {
    return PointUse::fit;
  }
  RandomStream random(0, "calibration/held-out/" + shape);
  return random.uniform() < kHeldOutShapes ? PointUse::held_out : PointUse::fit;
}

SweepPlan design_sweep(const std::vector<KindCandidates>& candidates, const GpuSpec& gpu,
                       double budget_seconds) {
  INFEROMETER_CHECK(budget_seconds > 0, "a sweep takes time");
  double weights = 0;
  for (const KindCandidates& one : candidates) {
    weights += weight_of(one.kind);
  }
  std::vector<std::vector<SweepPoint>> kinds;
  for (const KindCandidates& one : candidates) {
    kinds.push_back(points_of(one, gpu, budget_seconds * weight_of(one.kind) / weights));
  }
  return {interleaved(kinds), budget_seconds};
}

SweepPlan design_sweep(const SweepTarget& target, double budget_seconds) {
  std::vector<KindCandidates> candidates;
  for (const SweptKind& kind : swept_kinds(target)) {
    candidates.push_back({kind, sweep_space(kind, target)});
  }
  return design_sweep(candidates, target.gpu, budget_seconds);
}

}  // namespace inferometer
