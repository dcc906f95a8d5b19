#include "calibration/fit/kernel_fitting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "base/random.hpp"
#include "calibration/fit/boosted_trees.hpp"
#include "calibration/fit/roofline_fit.hpp"
#include "calibration/fit/trend_and_trees.hpp"
#include "costmodel/kernels/kernel_work.hpp"

namespace inferometer {
namespace {

using Axes = std::array<double, kMostAxes>;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<MeasuredKernel> without_duplicates(std::span<const MeasuredKernel> points) {
  std::map<Axes, std::size_t> place;
  std::vector<MeasuredKernel> result;
  std::vector<std::vector<double>> times;
  for (const MeasuredKernel& point : points) {
    const auto [found, is_new] = place.emplace(point.call.axes, result.size());
    if (is_new) {
      result.push_back(point);
      times.emplace_back();
    }
    times[found->second].push_back(point.seconds);
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i].seconds = median_of(std::move(times[i]));
  }
  return result;
}

/// Seconds a byte takes by the bandwidth that the points show. The L2 cache is faster than memory, and the
/// search wants an efficiency below one: it is told of a memory several times as fast.
double seconds_per_byte(std::span<const MeasuredKernel> points, GpuSpec gpu) {
  constexpr double kFasterThanAnyCache = 8;
  gpu.hbm_bandwidth = gpu.hbm_bandwidth * kFasterThanAnyCache;
  const RooflineConstants constants = fit_roofline(points, gpu);
  return 1 / (gpu.hbm_bandwidth.count() * constants.bandwidth_efficiency);
}

/// Decode attention as if its keys and values came from memory each time.
std::vector<MeasuredKernel> cooled(std::vector<MeasuredKernel> points, const GpuSpec& gpu) {
  constexpr double kWhollyCached = 0.8;  // of L2; above that some of it has been pushed out
  const double cached_bytes = kWhollyCached * static_cast<double>(gpu.l2_cache.count());
  std::vector<MeasuredKernel> cold, warm;
  for (MeasuredKernel& point : points) {
    if (!was_read_from_cache(point, gpu)) {
      cold.push_back(std::move(point));
    } else if (kv_bytes(point.call) <= cached_bytes) {
      warm.push_back(std::move(point));
    }
  }
  if (cold.empty() || warm.empty()) {
    return cold.empty() ? warm : cold;
  }
  const double slower = seconds_per_byte(cold, gpu) - seconds_per_byte(warm, gpu);
  for (MeasuredKernel& point : warm) {
    point.seconds += std::max(0.0, slower) * kv_bytes(point.call);
    cold.push_back(std::move(point));
  }
  return cold;
}

/// Points that were not read from the cache; all of them if there are no others.
std::vector<MeasuredKernel> measured_as_they_happen(std::span<const MeasuredKernel> points,
                                                    const GpuSpec& gpu) {
  std::vector<MeasuredKernel> result;
  std::copy_if(points.begin(), points.end(), std::back_inserter(result),
               [&](const MeasuredKernel& point) { return !was_read_from_cache(point, gpu); });
  return result.empty() ? std::vector<MeasuredKernel>(points.begin(), points.end()) : result;
}

std::vector<AxisRange> ranges_of(std::span<const MeasuredKernel> points) {
  std::vector<AxisRange> ranges(info(points[0].call.family).axes.size());
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    const auto [low, high] = std::minmax_element(points.begin(), points.end(),
                                                 [axis](const MeasuredKernel& a, const MeasuredKernel& b) {
                                                   return a.call.axes[axis] < b.call.axes[axis];
                                                 });
    ranges[axis] = {low->call.axes[axis], high->call.axes[axis]};
  }
  return ranges;
}

std::vector<double> distinct_rows(std::span<const MeasuredKernel> points) {
  std::set<double> rows;
  for (const MeasuredKernel& point : points) {
    rows.insert(point.call.axes[0]);
  }
  return {rows.begin(), rows.end()};
}

double log_ratio(const MeasuredKernel& point, const KernelFit& fit, const GpuSpec& gpu) {
  return std::log(point.seconds / roofline_parts(point.call, fit.roofline, gpu).total_s());
}

/// By cross-validation on H100 and A100 tables; within a tenth of their error they may be chosen freely.
BoostingOptions boosting_of(KernelFamily family) {
  switch (family) {
    case KernelFamily::prefill_attention:
      return {.trees = 300, .leaves = 63, .learning_rate = 0.1, .points_a_leaf = 20};
    case KernelFamily::decode_attention:
      // Heads that share nothing with others are few and measured sparsely.
      return {.trees = 300, .leaves = 63, .learning_rate = 0.1, .points_a_leaf = 2};
    case KernelFamily::moe:
      // More would learn the random routing of each measurement, and smaller leaves single models. Trees that
      // see half of the features lean less on those that tell the measured models apart.
      return {.trees = 100, .leaves = 20, .learning_rate = 0.12, .points_a_leaf = 20, .features_a_tree = 0.5};
    default:
      return {};
  }
}

/// A column a feature, and what is to be explained by them.
struct Samples {
  std::vector<std::vector<double>> columns;
  std::vector<double> targets;
};

Samples samples_of(std::span<const MeasuredKernel> points, const KernelFit& fit, const GpuSpec& gpu) {
  Samples samples;
  samples.columns.resize(kernel_features(points[0].call, gpu).count);
  for (const MeasuredKernel& point : points) {
    const KernelFeatures features = kernel_features(point.call, gpu);
    for (std::size_t f = 0; f < samples.columns.size(); ++f) {
      samples.columns[f].push_back(features.values[f]);
    }
    samples.targets.push_back(log_ratio(point, fit, gpu));
  }
  return samples;
}

RegressionTrees trees_over(std::span<const MeasuredKernel> points, const KernelFit& fit,
                           const BoostingOptions& options, const GpuSpec& gpu) {
  const Samples samples = samples_of(points, fit, gpu);
  return samples.columns.empty() ? RegressionTrees() : grow_trees(samples.columns, samples.targets, options);
}

/// Without the series (all numbers of tokens of a layer, split and skew) that take several times as long as
/// the usual ones all along: there the library's tuner had not tried its kernels, which says nothing about
/// other layers. It is one series in eleven of TensorRT-LLM on the H100, four to eight times as long; there
/// is none in between.
std::vector<MeasuredKernel> without_untuned(std::span<const MeasuredKernel> points, const KernelFit& fit,
                                            const GpuSpec& gpu) {
  constexpr double kMostTimesUsual = 2.5;
  const auto series_of = [](const MeasuredKernel& point) {
    Axes series = point.call.axes;
    series[axis_index(KernelFamily::moe, "tokens")] = 0;
    return series;
  };
  std::map<Axes, std::vector<double>> ratios;
  for (const MeasuredKernel& point : points) {
    ratios[series_of(point)].push_back(log_ratio(point, fit, gpu));
  }
  std::map<Axes, double> medians;
  std::vector<double> all;
  for (const auto& [series, values] : ratios) {
    all.push_back(medians[series] = median_of(values));
  }
  const double most = median_of(all) + std::log(kMostTimesUsual);
  std::vector<MeasuredKernel> tuned;
  std::copy_if(points.begin(), points.end(), std::back_inserter(tuned),
               [&](const MeasuredKernel& point) { return medians.at(series_of(point)) <= most; });
  return tuned;
}

/// At most so many of the points, evenly spread.
std::vector<MeasuredKernel> every_nth(std::vector<MeasuredKernel> points, std::size_t most) {
  const std::size_t stride = (points.size() + most - 1) / most;
  std::vector<MeasuredKernel> result;
  for (std::size_t i = 0; i < points.size(); i += stride) {
    result.push_back(std::move(points[i]));
  }
  return result;
}

/// Trees of their own for what fits in the L2 cache: its times are corrected ones, and must not teach the
/// others.
void fit_trees(std::span<const MeasuredKernel> points, const GpuSpec& gpu, KernelFit& fit) {
  std::vector<MeasuredKernel> beyond, within;
  for (const MeasuredKernel& point : points) {
    (was_read_from_cache(point, gpu) ? within : beyond).push_back(point);
  }
  BoostingOptions options = boosting_of(fit.family);
  if (fit.family == KernelFamily::moe) {
    constexpr std::size_t kMostPoints = 16'000;  // neighbouring numbers of tokens tell the same
    const Samples samples = samples_of(every_nth(without_untuned(points, fit, gpu), kMostPoints), fit, gpu);
    TrendAndTrees fitted = fit_trend_and_trees(samples.columns, samples.targets, options);
    fit.trees = std::move(fitted.trees);
    fit.slopes = std::move(fitted.slopes);
    return;
  }
  fit.trees = trees_over(beyond.empty() ? within : beyond, fit, options, gpu);
  if (!beyond.empty() && !within.empty()) {
    options.trees = 100;
    options.leaves = 31;
    fit.trees_in_l2 = trees_over(within, fit, options, gpu);
  }
}

/// Keeps of the points [first, last] of a curve those without which it would be off by more than a tolerance
/// (Ramer, Douglas and Peucker): between two that stay, the farthest, then on both sides of it.
void keep_bends(const SizeCurve& curve, std::size_t first, std::size_t last, std::vector<bool>& kept) {
  constexpr double kTolerance = 0.02;
  const double low = std::log(curve.bytes[first]);
  const double slope = (curve.log_ratio[last] - curve.log_ratio[first]) / (std::log(curve.bytes[last]) - low);
  std::size_t farthest = first;
  double distance = kTolerance;
  for (std::size_t i = first + 1; i < last; ++i) {
    const double straight = curve.log_ratio[first] + slope * (std::log(curve.bytes[i]) - low);
    if (std::abs(curve.log_ratio[i] - straight) > distance) {
      distance = std::abs(curve.log_ratio[i] - straight);
      farthest = i;
    }
  }
  if (farthest != first) {
    kept[farthest] = true;
    keep_bends(curve, first, farthest, kept);
    keep_bends(curve, farthest, last, kept);
  }
}

SizeCurve with_few_knots(const SizeCurve& measured) {
  std::vector<bool> kept(measured.bytes.size(), false);
  kept.front() = true;
  kept.back() = true;
  if (measured.bytes.size() > 2) {
    keep_bends(measured, 0, measured.bytes.size() - 1, kept);
  }
  SizeCurve result{measured.gpus, {}, {}};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) {
      result.bytes.push_back(measured.bytes[i]);
      result.log_ratio.push_back(measured.log_ratio[i]);
    }
  }
  return result;
}

/// One for each number of GPUs, with knots where the ratio bends by more than 2 %.
std::vector<SizeCurve> curves_through(std::span<const MeasuredKernel> points, const KernelFit& fit,
                                      const GpuSpec& gpu) {
  std::map<double, SizeCurve> by_gpus;
  std::map<std::pair<double, double>, double> sorted;
  for (const MeasuredKernel& point : points) {
    sorted[{point.call.axes[0], point.call.axes[1]}] = log_ratio(point, fit, gpu);
  }
  for (const auto& [size, ratio] : sorted) {
    SizeCurve& curve = by_gpus[size.first];
    curve.gpus = size.first;
    curve.bytes.push_back(size.second);
    curve.log_ratio.push_back(ratio);
  }
  std::vector<SizeCurve> curves;
  for (const auto& [gpus, curve] : by_gpus) {
    curves.push_back(with_few_knots(curve));
  }
  return curves;
}

/// Positions of the axes that are held out together, by family.
std::vector<std::size_t> shape_axes(KernelFamily family, SplitBy split) {
  switch (family) {
    case KernelFamily::gemm:
      return {1, 2};
    case KernelFamily::prefill_attention:
      return {3, 4};
    case KernelFamily::decode_attention:
      return {2, 3};
    case KernelFamily::moe:
      return split == SplitBy::model ? std::vector<std::size_t>{1, 2, 3, 4}
                                     : std::vector<std::size_t>{1, 2, 3, 4, 5, 6};
    case KernelFamily::mla_prefill:
      return {0, 3};
    case KernelFamily::mla_decode:
      return {0, 2};
    case KernelFamily::elementwise:
      return {0};
    case KernelFamily::collective:
      return {0, 1};
    case KernelFamily::host:
      return {0, 1};
  }
  check_failed("family", __FILE__, __LINE__, "unknown kernel family");
}

/// What a point is held out together with: points of equal keys stay together.
Axes split_key(const MeasuredKernel& point, SplitBy split) {
  if (split == SplitBy::point) {
    return point.call.axes;
  }
  Axes key{};
  for (const std::size_t axis : shape_axes(point.call.family, split)) {
    key[axis] = point.call.axes[axis];
  }
  return key;
}

/// The fold of each point.
std::vector<int> dealt(std::span<const MeasuredKernel> points, SplitBy split, int folds) {
  std::map<Axes, int> fold_of;
  for (const MeasuredKernel& point : points) {
    fold_of.emplace(split_key(point, split), 0);
  }
  std::vector<int*> shuffled;
  for (auto& [key, fold] : fold_of) {
    shuffled.push_back(&fold);
  }
  RandomStream random(0, "calibration/folds");
  for (std::size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[random.below(i)]);
  }
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    *shuffled[i] = static_cast<int>(i % static_cast<std::size_t>(folds));
  }
  std::vector<int> result;
  for (const MeasuredKernel& point : points) {
    result.push_back(fold_of.at(split_key(point, split)));
  }
  return result;
}

}  // namespace

bool was_read_from_cache(const MeasuredKernel& point, const GpuSpec& gpu) {
  return point.statistics.cache == CacheState::warm && fits_in_l2(point.call, gpu);
}

std::vector<MeasuredKernel> prepared(std::span<const MeasuredKernel> points, const GpuSpec& gpu) {
  std::vector<MeasuredKernel> result = without_duplicates(points);
  return result.front().call.family == KernelFamily::decode_attention ? cooled(std::move(result), gpu)
                                                                      : result;
}

KernelFit fit_kernel(std::span<const MeasuredKernel> points, const GpuSpec& gpu) {
  KernelFit fit;
  fit.family = points[0].call.family;
  fit.variant = points[0].call.variant;
  fit.points = static_cast<std::int64_t>(points.size());
  fit.range = ranges_of(points);
  fit.roofline = fit_roofline(measured_as_they_happen(points, gpu), gpu);
  if (fit.family == KernelFamily::gemm || fit.family == KernelFamily::moe) {
    fit.rows = distinct_rows(points);
  }
  if (fit.family == KernelFamily::collective) {
    fit.curves = curves_through(points, fit, gpu);
  } else {
    fit_trees(points, gpu, fit);
  }
  return fit;
}

std::vector<HeldOut> cross_validate(std::span<const MeasuredKernel> points, const GpuSpec& gpu, SplitBy split,
                                    int folds) {
  const std::vector<int> fold_of = dealt(points, split, folds);
  std::vector<HeldOut> result;
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<MeasuredKernel> known;
    std::vector<const MeasuredKernel*> unseen;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (fold_of[i] != fold) {
        known.push_back(points[i]);
      } else if (!was_read_from_cache(points[i], gpu)) {
        unseen.push_back(&points[i]);
      }
    }
    if (known.empty() || unseen.empty()) {
      continue;
    }
    const KernelFit fit = fit_kernel(known, gpu);
    for (const MeasuredKernel* point : unseen) {
      result.push_back({point, predicted_seconds(fit, point->call, gpu)});
    }
  }
  return result;
}

KernelFit fit_with_errors(std::span<const MeasuredKernel> points, const GpuSpec& gpu, int folds) {
  KernelFit fit = fit_kernel(points, gpu);
  std::map<std::string, std::vector<TimePair>, std::less<>> by_region;
  for (const HeldOut& held_out : cross_validate(points, gpu, SplitBy::shape, folds)) {
    by_region[std::string(region_of(held_out.point->call, gpu))].push_back(
        {held_out.predicted_s, held_out.point->seconds});
  }
  for (const auto& [region, pairs] : by_region) {
    fit.regions.push_back(region_error(region, pairs));
  }
  return fit;
}

}  // namespace inferometer
