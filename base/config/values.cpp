#include "base/config/values.hpp"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/config/table.hpp"
#include "base/config/unit_text.hpp"

namespace inferometer {
namespace {

std::string complaint(std::string_view key, std::string_view what) {
  return "configuration key \"" + std::string(key) + "\" " + std::string(what);
}

template <class T>
const T& as(const Value::Scalar& scalar, std::string_view key) {
  const T* value = std::get_if<T>(&scalar);
  INFEROMETER_CHECK(value != nullptr, complaint(key, "was asked for as another type"));
  return *value;
}

template <class T>
const T& single(const Value* value, std::string_view key) {
  INFEROMETER_CHECK(value != nullptr, complaint(key, "has no value"));
  INFEROMETER_CHECK(!value->is_list && value->scalars.size() == 1, complaint(key, "is not one value"));
  return as<T>(value->scalars.front(), key);
}

template <class T>
std::vector<T> every(const Value* value, std::string_view key) {
  INFEROMETER_CHECK(value != nullptr, complaint(key, "has no value"));
  INFEROMETER_CHECK(value->is_list && value->type != ValueType::section,
                    complaint(key, "is not a list of values"));
  std::vector<T> result;
  for (const Value::Scalar& scalar : value->scalars) {
    result.push_back(as<T>(scalar, key));
  }
  return result;
}

template <class T>
ValueType type_of() {
  if constexpr (std::is_same_v<T, Duration>) {
    return ValueType::duration;
  } else if constexpr (std::is_same_v<T, Bytes>) {
    return ValueType::bytes;
  } else if constexpr (std::is_same_v<T, BytesPerSecond>) {
    return ValueType::bandwidth;
  } else if constexpr (std::is_same_v<T, FlopsPerSecond>) {
    return ValueType::compute_rate;
  } else if constexpr (std::is_same_v<T, PerSecond>) {
    return ValueType::rate;
  } else if constexpr (std::is_same_v<T, DollarsPerHour>) {
    return ValueType::price_rate;
  } else if constexpr (std::is_same_v<T, Watts>) {
    return ValueType::power;
  } else {
    static_assert(std::is_same_v<T, Hertz>);
    return ValueType::frequency;
  }
}

}  // namespace

const Value* Values::find(std::string_view key) const {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [&](const Value& value) { return value.key == key; });
  return found == values_.end() ? nullptr : &*found;
}

bool Values::given(std::string_view key) const {
  const Value* value = find(key);
  return value != nullptr && value->given;
}

Position Values::where(std::string_view key) const {
  const Value* value = find(key);
  return value == nullptr ? where_ : value->where;
}

std::int64_t Values::count(std::string_view key) const {
  return single<std::int64_t>(find(key), key);
}
double Values::number(std::string_view key) const {
  return single<double>(find(key), key);
}
bool Values::flag(std::string_view key) const {
  return single<bool>(find(key), key);
}
const std::string& Values::text(std::string_view key) const {
  return single<std::string>(find(key), key);
}
Duration Values::duration(std::string_view key) const {
  return single<Duration>(find(key), key);
}
Bytes Values::bytes(std::string_view key) const {
  return single<Bytes>(find(key), key);
}
BytesPerSecond Values::bandwidth(std::string_view key) const {
  return single<BytesPerSecond>(find(key), key);
}
FlopsPerSecond Values::compute_rate(std::string_view key) const {
  return single<FlopsPerSecond>(find(key), key);
}
PerSecond Values::rate(std::string_view key) const {
  return single<PerSecond>(find(key), key);
}
DollarsPerHour Values::price_rate(std::string_view key) const {
  return single<DollarsPerHour>(find(key), key);
}
Watts Values::power(std::string_view key) const {
  return single<Watts>(find(key), key);
}
Hertz Values::frequency(std::string_view key) const {
  return single<Hertz>(find(key), key);
}

std::vector<std::int64_t> Values::counts(std::string_view key) const {
  return every<std::int64_t>(find(key), key);
}
std::vector<double> Values::numbers(std::string_view key) const {
  return every<double>(find(key), key);
}
std::vector<std::string> Values::texts(std::string_view key) const {
  return every<std::string>(find(key), key);
}

const Values& Values::section(std::string_view key) const {
  const Value* value = find(key);
  INFEROMETER_CHECK(value != nullptr, complaint(key, "has no value"));
  INFEROMETER_CHECK(value->section != nullptr, complaint(key, "is not a section"));
  return *value->section;
}

const ConfigNode& Values::tree(std::string_view key) const {
  const Value* value = find(key);
  INFEROMETER_CHECK(value != nullptr, complaint(key, "has no value"));
  INFEROMETER_CHECK(value->tree != nullptr, complaint(key, "is not a tree"));
  return *value->tree;
}

std::vector<const Values*> Values::sections(std::string_view key) const {
  const Value* value = find(key);
  INFEROMETER_CHECK(value != nullptr, complaint(key, "has no value"));
  INFEROMETER_CHECK(value->is_list && value->type == ValueType::section,
                    complaint(key, "is not a list of sections"));
  std::vector<const Values*> elements;
  for (const std::shared_ptr<const Values>& element : value->sections) {
    elements.push_back(element.get());
  }
  return elements;
}

std::string to_text(const Value::Scalar& scalar) {
  return std::visit(
      [&](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return value;
        } else if constexpr (requires { value.count(); }) {
          return quantity_text(scalar, type_of<T>());
        } else {
          return fmt::format("{}", value);
        }
      },
      scalar);
}

}  // namespace inferometer
