#pragma once

// A JSON object that remembers where its keys stand, so that a wrong value can be reported at its line and
// column. Used by the readers of costmodel only.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace inferometer {

class JsonObject {
 public:
  /// Deepest nesting we take: config files are two or three levels deep.
  static constexpr int kMaxDepth = 32;

  /// Throws ConfigError: invalid JSON or UTF-8, a number out of range, nesting beyond kMaxDepth, something
  /// other than an object at the top, keys that occur twice at the top (all of them). O(text log keys).
  JsonObject(std::string_view text, std::string file);

  /// nullptr when there is no such key. A JSON null is a value.
  [[nodiscard]] const nlohmann::json* find(std::string_view key) const;
  /// Place of a key of the object; of the file, or of the key that the object is the value of, when
  /// there is no such key.
  [[nodiscard]] Position where(std::string_view key) const;

  /// The object that is the value of a key; its own keys stand where that key does. Throws ConfigError when
  /// the value is missing or something else.
  [[nodiscard]] JsonObject inside(std::string_view key) const;

 private:
  JsonObject(nlohmann::json root, std::string file, Position place)
      : file_(std::move(file)), root_(std::move(root)), whole_(std::move(place)) {}
  void scan_keys(std::string_view text);

  std::string file_;
  nlohmann::json root_;
  Position whole_;  // place of what has none of its own
  std::map<std::string, Position, std::less<>> places_{};
};

}  // namespace inferometer
