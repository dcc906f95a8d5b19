#include "sim/scenario/uncertainty.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "costmodel/cost_options.hpp"
#include "costmodel/kernels/kernel_profile.hpp"
#include "costmodel/pipeline.hpp"
#include "hardware/profile.hpp"

namespace inferometer {
namespace {

/// Of ascending values, straight between neighbours, as numpy's default.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

/// Nothing where a run had no value.
std::optional<MetricInterval> interval_of(const std::vector<RerunOutcome>& outcomes, std::size_t metric) {
  std::vector<double> values;
  for (const RerunOutcome& outcome : outcomes) {
    if (const std::optional<double> value = outcome.metrics[metric].value) {
      values.push_back(*value);
    }
  }
  if (values.size() < outcomes.size()) {
    return std::nullopt;
  }
  std::sort(values.begin(), values.end());
  return MetricInterval{outcomes.front().metrics[metric].name, quantile(values, Uncertainty::kLow),
                        quantile(values, Uncertainty::kHigh)};
}

}  // namespace

const MetricInterval* Uncertainty::find(std::string_view metric) const {
  const auto found =
      std::find_if(intervals.begin(), intervals.end(),
                   [metric](const MetricInterval& interval) { return interval.metric == metric; });
  return found == intervals.end() ? nullptr : &*found;
}

bool has_measured_kernels(const Deployment& deployment) {
  return std::any_of(deployment.pools.begin(), deployment.pools.end(), [](const PoolDeployment& pool) {
    return pool.cost_basis().level == CostLevel::calibrated;
  });
}

ResampledPricers resampled_pricers(const Deployment& deployment) {
  INFEROMETER_CHECK(has_measured_kernels(deployment), "only measured kernels have errors to draw from");
  struct Source {
    CostOptions options;
    KernelProfile kernels;
    Profile fallback;
  };
  std::vector<std::optional<Source>> sources;
  for (const PoolDeployment& pool : deployment.pools) {
    std::optional<Source>& source = sources.emplace_back();
    if (pool.cost_basis().level == CostLevel::calibrated) {
      const CostOptions options = cost_options_of(pool.spec);
      auto kernels = kernel_profile(pool.spec.gpu.name, options);
      INFEROMETER_CHECK(kernels.has_value(), "prices at level calibrated come from a profile of kernels");
      source = Source{options, std::move(*kernels), load_profile(pool.spec.gpu.name)};
    }
  }
  return [&deployment, sources = std::move(sources)](std::size_t place, std::uint64_t run) {
    const std::optional<Source>& source = sources[place];
    if (!source) {
      return StagePricers();
    }
    CostOptions resampled = source->options;
    resampled.resample = run;
    const PoolDeployment& pool = deployment.pools[place];
    return make_calibrated_stage_pricers(pool.spec.model, pool.spec.gpu, source->kernels, source->fallback,
                                         pool.parallelism, resampled, pool.pricer_limits);
  };
}

std::optional<Uncertainty> estimate_uncertainty(const Scenario& scenario, const Deployment& deployment,
                                                const ResampledPricers& pricers,
                                                const RerunOptions& options) {
  INFEROMETER_CHECK(options.runs >= 1, "an interval needs runs");
  const auto outcomes = rerun(
      scenario,
      [&](std::int64_t index) {
        Deployment redrawn = deployment;
        for (std::size_t pool = 0; pool < redrawn.pools.size(); ++pool) {
          StagePricers drawn = pricers(pool, static_cast<std::uint64_t>(index) + 1);
          if (!drawn.empty()) {
            redrawn.pools[pool].pricers = std::move(drawn);
          }
        }
        return redrawn;
      },
      options);
  if (!outcomes) {
    return std::nullopt;
  }
  Uncertainty result;
  for (const RerunOutcome& outcome : *outcomes) {
    result.replayed_requests += outcome.requests;
    result.simulated_steps += outcome.steps;
  }
  result.runs = options.runs;
  for (std::size_t metric = 0; metric < outcomes->front().metrics.size(); ++metric) {
    if (std::optional<MetricInterval> interval = interval_of(*outcomes, metric)) {
      result.intervals.push_back(std::move(*interval));
    }
  }
  return result;
}

}  // namespace inferometer
