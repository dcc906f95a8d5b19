#include "base/config/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include <fmt/format.h>

namespace inferometer {
namespace {

__extension__ using int128 = __int128;

constexpr int128 kLargest = std::numeric_limits<std::int64_t>::max();
/// Fewer than 10^19 < 2^64, so that digits * 2^50 stays within 128 bits.
constexpr std::size_t kMostDigits = 19;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digits_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) {
    ++end;
  }
  return end - begin;
}

/// Length of the exponent part at `begin`, 0 when there is none.
std::size_t exponent_length(std::string_view text, std::size_t begin) {
  if (begin >= text.size() || (text[begin] != 'e' && text[begin] != 'E')) {
    return 0;
  }
  std::size_t i = begin + 1;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) {
    ++i;
  }
  const std::size_t digits = digits_at(text, i);
  return digits == 0 || digits > 4 ? 0 : i + digits - begin;
}

}  // namespace

std::size_t decimal_length(std::string_view text) {
  std::size_t i = !text.empty() && text[0] == '-' ? 1 : 0;
  const std::size_t whole = digits_at(text, i);
  if (whole == 0 || (whole > 1 && text[i] == '0')) {
    return 0;
  }
  i += whole;
  if (i < text.size() && text[i] == '.') {
    const std::size_t fraction = digits_at(text, i + 1);
    if (fraction == 0) {
      return 0;
    }
    i += 1 + fraction;
  }
  return i + exponent_length(text, i);
}

Decimal read_decimal(std::string_view text) {
  Decimal result;
  std::size_t i = 0;
  if (text[0] == '-') {
    result.is_negative = true;
    ++i;
  }
  bool after_point = false;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      after_point = true;
      continue;
    }
    if (!(result.digits.empty() && text[i] == '0')) {
      result.digits += text[i];
    }
    result.exponent -= after_point ? 1 : 0;
  }
  if (i < text.size()) {
    i += text[i + 1] == '+' ? 2 : 1;
    int exponent = 0;
    std::from_chars(text.data() + i, text.data() + text.size(), exponent);
    result.exponent += exponent;
  }
  while (!result.digits.empty() && result.digits.back() == '0') {
    result.digits.pop_back();
    ++result.exponent;
  }
  return result;
}

IntegerResult to_integer(const Decimal& decimal, int power_of_ten, std::int64_t multiplier) {
  if (decimal.digits.empty()) {
    return {};
  }
  int exponent = decimal.exponent + power_of_ten;
  if (decimal.digits.size() > kMostDigits) {
    return {0, exponent < 0 ? IntegerFault::not_whole : IntegerFault::too_large};
  }
  int128 value = 0;
  for (const char digit : decimal.digits) {
    value = value * 10 + (digit - '0');
  }
  value *= multiplier;
  for (; exponent < 0; ++exponent) {
    if (value % 10 != 0) {
      return {0, IntegerFault::not_whole};
    }
    value /= 10;
  }
  for (; exponent > 0 && value <= kLargest; --exponent) {
    value *= 10;
  }
  if (value > kLargest) {
    return {0, IntegerFault::too_large};
  }
  const auto magnitude = static_cast<std::int64_t>(value);
  return {decimal.is_negative ? -magnitude : magnitude, IntegerFault::none};
}

std::optional<double> to_double(const Decimal& decimal, int power_of_ten) {
  if (decimal.digits.empty()) {
    return 0.0;
  }
  const std::string text = (decimal.is_negative ? "-" : "") + decimal.digits + "e" +
                           std::to_string(decimal.exponent + power_of_ten);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

Decimal shortest_decimal(double value) {
  return read_decimal(fmt::format("{}", value));
}

bool is_at_least_one(const Decimal& decimal) {
  return !decimal.digits.empty() && static_cast<int>(decimal.digits.size()) + decimal.exponent > 0;
}

std::string to_text(const Decimal& decimal) {
  constexpr int kMostAddedZeros = 15;
  if (decimal.digits.empty()) {
    return "0";
  }
  const std::string sign = decimal.is_negative ? "-" : "";
  const int whole_digits = static_cast<int>(decimal.digits.size()) + decimal.exponent;
  if (decimal.exponent > kMostAddedZeros || whole_digits < -kMostAddedZeros) {
    return sign + decimal.digits + "e" + std::to_string(decimal.exponent);
  }
  if (decimal.exponent >= 0) {
    return sign + decimal.digits + std::string(static_cast<std::size_t>(decimal.exponent), '0');
  }
  const std::string zeros(static_cast<std::size_t>(std::max(0, 1 - whole_digits)), '0');
  const std::string padded = zeros + decimal.digits;
  const std::size_t point = padded.size() - static_cast<std::size_t>(-decimal.exponent);
  return sign + padded.substr(0, point) + "." + padded.substr(point);
}

}  // namespace inferometer
