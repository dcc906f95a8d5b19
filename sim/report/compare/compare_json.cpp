#include "sim/report/compare/compare_json.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/report/compare/compare_sentences.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

/// Deeper values stand in one line: a metric with its difference.
constexpr int kDeepestLines = 6;
/// Shallower ones do where they fit.
constexpr std::size_t kLineWidth = 160;

bool is_one_line(const Json& json, int depth) {
  if (!json.is_structured() || json.empty() || depth >= kDeepestLines) {
    return true;
  }
  for (const Json& part : json) {
    if (part.is_structured()) {
      return false;
    }
  }
  return json.dump().size() <= kLineWidth;
}

void add_text(const Json& json, int depth, std::string& text) {
  if (is_one_line(json, depth)) {
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  const std::string indent(static_cast<std::size_t>(2 * (depth + 1)), ' ');
  text += json.is_object() ? "{" : "[";
  const char* before = "\n";
  for (const auto& [key, value] : json.items()) {
    text += before + indent + (json.is_object() ? Json(key).dump() + ": " : "");
    add_text(value, depth + 1, text);
    before = ",\n";
  }
  text += "\n" + std::string(static_cast<std::size_t>(2 * depth), ' ') + (json.is_object() ? "}" : "]");
}

void add_estimate(Json& json, const Estimate& estimate) {
  json["mean"] = kept_figure(estimate.mean);
  if (estimate.half_width) {
    json["low"] = kept_figure(estimate.low());
    json["high"] = kept_figure(estimate.high());
  }
}

Json difference_json(const Difference& difference) {
  Json json;
  add_estimate(json, difference.value);
  if (const std::optional<RelativeDifference>& relative = difference.relative) {
    json["share"] = kept_figure(relative->share);
    if (relative->low) {
      json["share_low"] = kept_figure(*relative->low);
      json["share_high"] = kept_figure(*relative->high);
    }
  }
  if (difference.p_value) {
    json["p_value"] = kept_figure(*difference.p_value);
    json["adjusted_p_value"] = kept_figure(*difference.adjusted_p_value);
  }
  json["verdict"] = to_string(difference.verdict);
  if (difference.is_unsteady) {
    json["unsteady"] = true;
  }
  return json;
}

Json metric_json(const ComparedMetric& metric) {
  if (!metric.value) {
    return nullptr;
  }
  Json json;
  add_estimate(json, *metric.value);
  if (metric.difference) {
    json["difference"] = difference_json(*metric.difference);
  }
  return json;
}

Json split_json(const TimeSplit& split) {
  return {{"compute", kept_figure(split.compute)},
          {"bandwidth", kept_figure(split.bandwidth)},
          {"communication", kept_figure(split.communication)},
          {"latency", kept_figure(split.latency)},
          {"host", kept_figure(split.host)},
          {"bubble", kept_figure(split.bubble)},
          {"idle", kept_figure(split.idle)}};
}

Json slo_json(const std::vector<ComparedSlo>& slo) {
  Json list = Json::array();
  for (const ComparedSlo& each : slo) {
    list.push_back({{"name", each.name}, {"limit", each.limit}, {"runs_met", each.runs_met}});
  }
  return list;
}

Json variant_json(const CompareStudy& study, std::size_t place, const VariantResult& variant) {
  Json json = {{"name", study.variants[place]}, {"runs", variant.runs}};
  if (variant.broken_runs > 0) {
    json["broken_runs"] = variant.broken_runs;
    json["error"] = variant.broken_by;
  }
  if (!variant.error.empty()) {
    return json;
  }
  json["unstable_runs"] = variant.unstable_runs;
  json["failed_requests"] = std::llround(variant.failed_requests);
  json["truncated_requests"] = std::llround(variant.truncated_requests);
  json["same_requests"] = variant.has_same_requests;
  json["extrapolated_share"] = kept_figure(variant.extrapolated_share);
  json["time_split"] = split_json(variant.time_split);
  json["slo"] = slo_json(variant.slo);
  Json& metrics = json["metrics"];
  for (std::size_t i = 0; i < study.metrics.size(); ++i) {
    metrics[study.metrics[i]] = metric_json(variant.metrics[i]);
  }
  return json;
}

Json load_json(const CompareStudy& study, const LoadResult& load) {
  Json json = {{"name", load.name.empty() ? Json(nullptr) : Json(load.name)}, {"exact", load.is_exact}};
  json["leader"] = nullptr;
  if (load.leader) {
    Json as_good = Json::array();
    for (const std::size_t other : load.leader->as_good) {
      as_good.push_back(study.variants[other]);
    }
    json["leader"] = {{"variant", study.variants[load.leader->variant]},
                      {"as_good", std::move(as_good)},
                      {"unsteady", load.leader->is_unsteady}};
  }
  Json& variants = json["variants"];
  for (std::size_t i = 0; i < load.variants.size(); ++i) {
    variants.push_back(variant_json(study, i, load.variants[i]));
  }
  return json;
}

}  // namespace

double kept_figure(double value) {
  const std::string text = fmt::format("{:.6g}", value);
  double kept = 0;
  std::from_chars(text.data(), text.data() + text.size(), kept);
  return kept;
}

std::string compare_json(const CompareReport& report) {
  const CompareStudy& study = *report.study;
  Json json;
  json["schema_version"] = kCompareSchemaVersion;
  json["program"] = {{"name", "inferometer"}, {"version", report.program_version}};
  json["study"] = report.name;
  json["description"] = study.description;
  json["answer"] = answer_sentences(report);
  json["notes"] = study.notes;
  json["seeds"] = study.seeds;
  json["baseline"] = study.variants.front();
  json["leading_metric"] = study.leading_metric;
  json["confidence"] = kConfidence;
  json["correction"] = to_string(study.correction);
  json["tests"] = report.result.tests;
  json["comparisons"] = report.result.comparisons;
  Json& loads = json["loads"];
  for (const LoadResult& load : report.result.loads) {
    loads.push_back(load_json(study, load));
  }
  json["resolved_baseline"] = report.baseline;
  Json& variants = json["variants"];
  for (const VariantChanges& variant : report.variants) {
    variants.push_back({{"name", variant.name}, {"changes", variant.changes}});
  }
  Json& inputs = json["inputs"];
  for (const InputFile& input : report.inputs) {
    inputs.push_back({{"name", input.name}, {"hash", input.hash}, {"size_bytes", input.bytes}});
  }
  std::string text;
  add_text(json, 0, text);
  return text + "\n";
}

}  // namespace inferometer
