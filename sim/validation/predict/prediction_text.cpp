#include "sim/validation/predict/prediction_text.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<double> optional_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

}  // namespace

std::string to_text(const Prediction& prediction) {
  Json values = Json::array();
  for (const PredictedValue& value : prediction.values) {
    const Json range = value.range ? Json::array({value.range->low, value.range->high}) : Json(nullptr);
    values.push_back(Json::array({value.metric, optional_json(value.value), range}));
  }
  const Saturation& saturation = prediction.saturation;
  return Json{
      {"failure", prediction.failure},
      {"values", values},
      {"saturation", Json::array({optional_json(saturation.load), saturation.is_saturated, saturation.why})},
      {"settings", prediction.settings},
      {"notes", prediction.notes}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Prediction prediction_from(const std::string& text) {
  const Json json = Json::parse(text);
  Prediction prediction;
  prediction.failure = json.at("failure").get<std::string>();
  for (const Json& each : json.at("values")) {
    PredictedValue value{each.at(0).get<std::string>(), optional_from(each.at(1)), std::nullopt};
    if (!each.at(2).is_null()) {
      value.range = ValueRange{each.at(2).at(0).get<double>(), each.at(2).at(1).get<double>()};
    }
    prediction.values.push_back(std::move(value));
  }
  const Json& saturation = json.at("saturation");
  prediction.saturation = {optional_from(saturation.at(0)), saturation.at(1).get<bool>(),
                           saturation.at(2).get<std::string>()};
  prediction.settings = json.at("settings").get<std::vector<std::string>>();
  prediction.notes = json.at("notes").get<std::vector<std::string>>();
  return prediction;
}

}  // namespace inferometer
