#include "costmodel/kernels/prediction_error.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/portable_math.hpp"
#include "base/quantile.hpp"

namespace inferometer {
namespace {

/// Between ascending values, straight from neighbour to neighbour.
double value_at(const std::vector<double>& sorted, double at) {
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

/// The value that one more of the kind lies below with this probability: the i-th of n (from 1) is that of
/// i / (n + 1). Quantiles of few values as they are would promise too narrow an interval.
double predictive_quantile(const std::vector<double>& sorted, double probability) {
  const auto count = static_cast<double>(sorted.size());
  return value_at(sorted, std::clamp(probability * (count + 1) - 1, 0.0, count - 1));
}

}  // namespace

RegionError region_error(std::string region, const std::vector<TimePair>& pairs) {
  INFEROMETER_CHECK(!pairs.empty(), "no error without predictions");
  RegionError result;
  result.region = std::move(region);
  result.points = static_cast<std::int64_t>(pairs.size());
  std::vector<double> absolute, log_ratios;
  for (const TimePair& pair : pairs) {
    const double error = pair.predicted_s / pair.measured_s - 1;
    result.bias += error;
    result.mean += std::abs(error);
    absolute.push_back(std::abs(error));
    log_ratios.push_back(portable_log(pair.measured_s / pair.predicted_s));
  }
  const auto count = static_cast<double>(pairs.size());
  result.bias /= count;
  result.mean /= count;
  std::sort(absolute.begin(), absolute.end());
  std::sort(log_ratios.begin(), log_ratios.end());
  result.median = quantile(absolute, 0.5);
  result.p90 = quantile(absolute, 0.9);
  for (std::size_t i = 0; i < RegionError::kQuantiles; ++i) {
    result.log_ratio[i] = predictive_quantile(
        log_ratios, static_cast<double>(i) / static_cast<double>(RegionError::kQuantiles - 1));
  }
  return result;
}

double log_ratio_at(const RegionError& error, double at) {
  const double position = at * static_cast<double>(RegionError::kQuantiles - 1);
  const auto low = static_cast<std::size_t>(position);
  const std::size_t high = std::min(low + 1, RegionError::kQuantiles - 1);
  return error.log_ratio[low] +
         (position - static_cast<double>(low)) * (error.log_ratio[high] - error.log_ratio[low]);
}

double covered_90(const RegionError& error, const std::vector<TimePair>& pairs) {
  const double low = log_ratio_at(error, 0.05);
  const double high = log_ratio_at(error, 0.95);
  const auto inside = [&](const TimePair& pair) {
    const double ratio = portable_log(pair.measured_s / pair.predicted_s);
    return ratio >= low && ratio <= high;
  };
  return static_cast<double>(std::count_if(pairs.begin(), pairs.end(), inside)) /
         static_cast<double>(pairs.size());
}

}  // namespace inferometer
