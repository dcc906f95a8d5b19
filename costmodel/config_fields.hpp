#pragma once

// Typed reading of the keys of a config.json: every mistake is noted with its place, and reading goes on.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "costmodel/json_object.hpp"

namespace inferometer {

class ConfigFields {
 public:
  ConfigFields(const JsonObject& object, Diagnostics& diagnostics)
      : object_(object), diagnostics_(diagnostics) {}

  /// The key is there, whatever its value.
  [[nodiscard]] bool has(std::string_view key) const { return object_.find(key) != nullptr; }
  /// The key is there and says something: not null, 0, false or empty.
  [[nodiscard]] bool says_something(std::string_view key) const;

  /// A whole number from 1 to `max`. Absent or null: nullopt. A mistake is noted and reads as nullopt.
  std::optional<std::int64_t> count(std::string_view key, std::int64_t max);
  /// The same; absence is a mistake too. 0 when there was one.
  std::int64_t required_count(std::string_view key, std::int64_t max);
  /// A whole number from 0 to `max`. Absent or null: nullopt. A mistake is noted and reads as nullopt.
  std::optional<std::int64_t> count_or_none(std::string_view key, std::int64_t max);
  bool flag_or(std::string_view key, bool fallback);
  std::optional<std::string> text(std::string_view key);

  void fail(std::string_view key, std::string message) {
    diagnostics_.add(object_.where(key), std::move(message));
  }
  [[nodiscard]] bool has_failed() const { return !diagnostics_.empty(); }
  /// "key: value" as in the file, shortened, for messages.
  [[nodiscard]] std::string shown(std::string_view key) const;
  [[nodiscard]] const nlohmann::json* raw(std::string_view key) const { return object_.find(key); }

 private:
  [[nodiscard]] const nlohmann::json* given(std::string_view key) const;
  std::optional<std::int64_t> whole_number(std::string_view key, std::int64_t min, std::int64_t max);

  const JsonObject& object_;
  Diagnostics& diagnostics_;
};

}  // namespace inferometer
