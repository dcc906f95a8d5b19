#include "sim/validation/predict/predict.hpp"

#include <algorithm>
#include <utility>

#include "sim/metrics/headline_metrics.hpp"
#include "sim/metrics/recorder.hpp"
#include "sim/scenario/run_summary.hpp"
#include "sim/scenario/uncertainty.hpp"
#include "sim/validation/predict/lone_requests.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kMedianTtft = "median_ttft_ms";

bool wants(const MeasuredRun& run, std::string_view metric) {
  return std::any_of(run.values.begin(), run.values.end(),
                     [metric](const MeasuredValue& value) { return value.metric == metric; });
}

std::optional<double> lone_ttft_ms(const MetricsRecorder& recorder) {
  std::vector<Stay> stays;
  for (const RequestRecord& request : recorder.finished()) {
    stays.push_back({to_milliseconds(request.arrival.since_start()),
                     to_milliseconds(request.first_token.since_start()),
                     to_milliseconds(request.finished.since_start())});
  }
  return median_lone_ttft(std::move(stays));
}

std::optional<double> value_of(const std::vector<HeadlineMetric>& metrics, std::string_view name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [name](const HeadlineMetric& metric) { return metric.name == name; });
  return found == metrics.end() ? std::nullopt : found->value;
}

std::optional<ValueRange> kernel_range(const std::optional<Uncertainty>& uncertainty,
                                       std::string_view metric) {
  const MetricInterval* const interval = uncertainty ? uncertainty->find(metric) : nullptr;
  return interval == nullptr ? std::nullopt : std::optional(ValueRange{interval->low, interval->high});
}

std::optional<Uncertainty> kernel_errors(const Scenario& scenario, const Deployment& deployment,
                                         const std::vector<RequestLengths>& sample, std::int64_t runs) {
  if (runs == 0 || !has_measured_kernels(deployment)) {
    return std::nullopt;
  }
  RerunOptions options;
  options.runs = runs;
  options.capacity_sample = sample;
  return estimate_uncertainty(scenario, deployment, resampled_pricers(deployment), options);
}

}  // namespace

Prediction predict(const MeasuredRun& run, const Scenario& scenario, const Deployment& deployment,
                   const PredictionOptions& options) {
  const bool wants_lone = wants(run, kLoneTtft);
  std::vector<HeadlineMetric> metrics;
  std::vector<RequestLengths> sample;
  Prediction prediction;
  {
    MetricsRecorder recorder = make_recorder(scenario, wants_lone);
    Simulation simulation = make_simulation(scenario, deployment, recorder);
    simulation.run();
    sample = capacity_sample(deployment, recorder);
    const Summary summary = summarize_run(scenario, deployment, simulation, recorder, sample, false);
    metrics = headline_metrics(summary);
    if (wants_lone) {
      metrics.push_back({kLoneTtft, lone_ttft_ms(recorder)});
    }
    prediction.saturation = distance_to_saturation(scenario, deployment, summary);
  }
  const std::optional<Uncertainty> errors = kernel_errors(scenario, deployment, sample, options.intervals);
  for (const MeasuredValue& measured : run.values) {
    PredictedValue predicted{measured.metric, value_of(metrics, measured.metric), std::nullopt};
    std::optional<ValueRange> kernels = kernel_range(errors, measured.metric);
    const std::optional<double> median = value_of(metrics, kMedianTtft);
    if (measured.metric == kLoneTtft && predicted.value && median && *median > 0) {
      kernels = kernel_range(errors, kMedianTtft);
      if (kernels) {
        const double share = *predicted.value / *median;
        kernels = ValueRange{kernels->low * share, kernels->high * share};
      }
    }
    if (predicted.value) {
      predicted.range = prediction_interval(
          *predicted.value, kernels,
          options.intervals > 0 ? options.engine_errors.of(kind_of(measured.metric)) : EngineError{});
    }
    prediction.values.push_back(std::move(predicted));
  }
  prediction.notes = scenario.notes;
  prediction.notes.insert(prediction.notes.end(), deployment.notes.begin(), deployment.notes.end());
  return prediction;
}

}  // namespace inferometer
