#pragma once

// Exact decimal numbers as written by a user, before they become an integer or a double.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace inferometer {

/// value = +-digits * 10^exponent. Digits have no leading zero; zero has none at all.
struct Decimal {
  bool is_negative = false;
  std::string digits;
  int exponent = 0;
};

/// Length of the number at the start of `text`: -?D+(.D+)?([eE][+-]?D{1,4})?, where D+ has no needless
/// leading zero. 0 when there is none.
std::size_t decimal_length(std::string_view text);

/// Precondition: decimal_length(text) == text.size() > 0.
Decimal read_decimal(std::string_view text);

enum class IntegerFault { none, too_large, not_whole };

/// `decimal * multiplier * 10^power_of_ten` as an integer, exactly.
struct IntegerResult {
  std::int64_t value = 0;
  IntegerFault fault = IntegerFault::none;
};
/// Precondition: 1 <= multiplier <= 2^50.
IntegerResult to_integer(const Decimal& decimal, int power_of_ten, std::int64_t multiplier);

/// `decimal * 10^power_of_ten` rounded once; nothing when it is not a finite double, or is too small for one.
std::optional<double> to_double(const Decimal& decimal, int power_of_ten);

/// The shortest decimal that to_double turns back into `value`. Precondition: finite.
Decimal shortest_decimal(double value);

/// True when the magnitude is 1 or more.
bool is_at_least_one(const Decimal& decimal);

/// "3.35"; with an exponent ("1e-300") when there would be many zeros. Read back to the same by read_decimal.
std::string to_text(const Decimal& decimal);

}  // namespace inferometer
