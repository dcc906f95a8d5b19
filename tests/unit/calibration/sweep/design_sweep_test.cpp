#include "calibration/sweep/design_sweep.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "calibration/sweep/point_cost.hpp"
#include "tests/support/catch.hpp"

namespace inferometer {
namespace {

using Kind = std::pair<KernelFamily, std::string>;

SweepTarget h100(int gpus = 1) {
  return {load_gpu("h100-sxm"), 60e9, gpus};
}

Kind kind_of(const SweepPoint& point) {
  return {point.call.family, point.call.variant};
}

std::map<Kind, double> seconds_by_kind(const SweepPlan& plan) {
  std::map<Kind, double> seconds;
  for (const SweepPoint& point : plan.points) {
    seconds[kind_of(point)] += point.expected_seconds;
  }
  return seconds;
}

/// (n, k) of a product, heads and KV heads of an attention.
std::pair<double, double> shape_of(const KernelCall& call) {
  const bool is_product = call.family == KernelFamily::gemm;
  return {call.axes[axis_index(call.family, is_product ? "n" : "heads")],
          call.axes[axis_index(call.family, is_product ? "k" : "kv_heads")]};
}

TEST_CASE("a plan takes as long as its budget, or as all there is to measure") {
  for (const double budget : {30.0, 120.0, 300.0}) {
    const SweepPlan plan = design_sweep(h100(), budget);
    CHECK(plan.budget_seconds == budget);
    CHECK(plan.expected_seconds() <= budget);
    CHECK(plan.expected_seconds() > 0.9 * budget);
    for (const SweepPoint& point : plan.points) {
      CHECK(point.expected_seconds == expected_point_seconds(point.call, h100().gpu));
    }
  }
  // Each of a few elementwise calls takes milliseconds, and there are few of them.
  const std::vector<KindCandidates> few = {
      {{KernelFamily::elementwise, "copy"}, sweep_space({KernelFamily::elementwise, "copy"}, h100())}};
  CHECK(design_sweep(few, h100().gpu, 1e6).points.size() == few[0].calls.size());
}

TEST_CASE("a plan measures no call twice, and every kind") {
  const SweepPlan plan = design_sweep(h100(8), 120);
  std::set<std::string> calls;
  std::set<Kind> kinds;
  for (const SweepPoint& point : plan.points) {
    calls.insert(to_string(point.call));
    kinds.insert(kind_of(point));
  }
  CHECK(calls.size() == plan.points.size());
  CHECK(kinds.size() == swept_kinds(h100(8)).size());
}

TEST_CASE("the same target and budget give the same plan") {
  const SweepPlan one = design_sweep(h100(), 60), other = design_sweep(h100(), 60);
  CHECK(std::equal(
      one.points.begin(), one.points.end(), other.points.begin(), other.points.end(),
      [](const SweepPoint& a, const SweepPoint& b) { return a.call == b.call && a.use == b.use; }));
}

TEST_CASE("no point takes more than a four hundredth of the time of its kind, or 20 ms") {
  for (const double budget : {120.0, 1800.0}) {
    const SweepPlan plan = design_sweep(h100(), budget);
    const auto seconds = seconds_by_kind(plan);
    for (const SweepPoint& point : plan.points) {
      // A kind spends at most its share: what it spent is a lower bound of that share only where it ran out
      // of time.
      if (point.call.family == KernelFamily::prefill_attention) {
        CHECK(point.expected_seconds <= std::max(0.02, 1.02 * seconds.at(kind_of(point)) / 400));
      }
    }
  }
}

TEST_CASE("about one in eight shapes is held out, with all their points, of every family that steps") {
  const SweepPlan plan = design_sweep(h100(), 300);
  std::map<KernelFamily, std::map<std::pair<double, double>, std::set<PointUse>>> uses;
  for (const SweepPoint& point : plan.points) {
    if (point.call.family == KernelFamily::elementwise) {
      CHECK(point.use == PointUse::fit);
    } else {
      uses[point.call.family][shape_of(point.call)].insert(point.use);
      CHECK(use_of(point.call) == point.use);
    }
  }
  CHECK(uses.size() == 3);
  for (const auto& [family, shapes] : uses) {
    double held_out = 0;
    for (const auto& [shape, found] : shapes) {
      CHECK(found.size() == 1);
      held_out += found.contains(PointUse::held_out) ? 1 : 0;
    }
    INFO(to_string(family) << ": " << held_out << " of " << shapes.size());
    CHECK(held_out >= 2);
    CHECK(held_out <= 0.2 * static_cast<double>(shapes.size()));
  }
}

TEST_CASE("however early a plan is cut, each kind has had its part") {
  const SweepPlan plan = design_sweep(h100(), 120);
  std::map<Kind, double> all, so_far;
  for (const SweepPoint& point : plan.points) {
    all[kind_of(point)] += 1;
  }
  // Kinds take turns, and each turn is rounded.
  const double as_many_as_kinds = static_cast<double>(all.size());
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    so_far[kind_of(plan.points[i])] += 1;
    if (i % 500 == 499) {
      const double part = static_cast<double>(i + 1) / static_cast<double>(plan.points.size());
      for (const auto& [kind, count] : all) {
        CHECK(so_far[kind] == Approx(part * count).margin(as_many_as_kinds));
      }
    }
  }
}

TEST_CASE("a budget too short for a kind still measures one point of it, and no candidates are no points") {
  const std::vector<KindCandidates> one = {
      {{KernelFamily::gemm, "bf16"}, {KernelCall{KernelFamily::gemm, "bf16", {32768, 65536, 65536}}}}};
  CHECK(design_sweep(one, h100().gpu, 1e-3).points.empty());
  CHECK(design_sweep(one, h100().gpu, 1e6).points.size() == 1);
  CHECK(design_sweep(std::vector<KindCandidates>{{{KernelFamily::gemm, "bf16"}, {}}}, h100().gpu, 10)
            .points.empty());
  const SweepPlan tiny = design_sweep(h100(), 1e-3);
  CHECK(tiny.points.size() == swept_kinds(h100()).size());
}

}  // namespace
}  // namespace inferometer
