#include "costmodel/config_fields.hpp"

#include <utility>

namespace inferometer {
namespace {

constexpr std::size_t kShownLength = 40;

/// Containers are named, not printed: they may be long and deep.
std::string shown_value(const nlohmann::json& value) {
  if (value.is_structured()) {
    return value.is_array() ? "[...]" : "{...}";
  }
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > kShownLength) {
    text = text.substr(0, kShownLength) + "...";
  }
  return text;
}

}  // namespace

const nlohmann::json* ConfigFields::given(std::string_view key) const {
  const nlohmann::json* value = object_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string ConfigFields::shown(std::string_view key) const {
  const nlohmann::json* value = object_.find(key);
  return std::string(key) + ": " + (value == nullptr ? "absent" : shown_value(*value));
}

bool ConfigFields::says_something(std::string_view key) const {
  const nlohmann::json* value = given(key);
  if (value == nullptr) {
    return false;
  }
  switch (value->type()) {
    case nlohmann::json::value_t::boolean:
      return value->get<bool>();
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
    case nlohmann::json::value_t::number_float:
      return value->get<double>() != 0.0;
    case nlohmann::json::value_t::string:
      return !value->get_ref<const std::string&>().empty();
    default:
      return !value->empty();
  }
}

std::optional<std::int64_t> ConfigFields::whole_number(std::string_view key, std::int64_t min,
                                                       std::int64_t max) {
  const nlohmann::json* value = given(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  const bool fits_in_64_bits =
      value->is_number_integer() &&
      !(value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{INT64_MAX});
  const std::int64_t number = fits_in_64_bits ? value->get<std::int64_t>() : min - 1;
  if (number < min || number > max) {
    fail(key,
         shown(key) + " is not a whole number from " + std::to_string(min) + " to " + std::to_string(max));
    return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> ConfigFields::count(std::string_view key, std::int64_t max) {
  return whole_number(key, 1, max);
}

std::optional<std::int64_t> ConfigFields::count_or_none(std::string_view key, std::int64_t max) {
  return whole_number(key, 0, max);
}

std::int64_t ConfigFields::required_count(std::string_view key, std::int64_t max) {
  if (given(key) == nullptr) {
    fail(key, std::string(key) + (has(key) ? " is null" : " is missing") +
                  "; give a whole number from 1 to " + std::to_string(max));
    return 0;
  }
  return count(key, max).value_or(0);
}

bool ConfigFields::flag_or(std::string_view key, bool fallback) {
  const nlohmann::json* value = given(key);
  if (value == nullptr) {
    return fallback;
  }
  if (!value->is_boolean()) {
    fail(key, shown(key) + " is neither true nor false");
    return fallback;
  }
  return value->get<bool>();
}

std::optional<std::string> ConfigFields::text(std::string_view key) {
  const nlohmann::json* value = given(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    fail(key, shown(key) + " is not a string");
    return std::nullopt;
  }
  return value->get<std::string>();
}

}  // namespace inferometer
