#include "sim/validation/host_fit/host_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/portable_math.hpp"
#include "base/quantile.hpp"
#include "base/suggest.hpp"
#include "sim/validation/host_fit/gauss_newton.hpp"
#include "sim/validation/host_fit/measured_latency.hpp"
#include "sim/validation/predict/metric_kind.hpp"

namespace inferometer {
namespace {

constexpr double kNoPrediction = 5;  // as a residual: some 150 times too much
constexpr std::int64_t kFewestForIntervals = 5;
constexpr double kFarInScatters = 3, kFarInAll = 1.15;

/// The latencies of the runs of one engine and preset that can be fitted, and what is predicted of them.
struct Subject {
  std::string engine;
  std::vector<std::size_t> runs;    ///< away from saturation, with latencies
  std::vector<std::size_t> fitted;  ///< every N-th of them in each group
  std::int64_t saturated = 0;
};

/// All that a fit is made with.
struct Workbench {
  const std::vector<MeasuredRun>& runs;
  const HostFitOptions& options;
  const Simulator& simulate;
  std::vector<Prediction> before;  ///< of each run; empty where none was asked for
};

std::string engine_of(const MeasuredRun& run, const Prediction& prediction) {
  static constexpr std::string_view kPreset = "engine.preset=";
  for (auto setting = prediction.settings.rbegin(); setting != prediction.settings.rend(); ++setting) {
    if (setting->starts_with(kPreset)) {
      return setting->substr(kPreset.size());
    }
  }
  return run.engine.name.empty() ? "engine of the scenario" : run.engine.name;
}

std::vector<Prediction> simulate_all(const Workbench& bench, const std::vector<std::size_t>& runs,
                                     const std::vector<std::vector<std::string>>& points,
                                     std::int64_t intervals = 0) {
  std::vector<SimulatedQuestion> questions;
  for (const std::vector<std::string>& assignments : points) {
    for (const std::size_t run : runs) {
      questions.push_back({run, assignments, intervals});
    }
  }
  return bench.simulate(questions);
}

std::vector<LatencyPlace> latencies_of(const Workbench& bench, const std::vector<std::size_t>& runs) {
  std::vector<LatencyPlace> places;
  for (const std::size_t run : runs) {
    for (const LatencyPlace& place : fitted_latencies(bench.runs, run)) {
      if (log_error(bench.runs[run], place.value, bench.before[run])) {
        places.push_back(place);
      }
    }
  }
  return places;
}

[[noreturn]] void refuse_for_want_of_latencies(const std::vector<MeasuredRun>& runs) {
  std::vector<std::string> found;
  for (const MeasuredRun& run : runs) {
    for (const MeasuredValue& value : run.values) {
      if (std::find(found.begin(), found.end(), value.metric) == found.end()) {
        found.push_back(value.metric);
      }
    }
  }
  const std::string file = runs.front().source.substr(0, runs.front().source.rfind(':'));
  throw ConfigError({file},
                    "no run has a latency to fit host times to: mean_tpot_ms, mean_itl_ms, "
                    "mean_ttft_ms or median_lone_ttft_ms; found " +
                        (found.empty() ? "no figures" : join_alternatives(found, "and")));
}

/// Predicts all runs that have latencies, as their scenarios are, and sorts them by engine.
std::vector<Subject> subjects_of(Workbench& bench, std::vector<UnpredictedValue>& missing) {
  std::vector<std::size_t> with_latencies;
  for (std::size_t run = 0; run < bench.runs.size(); ++run) {
    if (!fitted_latencies(bench.runs, run).empty()) {
      with_latencies.push_back(run);
    }
  }
  if (with_latencies.empty()) {
    refuse_for_want_of_latencies(bench.runs);
  }
  std::vector<Prediction> predictions = simulate_all(bench, with_latencies, {{}});
  std::vector<Subject> subjects;
  std::map<std::pair<std::string, std::string>, std::int64_t> seen;  // of each engine's groups
  for (std::size_t i = 0; i < with_latencies.size(); ++i) {
    const std::size_t run = with_latencies[i];
    bench.before[run] = std::move(predictions[i]);
    const Prediction& prediction = bench.before[run];
    if (!prediction.failure.empty()) {
      missing.push_back({run, "", prediction.failure});
      continue;
    }
    const std::string engine = engine_of(bench.runs[run], prediction);
    auto subject = std::find_if(subjects.begin(), subjects.end(),
                                [&](const Subject& each) { return each.engine == engine; });
    if (subject == subjects.end()) {
      subjects.push_back({engine, {}, {}, 0});
      subject = subjects.end() - 1;
    }
    if (prediction.saturation.is_saturated) {
      ++subject->saturated;
      continue;
    }
    subject->runs.push_back(run);
    if (seen[{engine, bench.runs[run].group}]++ % bench.options.every == 0) {
      subject->fitted.push_back(run);
    }
  }
  return subjects;
}

std::vector<double> start_of(const Workbench& bench, const Subject& subject) {
  const MeasuredRun& run = bench.runs[subject.runs.front()];
  return host_values(scenario_of(run, bench.options.base, bench.before[subject.runs.front()].settings),
                     bench.options.fitted);
}

GaussNewtonFit fit_from(const Workbench& bench, const std::vector<std::size_t>& runs,
                        const std::vector<LatencyPlace>& places, const std::vector<double>& start) {
  std::map<std::size_t, std::size_t> order;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    order[runs[i]] = i;
  }
  std::vector<FitUnknown> unknowns;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const HostParameter& parameter = bench.options.fitted[i];
    const auto typical = static_cast<double>(parameter.typical.count());
    unknowns.push_back({start[i], static_cast<double>(parameter.probe.count()) / typical,
                        static_cast<double>(parameter.most.count()) / typical});
  }
  std::vector<std::size_t> kind_of_row;
  for (const LatencyPlace& place : places) {
    const std::string& metric = bench.runs[place.run].values[place.value].metric;
    kind_of_row.push_back(kind_of(metric) == MetricKind::per_token ? 0 : 1);
  }
  return fit_gauss_newton(unknowns, kind_of_row, [&](const std::vector<std::vector<double>>& points) {
    std::vector<std::vector<std::string>> assignments;
    for (const std::vector<double>& point : points) {
      assignments.push_back(host_assignments(bench.options.fitted, point));
    }
    const std::vector<Prediction> predictions = simulate_all(bench, runs, assignments);
    std::vector<std::vector<double>> residuals(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (const LatencyPlace& place : places) {
        const Prediction& prediction = predictions[i * runs.size() + order[place.run]];
        residuals[i].push_back(
            log_error(bench.runs[place.run], place.value, prediction).value_or(kNoPrediction));
      }
    }
    return residuals;
  });
}

std::vector<HostTime> times_of(const Workbench& bench, const GaussNewtonFit& fit,
                               const std::vector<double>& start, const std::vector<LatencyPlace>& places,
                               std::size_t runs) {
  std::vector<std::size_t> cluster_of;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool is_next = i > 0 && places[i].run != places[i - 1].run;
    cluster_of.push_back(i == 0 ? 0 : cluster_of.back() + (is_next ? 1 : 0));
  }
  const auto intervals = bootstrap_intervals(fit, cluster_of, cluster_of.back() + 1);
  std::vector<HostTime> times;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const HostParameter& parameter = bench.options.fitted[i];
    HostTime time;
    time.key = parameter.key;
    time.start = host_duration(parameter, start[i]);
    time.value = host_duration(parameter, fit.values[i]);
    time.is_determined = fit.is_determined[i];
    if (time.is_determined && static_cast<std::int64_t>(runs) >= kFewestForIntervals) {
      time.low = std::min(time.value, host_duration(parameter, intervals[i].first));
      time.high = std::max(time.value, host_duration(parameter, intervals[i].second));
    }
    times.push_back(std::move(time));
  }
  return times;
}

double error_of(double log_error) {
  return portable_exp(log_error) - 1;
}

/// Median of sizes, mean of sizes, mean.
void summarise(const std::vector<double>& errors, double& median, double& mean, double& bias) {
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    mean += sizes.back() / static_cast<double>(errors.size());
    bias += error / static_cast<double>(errors.size());
  }
  std::sort(sizes.begin(), sizes.end());
  median = quantile(sizes, 0.5);
}

std::vector<FitErrors> errors_of(const Workbench& bench, const std::vector<LatencyPlace>& places,
                                 const std::map<std::size_t, Prediction>& after) {
  std::vector<std::string> metrics;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> errors;
  for (const LatencyPlace& place : places) {
    const MeasuredRun& run = bench.runs[place.run];
    const std::string& metric = run.values[place.value].metric;
    const auto now = log_error(run, place.value, after.at(place.run));
    if (!now) {
      continue;
    }
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
      metrics.push_back(metric);
    }
    auto& [before, later] = errors[metric];
    before.push_back(error_of(log_error(run, place.value, bench.before[place.run]).value_or(0)));
    later.push_back(error_of(*now));
  }
  std::vector<FitErrors> rows;
  for (const std::string& metric : metrics) {
    const auto& [before, later] = errors[metric];
    FitErrors row;
    row.metric = metric;
    row.count = static_cast<std::int64_t>(later.size());
    summarise(before, row.median_before, row.mean_before, row.bias_before);
    summarise(later, row.median_after, row.mean_after, row.bias_after);
    rows.push_back(std::move(row));
  }
  return rows;
}

double scatter_of(const Workbench& bench, const std::vector<LatencyPlace>& places,
                  const std::map<std::size_t, Prediction>& after) {
  std::vector<double> errors;
  for (const LatencyPlace& place : places) {
    errors.push_back(
        log_error(bench.runs[place.run], place.value, after.at(place.run)).value_or(kNoPrediction));
  }
  return robust_scale(errors);
}

bool is_among(const std::vector<std::size_t>& runs, std::size_t run) {
  return std::binary_search(runs.begin(), runs.end(), run);
}

/// Further off than explained, furthest first, with how far the kernels' errors could reach.
std::vector<UnexplainedValue> unexplained_values(const Workbench& bench, const Subject& subject,
                                                 const std::map<std::size_t, Prediction>& after,
                                                 const std::vector<std::string>& assignments,
                                                 double scatter) {
  const double limit = std::max(kFarInScatters * scatter, portable_log(kFarInAll));
  std::vector<std::pair<double, LatencyPlace>> far;
  std::vector<std::size_t> runs;
  for (const LatencyPlace& place : latencies_of(bench, subject.runs)) {
    const auto error = log_error(bench.runs[place.run], place.value, after.at(place.run));
    if (!error || std::abs(*error) <= limit) {
      continue;
    }
    far.emplace_back(std::abs(*error), place);
    if (runs.empty() || runs.back() != place.run) {
      runs.push_back(place.run);
    }
  }
  std::map<std::size_t, Prediction> with_ranges;
  if (bench.options.interval_reruns > 0 && !runs.empty()) {
    std::vector<Prediction> predictions =
        simulate_all(bench, runs, {assignments}, bench.options.interval_reruns);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      with_ranges[runs[i]] = std::move(predictions[i]);
    }
  }
  std::stable_sort(far.begin(), far.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<UnexplainedValue> values;
  for (const auto& [size, place] : far) {
    const MeasuredValue& measured = bench.runs[place.run].values[place.value];
    UnexplainedValue value;
    value.run = place.run;
    value.metric = measured.metric;
    value.measured = measured.value;
    value.predicted = after.at(place.run).values[place.value].value.value_or(0);
    const auto ranged = with_ranges.find(place.run);
    if (ranged != with_ranges.end() && ranged->second.failure.empty()) {
      value.range = ranged->second.values[place.value].range;
    }
    value.is_fitted = is_among(subject.fitted, place.run);
    values.push_back(std::move(value));
  }
  return values;
}

std::map<std::size_t, Prediction> predictions_at(const Workbench& bench, const std::vector<std::size_t>& runs,
                                                 const std::vector<std::string>& assignments) {
  std::vector<Prediction> predictions = simulate_all(bench, runs, {assignments});
  std::map<std::size_t, Prediction> by_run;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    by_run[runs[i]] = std::move(predictions[i]);
  }
  return by_run;
}

/// Takes out runs that the host times found saturate; none when no fitted one would be left. Whether a fitted
/// one went.
bool leave_out_saturated(Subject& subject, const std::map<std::size_t, Prediction>& after) {
  const auto is_off = [&](std::size_t run) { return after.at(run).saturation.is_saturated; };
  if (std::all_of(subject.fitted.begin(), subject.fitted.end(), is_off)) {
    return false;
  }
  const std::size_t fitted = subject.fitted.size(), all = subject.runs.size();
  subject.fitted.erase(std::remove_if(subject.fitted.begin(), subject.fitted.end(), is_off),
                       subject.fitted.end());
  subject.runs.erase(std::remove_if(subject.runs.begin(), subject.runs.end(), is_off), subject.runs.end());
  subject.saturated += static_cast<std::int64_t>(all - subject.runs.size());
  return subject.fitted.size() != fitted;
}

void name_sources(const Workbench& bench, const Subject& subject, HostFit& fit) {
  for (const std::size_t run : subject.fitted) {
    const std::string& source = bench.runs[run].source;
    const std::string file = source.substr(0, source.rfind(':'));
    if (std::find(fit.sources.begin(), fit.sources.end(), file) == fit.sources.end()) {
      fit.sources.push_back(file);
    }
  }
}

HostFit fit_subject(const Workbench& bench, Subject subject) {
  const std::vector<double> start = start_of(bench, subject);
  std::vector<LatencyPlace> places = latencies_of(bench, subject.fitted);
  GaussNewtonFit solution = fit_from(bench, subject.fitted, places, start);
  std::vector<std::string> assignments = host_assignments(bench.options.fitted, solution.values);
  std::map<std::size_t, Prediction> after = predictions_at(bench, subject.runs, assignments);
  if (leave_out_saturated(subject, after)) {
    places = latencies_of(bench, subject.fitted);
    solution = fit_from(bench, subject.fitted, places, solution.values);
    assignments = host_assignments(bench.options.fitted, solution.values);
    after = predictions_at(bench, subject.runs, assignments);
  }
  std::vector<std::size_t> unseen;
  std::set_difference(subject.runs.begin(), subject.runs.end(), subject.fitted.begin(), subject.fitted.end(),
                      std::back_inserter(unseen));
  HostFit fit;
  fit.engine = subject.engine;
  name_sources(bench, subject, fit);
  fit.fitted_runs = static_cast<std::int64_t>(subject.fitted.size());
  fit.unseen_runs = static_cast<std::int64_t>(unseen.size());
  fit.saturated_runs = subject.saturated;
  fit.times = times_of(bench, solution, start, places, subject.fitted.size());
  fit.scatter = scatter_of(bench, places, after);
  fit.steps = solution.steps;
  fit.has_settled = solution.has_settled;
  fit.fitted = errors_of(bench, places, after);
  fit.unseen = errors_of(bench, latencies_of(bench, unseen), after);
  fit.unexplained = unexplained_values(bench, subject, after, assignments, fit.scatter);
  return fit;
}

}  // namespace

HostFitResult fit_host_times(const std::vector<MeasuredRun>& runs, const HostFitOptions& options,
                             const Simulator& simulate) {
  Workbench bench{runs, options, simulate, std::vector<Prediction>(runs.size())};
  HostFitResult result;
  std::int64_t saturated = 0;
  for (const Subject& subject : subjects_of(bench, result.missing)) {
    saturated += subject.saturated;
    if (!latencies_of(bench, subject.fitted).empty()) {
      result.fits.push_back(fit_subject(bench, subject));
    }
  }
  if (result.fits.empty()) {
    const std::string first = result.missing.empty() ? "" : ": " + result.missing.front().reason;
    const MeasuredRun& named = runs[result.missing.empty() ? 0 : result.missing.front().run];
    throw ConfigError({named.source.substr(0, named.source.rfind(':'))},
                      "no run is left to fit host times to: " + std::to_string(saturated) +
                          " of those with latencies are at or past saturation, " +
                          std::to_string(result.missing.size()) + " cannot be predicted" + first);
  }
  return result;
}

}  // namespace inferometer
