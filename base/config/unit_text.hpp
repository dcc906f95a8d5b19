#pragma once

// Quantities as text: "500 ms", "3.35 TB/s". Decimal prefixes are powers of ten (GB = 1e9 bytes), binary ones
// have an i (GiB = 2^30 bytes), a small b is a bit. Durations and bytes are converted exactly, with integers;
// rates are rounded once, to the nearest double.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/config/values.hpp"

namespace inferometer {

/// One unit: 1 unit = multiplier * 10^power_of_ten / divisor of what the type stores.
struct Unit {
  std::string_view name;
  int power_of_ten;
  std::int64_t multiplier = 1;
  std::int64_t divisor = 1;
  bool is_alias = false;  ///< understood, but never written
};

/// The units of one ValueType, smallest first.
struct UnitFamily {
  std::string_view what;        ///< "a duration"
  std::string_view usual_unit;  ///< for examples in messages
  std::string_view example;     ///< a typical value
  std::string_view smallest;    ///< "picosecond" when values are whole multiples of it, else ""
  std::span<const Unit> units;
};

/// True for the types written with a unit.
bool has_unit(ValueType type);

/// Precondition: has_unit(type).
const UnitFamily& unit_family(ValueType type);

/// A value, or a sentence that says what is wrong with the text (without key or place).
using Parsed = std::variant<Value::Scalar, std::string>;

/// Reads a number, at most one space, and a unit of `type`. Sign and range are the caller's business.
Parsed parse_quantity(std::string_view text, ValueType type);

/// Writes a quantity with a unit that parse_quantity reads back to the same value: of the units in which the
/// number is at least 1, the one that makes the number shortest, and of equals the largest.
std::string quantity_text(const Value::Scalar& scalar, ValueType type);

/// The regular expression (ECMA-262) of what parse_quantity takes for `type`, negative values left out.
std::string quantity_pattern(ValueType type);

}  // namespace inferometer
