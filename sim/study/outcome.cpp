#include "sim/study/outcome.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/metrics/recorder.hpp"
#include "sim/metrics/time_split_parts.hpp"
#include "sim/scenario/deployment.hpp"
#include "sim/scenario/run_summary.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

std::vector<HeadlineMetric> metrics_of(const Summary& summary) {
  std::vector<HeadlineMetric> metrics = headline_metrics(summary);
  metrics.push_back({"goodput_share", summary.goodput_share});
  metrics.push_back({"completed_requests", static_cast<double>(summary.completed)});
  metrics.push_back({"failed_requests", static_cast<double>(summary.failed)});
  metrics.push_back({"truncated_requests", static_cast<double>(summary.truncated)});
  metrics.push_back({"preemptions", static_cast<double>(summary.preemptions)});
  metrics.push_back(
      {"kv_peak_share", summary.kv_share(static_cast<double>(summary.kv_occupancy_blocks.peak))});
  metrics.push_back(
      {"prefix_hit_share", summary.prefixes ? std::optional(summary.prefixes->hit_rate) : std::nullopt});
  metrics.push_back({"mfu_share", summary.all_phases.mfu});
  metrics.push_back({"mbu_share", summary.all_phases.mbu});
  metrics.push_back({"mean_batch_requests", summary.batch_size.mean_busy});
  metrics.push_back(
      {"mean_power_watts", summary.energy ? std::optional(summary.energy->mean_watts) : std::nullopt});
  metrics.push_back(
      {"dollars_per_hour", summary.money ? std::optional(summary.money->dollars_per_hour) : std::nullopt});
  metrics.push_back({"load_share", summary.stability.load});
  metrics.push_back({"fairness_share", summary.fairness.share});
  return metrics;
}

std::optional<LatencyCurve> curve_of(LatencyMetric metric, const DurationDistribution& values) {
  if (values.count() == 0) {
    return std::nullopt;
  }
  std::vector<std::int64_t> ranks;
  for (const double share : curve_shares()) {
    ranks.push_back(static_cast<std::int64_t>(share * static_cast<double>(values.count() - 1)));
  }
  LatencyCurve curve{metric, {}};
  for (const std::int64_t picoseconds : values.at_ranks(ranks)) {
    curve.values_ms.push_back(to_milliseconds(Duration(picoseconds)));
  }
  return curve;
}

std::vector<LatencyCurve> curves_of(const MetricsRecorder& recorder) {
  const std::array<std::optional<LatencyCurve>, 3> all = {
      curve_of(LatencyMetric::ttft, recorder.latencies().ttft), curve_of(LatencyMetric::itl, recorder.gaps()),
      curve_of(LatencyMetric::e2el, recorder.latencies().e2el)};
  std::vector<LatencyCurve> curves;
  for (const std::optional<LatencyCurve>& curve : all) {
    if (curve) {
      curves.push_back(*curve);
    }
  }
  return curves;
}

Outcome run_to_end(const Scenario& scenario, const Deployment& deployment) {
  MetricsRecorder recorder = make_recorder(scenario, false);
  Simulation simulation = make_simulation(scenario, deployment, recorder);
  simulation.run();
  const std::vector<RequestLengths> sample = capacity_sample(deployment, recorder);
  const Summary summary = summarize_run(scenario, deployment, simulation, recorder, sample, false);
  Outcome outcome;
  outcome.metrics = metrics_of(summary);
  outcome.slo = evaluate(scenario.slo, summary).verdicts;
  outcome.queue = summary.stability.verdict;
  outcome.queue_sentence = summary.stability.sentence;
  outcome.offered_per_second = summary.stability.offered_per_second;
  outcome.time_split = summary.time_split;
  outcome.extrapolated_share = summary.extrapolated_share;
  outcome.curves = curves_of(recorder);
  return outcome;
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<double> optional_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json time_json(const TimeSplit& split) {
  Json shares = Json::array();
  for (const auto part : kTimeSplitParts) {
    shares.push_back(split.*part);
  }
  return shares;
}

TimeSplit time_from(const Json& json) {
  TimeSplit split;
  for (std::size_t i = 0; i < std::size(kTimeSplitParts); ++i) {
    split.*kTimeSplitParts[i] = json.at(i).get<double>();
  }
  return split;
}

}  // namespace

const std::vector<double>& curve_shares() {
  static const std::vector<double> shares = [] {
    std::vector<double> ascending = {0, 0.01, 0.02};
    for (int twentieth = 1; twentieth < 18; ++twentieth) {
      ascending.push_back(twentieth / 20.0);
    }
    for (int hundredth = 90; hundredth < 99; ++hundredth) {
      ascending.push_back(hundredth / 100.0);
    }
    for (int thousandth = 990; thousandth <= 1000; ++thousandth) {
      ascending.push_back(thousandth / 1000.0);
    }
    return ascending;
  }();
  return shares;
}

std::optional<double> Outcome::find(std::string_view metric) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [metric](const HeadlineMetric& each) { return each.name == metric; });
  return found == metrics.end() ? std::nullopt : found->value;
}

std::vector<std::string> study_metric_names() {
  std::vector<std::string> names;
  for (const HeadlineMetric& metric : metrics_of(Summary())) {
    names.push_back(metric.name);
  }
  return names;
}

Outcome failed_outcome(std::string why) {
  Outcome outcome;
  outcome.error = std::move(why);
  return outcome;
}

Outcome evaluate(const Scenario& scenario) {
  try {
    return run_to_end(scenario, make_deployment(scenario));
  } catch (const InputError& mistake) {
    return failed_outcome(mistake.what());
  }
}

Outcome evaluate(const Scenario& scenario, const Deployment& deployment) {
  try {
    return run_to_end(scenario, deployment);
  } catch (const InputError& mistake) {
    return failed_outcome(mistake.what());
  }
}

std::string to_text(const Outcome& outcome) {
  if (!outcome.error.empty()) {
    return Json{{"error", outcome.error}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  Json metrics = Json::array();
  for (const HeadlineMetric& metric : outcome.metrics) {
    metrics.push_back(Json::array({metric.name, optional_json(metric.value)}));
  }
  Json slo = Json::array();
  for (const SloVerdict& verdict : outcome.slo) {
    slo.push_back(Json::array({verdict.name, optional_json(verdict.value), verdict.limit, verdict.met,
                               optional_json(verdict.over)}));
  }
  Json curves = Json::array();
  for (const LatencyCurve& curve : outcome.curves) {
    curves.push_back(Json::array({static_cast<int>(curve.metric), curve.values_ms}));
  }
  return Json{{"metrics", metrics},
              {"slo", slo},
              {"queue", Json::array({static_cast<int>(outcome.queue), outcome.queue_sentence})},
              {"offered", outcome.offered_per_second},
              {"time", time_json(outcome.time_split)},
              {"extrapolated", outcome.extrapolated_share},
              {"curves", curves}}
      .dump();
}

Outcome outcome_from(const std::string& text) {
  const Json json = Json::parse(text);
  Outcome outcome;
  if (json.contains("error")) {
    outcome.error = json.at("error").get<std::string>();
    return outcome;
  }
  for (const Json& metric : json.at("metrics")) {
    outcome.metrics.push_back({metric.at(0).get<std::string>(), optional_from(metric.at(1))});
  }
  for (const Json& verdict : json.at("slo")) {
    outcome.slo.push_back({verdict.at(0).get<std::string>(), optional_from(verdict.at(1)),
                           verdict.at(2).get<double>(), verdict.at(3).get<bool>(),
                           optional_from(verdict.at(4))});
  }
  for (const Json& curve : json.at("curves")) {
    outcome.curves.push_back(
        {static_cast<LatencyMetric>(curve.at(0).get<int>()), curve.at(1).get<std::vector<double>>()});
  }
  outcome.queue = static_cast<QueueStability>(json.at("queue").at(0).get<int>());
  outcome.queue_sentence = json.at("queue").at(1).get<std::string>();
  outcome.offered_per_second = json.at("offered").get<double>();
  outcome.time_split = time_from(json.at("time"));
  outcome.extrapolated_share = json.at("extrapolated").get<double>();
  return outcome;
}

}  // namespace inferometer
