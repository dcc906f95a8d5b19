// A sweep proved before a GPU is seen: published tables of a GPU answer in its stead. The plan chooses among
// the calls of its space that a table has, a profile is fitted to those, and judged on the rest of the table.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>

#include "calibration/fit/kernel_fitting.hpp"
#include "calibration/record/read_measurements.hpp"
#include "calibration/sweep/design_sweep.hpp"
#include "costmodel/kernels/prediction_error.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Axes = std::array<double, kMostAxes>;
using Points = std::vector<MeasuredKernel>;

const std::string kTables = std::string(INFEROMETER_SHARED_DATA) + "/aiconfigurator/csv/";

/// Bounds of the calibrated cost model's errors, in percent, and by how much a sweep may miss them.
struct Bound {
  double median, mean;
};
constexpr double kAllowance = 1.5;

struct Case {
  const char* gpu;
  const char* folder;
  SweptKind kind;
  Bound unseen_shapes;
  Bound unseen_rows;  ///< GEMM only
};

const Case kCases[] = {
    {"h100-sxm", "h100_sxm", {KernelFamily::gemm, "bf16"}, {2.5, 4.5}, {2.5, 5}},
    {"h100-sxm", "h100_sxm", {KernelFamily::gemm, "fp8"}, {3, 5}, {2.5, 5}},
    {"h100-sxm", "h100_sxm", {KernelFamily::prefill_attention, "bf16"}, {3, 5}, {}},
    {"h100-sxm", "h100_sxm", {KernelFamily::decode_attention, "bf16"}, {1.5, 3}, {}},
    {"h200-sxm", "h200_sxm", {KernelFamily::gemm, "bf16"}, {2.5, 4.5}, {2.5, 5}},
    {"h200-sxm", "h200_sxm", {KernelFamily::gemm, "fp8"}, {3, 5}, {2.5, 5}},
    {"h200-sxm", "h200_sxm", {KernelFamily::prefill_attention, "bf16"}, {3, 5}, {}},
    {"h200-sxm", "h200_sxm", {KernelFamily::decode_attention, "bf16"}, {1.5, 3}, {}},
    {"a100-80gb-sxm", "a100_sxm", {KernelFamily::gemm, "bf16"}, {3.5, 6}, {4, 7}},
    {"a100-80gb-sxm", "a100_sxm", {KernelFamily::prefill_attention, "bf16"}, {3, 5}, {}},
    {"a100-80gb-sxm", "a100_sxm", {KernelFamily::decode_attention, "bf16"}, {2, 5}, {}},
};

/// Heads of 192 and 512 elements are in the tables, and cannot be run by the kernels that are swept.
bool can_be_swept(const KernelCall& call) {
  if (call.family == KernelFamily::gemm) {
    return true;
  }
  const double head_dim = call.axes[axis_index(call.family, "head_dim")];
  return head_dim == 64 || head_dim == 128 || head_dim == 256;
}

/// What vLLM's kernels of a kind took.
Points measured(const Case& one) {
  Points points;
  for (const Measurements& set : read_measurements({kTables + one.folder}, {one.gpu})) {
    if (set.header.library != "vllm") {
      continue;
    }
    for (const MeasuredKernel& point : set.points) {
      if (point.call.family == one.kind.family && point.call.variant == one.kind.variant &&
          can_be_swept(point.call)) {
        points.push_back(point);
      }
    }
  }
  return points;
}

bool is_same_kind(const KernelCall& a, const KernelCall& b) {
  return a.family == b.family && a.variant == b.variant;
}

/// How a plan did on the rest of a table.
struct Outcome {
  std::vector<TimePair> unseen_shapes;  ///< no point of their shape was fitted to
  std::vector<TimePair> unseen_sizes;   ///< other sizes of their shape were
  std::size_t chosen = 0;
};

/// (n, k) of a product, heads and KV heads of an attention.
std::pair<double, double> shape_of(const KernelCall& call) {
  const bool is_gemm = call.family == KernelFamily::gemm;
  return {call.axes[axis_index(call.family, is_gemm ? "n" : "heads")],
          call.axes[axis_index(call.family, is_gemm ? "k" : "kv_heads")]};
}

/// The plan for a GPU that can run nothing but the calls of a table.
SweepPlan plan_within(const Points& table, const SweptKind& kind, const SweepTarget& target, double seconds) {
  std::set<Axes> answers;
  for (const MeasuredKernel& point : table) {
    answers.insert(point.call.axes);
  }
  KindCandidates candidates{kind, sweep_space(kind, target)};
  std::erase_if(candidates.calls, [&](const KernelCall& call) { return !answers.contains(call.axes); });
  return design_sweep({candidates}, target.gpu, seconds);
}

/// Seconds that a plan for the whole GPU gives to a kind.
double share_of(const SweepPlan& plan, const SweptKind& kind) {
  double seconds = 0;
  for (const SweepPoint& point : plan.points) {
    if (point.call.family == kind.family && point.call.variant == kind.variant) {
      seconds += point.expected_seconds;
    }
  }
  return seconds;
}

/// What is known of a table after the points of a plan were taken from it, but for those held out.
Outcome judged(const Points& table, const SweepPlan& plan, const GpuSpec& gpu) {
  std::map<Axes, const MeasuredKernel*> answers;
  for (const MeasuredKernel& point : table) {
    answers[point.call.axes] = &point;
  }
  Points known;
  std::set<Axes> seen_calls;
  std::set<std::pair<double, double>> seen_shapes;
  for (const SweepPoint& point : plan.points) {
    const auto answer = answers.find(point.call.axes);
    if (point.use == PointUse::fit && is_same_kind(point.call, table[0].call) && answer != answers.end()) {
      known.push_back(*answer->second);
      seen_calls.insert(point.call.axes);
      seen_shapes.insert(shape_of(point.call));
    }
  }
  REQUIRE_FALSE(known.empty());
  const KernelFit fit = fit_kernel(known, gpu);
  Outcome outcome;
  outcome.chosen = known.size();
  for (const MeasuredKernel& point : table) {
    if (!seen_calls.contains(point.call.axes) && !was_read_from_cache(point, gpu)) {
      const TimePair pair{predicted_seconds(fit, point.call, gpu), point.seconds};
      (seen_shapes.contains(shape_of(point.call)) ? outcome.unseen_sizes : outcome.unseen_shapes)
          .push_back(pair);
    }
  }
  return outcome;
}

SweepTarget target_of(const char* name) {
  const GpuSpec gpu = load_gpu(name);
  return {.gpu = gpu, .memory_bytes = 0.8 * static_cast<double>(gpu.hbm_usable.count()), .gpus = 1};
}

void check_bound(const std::string& what, const std::vector<TimePair>& pairs, Bound bound) {
  REQUIRE_FALSE(pairs.empty());
  const RegionError error = region_error("all", pairs);
  std::printf("    %s: %zu points, median %.2f %% (at most %.2f), mean %.2f %% (at most %.2f)\n",
              what.c_str(), pairs.size(), 100 * error.median, kAllowance * bound.median, 100 * error.mean,
              kAllowance * bound.mean);
  CHECK(100 * error.median <= kAllowance * bound.median);
  CHECK(100 * error.mean <= kAllowance * bound.mean);
}

void check_sweep(double budget_seconds, std::span<const Case> cases) {
  if (!std::filesystem::exists(kTables)) {
    WARN("skipped: no measured data at " << kTables);
    return;
  }
  for (const Case& one : cases) {
    const SweepTarget target = target_of(one.gpu);
    const Points table = prepared(measured(one), target.gpu);
    const double seconds = share_of(design_sweep(target, budget_seconds), one.kind);
    Outcome outcome = judged(table, plan_within(table, one.kind, target, seconds), target.gpu);
    std::printf("%s %s %s, %.0f s: %zu points of %zu\n", one.gpu,
                std::string(to_string(one.kind.family)).c_str(), one.kind.variant.c_str(), seconds,
                outcome.chosen, table.size());
    if (one.kind.family == KernelFamily::gemm) {
      check_bound("unseen (n, k)", outcome.unseen_shapes, one.unseen_shapes);
      check_bound("unseen rows", outcome.unseen_sizes, one.unseen_rows);
    } else {
      outcome.unseen_shapes.insert(outcome.unseen_shapes.end(), outcome.unseen_sizes.begin(),
                                   outcome.unseen_sizes.end());
      check_bound("the rest", outcome.unseen_shapes, one.unseen_shapes);
    }
  }
}

TEST_CASE("a sweep of five minutes knows a GPU within one and a half times the bounds of whole tables") {
  check_sweep(300, kCases);
}

TEST_CASE("a sweep of two minutes knows an H100 within one and a half times the bounds of whole tables") {
  check_sweep(120, std::span(kCases).first(4));
}

}  // namespace
}  // namespace inferometer
