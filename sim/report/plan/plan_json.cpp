#include "sim/report/plan/plan_json.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sim/report/plan/plan_view.hpp"
#include "sim/report/plan/plan_words.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

/// What of Outcome::metrics a plan keeps of each size, besides latencies with a limit and the latency axis.
constexpr std::array<std::string_view, 13> kMetrics = {"request_throughput",
                                                       "output_throughput",
                                                       "p50_ttft_ms",
                                                       "p99_ttft_ms",
                                                       "p50_tpot_ms",
                                                       "p99_itl_ms",
                                                       "p99_e2el_ms",
                                                       "output_dollars_per_million_tokens",
                                                       "total_dollars_per_million_tokens",
                                                       "joules_per_output_token",
                                                       "mean_power_watts",
                                                       "kv_peak_share",
                                                       "load_share"};

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json size_of(const Size& size) {
  return {{"units", size.units},
          {"gpus", size.gpus},
          {"dollars_per_hour", size.dollars_per_hour},
          {"power_watts", size.watts},
          {"cost", size.cost}};
}

Json targets_of(const Assessment& assessment) {
  Json list = Json::array();
  for (const TargetResult& target : assessment.targets) {
    list.push_back({{"name", target.name},
                    {"limit", target.limit},
                    {"mean", or_null(target.mean)},
                    {"low", or_null(target.low)},
                    {"high", or_null(target.high)},
                    {"met", target.met},
                    {"over_share", or_null(target.over)},
                    {"close", target.is_close}});
  }
  return list;
}

Json metrics_of(const PlanResult& plan, const Assessment& assessment) {
  Json metrics = Json::object();
  for (const HeadlineMetric& metric : assessment.means) {
    if (metric.name == plan.latency_axis ||
        std::find(kMetrics.begin(), kMetrics.end(), metric.name) != kMetrics.end()) {
      metrics[metric.name] = or_null(metric.value);
    }
  }
  return metrics;
}

Json time_split_of(const TimeSplit& split) {
  return {{"compute", split.compute}, {"bandwidth", split.bandwidth}, {"communication", split.communication},
          {"latency", split.latency}, {"host", split.host},           {"bubble", split.bubble},
          {"idle", split.idle}};
}

Json assessment_of(const PlanResult& plan, const Assessment& assessment) {
  return {{"size", size_of(assessment.size)},
          {"offered_requests_per_s", assessment.offered_per_second},
          {"verdict", to_string(assessment.verdict)},
          {"reason", assessment.reason},
          {"targets", targets_of(assessment)},
          {"metrics", metrics_of(plan, assessment)},
          {"time_split", time_split_of(assessment.time_split)},
          {"extrapolated_share", assessment.extrapolated_share}};
}

/// One load on the way to a sustained rate: what it takes to draw the curve and to see why it ends.
Json tried_load(const PlanResult& plan, const Assessment& assessment) {
  const TargetResult* worst = assessment.worst();
  Json json = {{"rate_factor", assessment.rate_factor},
               {"offered_requests_per_s", assessment.offered_per_second},
               {"request_throughput", or_null(assessment.find("request_throughput"))},
               {"verdict", to_string(assessment.verdict)},
               {"worst_target", worst != nullptr ? Json(worst->name) : Json(nullptr)},
               {"over_share", worst != nullptr ? or_null(worst->over) : Json(nullptr)}};
  json[plan.latency_axis] = or_null(assessment.find(plan.latency_axis));
  return json;
}

Json sustained_of(const PlanResult& plan, const std::optional<SustainedRate>& rate) {
  if (!rate) {
    return nullptr;
  }
  Json tried = Json::array();
  for (const Assessment& assessment : rate->tried) {
    tried.push_back(tried_load(plan, assessment));
  }
  return {{"units", rate->tried.empty() ? Json(nullptr) : Json(rate->tried.front().size.units)},
          {"low_requests_per_s", rate->low_per_second},
          {"high_requests_per_s",
           rate->high_per_second > rate->low_per_second ? Json(rate->high_per_second) : Json(nullptr)},
          {"limited_by", rate->limited_by},
          {"tried", std::move(tried)}};
}

Json shape_of(const PlanResult& plan, const ShapeResult& shape) {
  Json values = Json::object();
  for (const auto& [key, value] : shape.values) {
    values[key] = value;
  }
  Json assessments = Json::array();
  for (const Assessment& assessment : shape.assessments) {
    assessments.push_back(assessment_of(plan, assessment));
  }
  return {{"name", shape.name},
          {"values", std::move(values)},
          {"setup", shape.setup},
          {"unit", shape.setup.empty() ? Json(nullptr) : size_of(shape.unit)},
          {"fate", to_string(shape.fate)},
          {"reason", shape.reason},
          {"least_units", shape.least_units},
          {"smallest", shape.smallest ? Json(*shape.smallest) : Json(nullptr)},
          {"assessments", std::move(assessments)},
          {"sustained", sustained_of(plan, shape.sustained)}};
}

/// An assessment's place, and what one wants to know of it at once.
Json place_of(const PlanResult& plan, AssessmentPlace place) {
  const ShapeResult& shape = plan.shapes[place.shape];
  const Assessment& assessment = at(plan, place);
  return {{"shape", place.shape},
          {"assessment", place.assessment},
          {"name", shape.name},
          {"setup", setup_in_words(shape, assessment.size.units)},
          {"size", size_of(assessment.size)},
          {"verdict", to_string(assessment.verdict)},
          {"reason", assessment.reason},
          {"targets", targets_of(assessment)}};
}

Json answer_of(const PlanResult& plan) {
  const std::optional<AssessmentPlace> place = answer_place(plan);
  if (!place) {
    return nullptr;
  }
  Json json = place_of(plan, *place);
  const std::optional<SustainedRate>& rate = plan.shapes[place->shape].sustained;
  json["dollars_per_month"] = kHoursOfMonth * at(plan, *place).size.dollars_per_hour;
  json["sustained_low_requests_per_s"] = rate ? Json(rate->low_per_second) : Json(nullptr);
  json["headroom_share"] =
      rate ? or_null(headroom(*rate, at(plan, *place).offered_per_second)) : Json(nullptr);
  return json;
}

Json nearest_of(const PlanResult& plan) {
  const std::optional<AssessmentPlace> place = nearest_miss(plan);
  return plan.best || !place ? Json(nullptr) : place_of(plan, *place);
}

Json counts_of(const PlanResult& plan) {
  Json by_fate = Json::object();
  for (const ShapeFate fate :
       {ShapeFate::meets, ShapeFate::none_meets, ShapeFate::dearer, ShapeFate::bound_dearer,
        ShapeFate::bound_impossible, ShapeFate::too_large, ShapeFate::does_not_fit}) {
    by_fate[std::string(to_string(fate))] =
        std::count_if(plan.shapes.begin(), plan.shapes.end(),
                      [fate](const ShapeResult& shape) { return shape.fate == fate; });
  }
  return {{"shapes", plan.shapes.size()},
          {"shapes_by_fate", std::move(by_fate)},
          {"candidates", plan.candidates},
          {"evaluations", plan.evaluations}};
}

Json front_of(const PlanResult& plan) {
  Json list = Json::array();
  for (const auto& [shape, assessment] : plan.front) {
    const Assessment& one = at(plan, {shape, assessment});
    Json json = {{"shape", shape},
                 {"assessment", assessment},
                 {"dollars_per_hour", one.size.dollars_per_hour},
                 {"mean_power_watts", mean_watts(one)},
                 {"cost", one.size.cost}};
    json[plan.latency_axis] = or_null(one.find(plan.latency_axis));
    list.push_back(std::move(json));
  }
  return list;
}

Json sensitivity_of(const PlanResult& plan) {
  Json list = Json::array();
  for (const SensitivityRow& row : plan.sensitivity) {
    list.push_back({{"what", row.what},
                    {"from", row.from},
                    {"to", row.to},
                    {"effect", row.effect},
                    {"size", row.assessment ? size_of(row.assessment->size) : Json(nullptr)},
                    {"verdict", row.assessment ? Json(to_string(row.assessment->verdict)) : Json(nullptr)},
                    {"targets", row.assessment ? targets_of(*row.assessment) : Json::array()}});
  }
  return list;
}

}  // namespace

std::string plan_json(const PlanResult& plan, const StudyProvenance& provenance) {
  Json json = study_json_head(provenance, kPlanSchemaVersion);
  json["objective"] = to_string(plan.objective);
  json["latency_axis"] = plan.latency_axis;
  json["growth"] = plan.growth;
  json["seeds"] = plan.seeds;
  json["tolerance"] = plan.tolerance;
  json["counts"] = counts_of(plan);
  json["answer"] = answer_of(plan);
  json["nearest"] = nearest_of(plan);
  json["front_is_whole"] = plan.is_front_whole;
  json["front"] = front_of(plan);
  json["sensitivity"] = sensitivity_of(plan);
  Json shapes = Json::array();
  for (const ShapeResult& shape : plan.shapes) {
    shapes.push_back(shape_of(plan, shape));
  }
  json["shapes"] = std::move(shapes);
  add_study_json_tail(json, provenance);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace inferometer
