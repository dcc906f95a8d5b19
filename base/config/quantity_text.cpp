// The writing half of unit_text.hpp.

#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/config/decimal.hpp"
#include "base/config/table.hpp"
#include "base/config/unit_text.hpp"

namespace inferometer {
namespace {

__extension__ using int128 = __int128;

constexpr int kMostFractionDigits = 18;

/// `value / unit` when it is a decimal of a few digits.
std::optional<Decimal> divide_exactly(std::int64_t value, const Unit& unit) {
  int128 size = unit.multiplier;
  for (int i = 0; i < unit.power_of_ten; ++i) {
    size *= 10;
  }
  int128 rest = value < 0 ? -static_cast<int128>(value) : value;
  std::string text = value < 0 ? "-" : "";
  text += std::to_string(static_cast<std::uint64_t>(rest / size));
  rest %= size;
  if (rest != 0) {
    text += '.';
  }
  for (int digit = 0; rest != 0; ++digit) {
    if (digit == kMostFractionDigits) {
      return std::nullopt;
    }
    rest *= 10;
    text += static_cast<char>('0' + static_cast<int>(rest / size));
    rest %= size;
  }
  return read_decimal(text);
}

std::optional<Decimal> in_unit(std::int64_t value, const Unit& unit) {
  return divide_exactly(value, unit);
}

/// `value / unit`; may fail to read back to the same double where the unit is not a power of ten.
std::optional<Decimal> in_unit(double value, const Unit& unit) {
  const double scaled = value * static_cast<double>(unit.divisor) / static_cast<double>(unit.multiplier);
  Decimal decimal = shortest_decimal(scaled);
  decimal.exponent -= decimal.digits.empty() ? 0 : unit.power_of_ten;
  return decimal;
}

template <class Number>
std::string best_text(Number value, const Value::Scalar& scalar, ValueType type) {
  const UnitFamily& family = unit_family(type);
  std::string best;
  std::size_t best_length = 0;
  std::string fallback;
  for (const Unit& unit : family.units) {
    const std::optional<Decimal> decimal = unit.is_alias ? std::nullopt : in_unit(value, unit);
    if (!decimal) {
      continue;
    }
    const std::string number = to_text(*decimal);
    const std::string text = number + " " + std::string(unit.name);
    const Parsed back = parse_quantity(text, type);
    const bool is_exact = back.index() == 0 && std::get<0>(back) == scalar;
    if (is_exact && is_at_least_one(*decimal) && (best.empty() || number.size() <= best_length)) {
      best = text;
      best_length = number.size();
    }
    const bool is_base = unit.power_of_ten == 0 && unit.multiplier == 1 && unit.divisor == 1;
    if (value == Number{} ? unit.name == family.usual_unit : is_base) {
      fallback = text;
    }
  }
  return best.empty() ? fallback : best;
}

}  // namespace

std::string quantity_text(const Value::Scalar& scalar, ValueType type) {
  return std::visit(
      [&](const auto& value) -> std::string {
        if constexpr (requires { value.count(); }) {
          return best_text(value.count(), scalar, type);
        } else {
          INFEROMETER_CHECK(false, "a quantity was expected");
        }
      },
      scalar);
}

}  // namespace inferometer
