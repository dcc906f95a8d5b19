#include "sim/cli/validation_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

std::string signed_percent(double share) {
  return fmt::format("{:+.1f}", 100 * share);
}

std::string load_text(const Saturation& saturation) {
  return saturation.load ? fmt::format("{:.2f}", *saturation.load) : "-";
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Runs of different files may have one name.
Json run_json(const MeasuredRun& run) {
  return {{"run", run.name}, {"group", run.group}, {"source", run.source}};
}

Json group_json(const JudgedGroup& group) {
  return {{"group", group.group},
          {"saturated", group.is_saturated},
          {"metric", group.metric},
          {"count", group.count},
          {"median_error", group.median_error},
          {"mean_error", group.mean_error},
          {"p90_error", group.p90_error},
          {"bias", group.bias},
          {"within_interval", optional_json(group.within_interval)}};
}

Json value_json(const JudgedValue& value, const MeasuredRun& run, const Prediction& prediction) {
  Json json = run_json(run);
  json["metric"] = value.metric;
  json["measured"] = value.measured;
  json["predicted"] = value.predicted;
  json["low"] = value.range ? Json(value.range->low) : Json(nullptr);
  json["high"] = value.range ? Json(value.range->high) : Json(nullptr);
  json["error"] = value.error;
  json["saturation"] = optional_json(prediction.saturation.load);
  json["saturated"] = prediction.saturation.is_saturated;
  json["counted"] = value.is_counted;
  json["settings"] = prediction.settings;
  json["notes"] = prediction.notes;
  return json;
}

std::string missing_text(const ValidatedRuns& validated) {
  std::string text;
  for (const UnpredictedValue& missing : validated.judgement.missing) {
    const MeasuredRun& run = validated.runs[missing.run];
    const std::string metric = missing.metric.empty() ? "" : ", " + missing.metric;
    text += fmt::format("not predicted: {} ({}){}: {}\n", run.name, run.source, metric, missing.reason);
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string judgement_text(const ValidatedRuns& validated) {
  const Judgement& judgement = validated.judgement;
  std::vector<std::vector<std::string>> rows{
      {"runs", "metric", "load", "count", "median %", "mean %", "p90 %", "bias %", "in interval %"}};
  for (const JudgedGroup& group : judgement.groups) {
    rows.push_back({group.group, group.metric, group.is_saturated ? "saturated" : "below",
                    std::to_string(group.count), percent(group.median_error), percent(group.mean_error),
                    percent(group.p90_error), signed_percent(group.bias),
                    group.within_interval ? percent(*group.within_interval) : "-"});
  }
  std::string text = judgement.groups.empty() ? "" : align_columns(rows, 3);
  if (!judgement.groups.empty()) {
    text +=
        "\nErrors are predicted / measured - 1. Of saturated runs only throughput counts: their latencies "
        "tell how\nlong they were. in interval: measured values within the prediction's 5 to 95 % "
        "interval.\n";
  }
  return text + missing_text(validated);
}

std::string judged_values_text(const ValidatedRuns& validated) {
  std::vector<std::vector<std::string>> rows{
      {"run", "metric", "measured", "predicted", "interval", "error %", "load"}};
  for (const JudgedValue& value : validated.judgement.values) {
    const Saturation& saturation = validated.predictions[value.run].saturation;
    rows.push_back(
        {validated.runs[value.run].name, value.metric, short_number(value.measured),
         short_number(value.predicted),
         value.range ? short_number(value.range->low) + ".." + short_number(value.range->high) : "-",
         signed_percent(value.error), load_text(saturation) + (saturation.is_saturated ? " saturated" : "")});
  }
  return align_columns(rows, 2);
}

std::string judgement_json(const ValidatedRuns& validated) {
  Json summary = Json::array(), runs = Json::array(), missing = Json::array();
  for (const JudgedGroup& group : validated.judgement.groups) {
    summary.push_back(group_json(group));
  }
  for (const JudgedValue& value : validated.judgement.values) {
    runs.push_back(value_json(value, validated.runs[value.run], validated.predictions[value.run]));
  }
  for (const UnpredictedValue& value : validated.judgement.missing) {
    Json json = run_json(validated.runs[value.run]);
    json["metric"] = value.metric.empty() ? Json(nullptr) : Json(value.metric);
    json["reason"] = value.reason;
    missing.push_back(std::move(json));
  }
  return Json{{"summary", summary}, {"runs", runs}, {"missing", missing}}.dump(
             2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace inferometer
