#pragma once

// One value of a file, by the type of its key: strict, so that nothing is read as something else (`010` is
// not 8, `yes` is not true).

#include <optional>
#include <string>

#include "base/config/table.hpp"
#include "base/config/unit_text.hpp"

namespace inferometer {

/// Converts one scalar by `key`'s type, without looking at its range. On failure a sentence without key or
/// place. Precondition: not a section.
Parsed parse_scalar(const Key& key, const ConfigNode& node);

/// The bounds of a key, its own or those every value of the type has.
struct Bounds {
  std::optional<std::string> min_text, max_text;
  bool min_is_open = false;
};
Bounds bounds_of(const Key& key);

/// "" when `value` is within bounds_of(key), else a sentence without key or place.
std::string range_fault(const Key& key, const Value::Scalar& value);

/// What a value of this key looks like, for messages: `"500 ms"`, `256`.
std::string example_of(const Key& key);

/// "a whole number", "a duration such as "500 ms"", "true or false".
std::string type_in_words(const Key& key);

/// With a full stop at its end.
std::string sentence(const std::string& text);

}  // namespace inferometer
