#include "sim/validation/json_figures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace inferometer {
namespace {

const nlohmann::json* below(const nlohmann::json& value, std::string_view path) {
  const nlohmann::json* at = &value;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    if (!at->is_object()) {
      return nullptr;
    }
    const auto found = at->find(std::string(path.substr(0, dot)));
    if (found == at->end()) {
      return nullptr;
    }
    at = &*found;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

}  // namespace

std::optional<double> number_of(const JsonObject& object, std::string_view key) {
  const nlohmann::json* value = object.find(key);
  if (value == nullptr || value->is_null()) {
    return std::nullopt;
  }
  if (!value->is_number() || value->get<double>() < 0 || !std::isfinite(value->get<double>())) {
    throw ConfigError(object.where(key), fmt::format("expected {} to be a number from 0, found {}", key,
                                                     quoted_excerpt(value->dump())));
  }
  return value->get<double>();
}

std::int64_t needed_count(const JsonObject& object, std::string_view key, std::int64_t least) {
  const std::optional<double> number = number_of(object, key);
  if (!number) {
    throw ConfigError(object.where(key), fmt::format("expected {}, found nothing", key));
  }
  if (*number != std::floor(*number) || *number < static_cast<double>(least) || *number > 1e15) {
    throw ConfigError(object.where(key),
                      fmt::format("expected {} to be a whole number from {}, found {}", key, least, *number));
  }
  return static_cast<std::int64_t>(*number);
}

void add_figure(MeasuredRun& run, std::string_view metric, std::optional<double> value) {
  if (!value) {
    return;
  }
  if (*value > 0 && std::isfinite(*value)) {
    run.values.push_back({std::string(metric), *value});
  } else {
    run.notes.push_back(fmt::format("{} is {}: not measured", metric, *value));
  }
}

std::optional<double> number_below(const nlohmann::json& value, std::string_view path) {
  const nlohmann::json* found = below(value, path);
  return found != nullptr && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::string text_below(const nlohmann::json& value, std::string_view path) {
  const nlohmann::json* found = below(value, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

void check_has_figures(const MeasuredRun& run, const std::string& path, const std::string& keys) {
  if (run.values.empty()) {
    throw ConfigError({path, 0, 0}, fmt::format("expected a figure, such as {}, found none", keys));
  }
}

}  // namespace inferometer
