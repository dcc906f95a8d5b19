#include "calibration/record/nanoseconds.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/check.hpp"

namespace inferometer {
namespace {

constexpr int kNanosecondDigits = 9;
constexpr double kLeastSeconds = 1e-12;
constexpr double kMostSeconds = 1e6;

}  // namespace

std::string nanoseconds_text(double seconds) {
  INFEROMETER_CHECK(seconds >= kLeastSeconds && seconds <= kMostSeconds, "a time of no kernel");
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), seconds, std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const std::size_t mark = text.find('e');
  std::string digits(text.substr(0, mark));
  if (digits.size() > 1) {
    digits.erase(1, 1);  // the point
  }
  const bool is_negative = text[mark + 1] == '-';
  int exponent = 0;
  std::from_chars(text.data() + mark + 2, text.data() + text.size(), exponent);
  const int whole = (is_negative ? -exponent : exponent) + kNanosecondDigits + 1;  // digits before the point
  const int count = static_cast<int>(digits.size());
  if (whole <= 0) {
    return "0." + std::string(static_cast<std::size_t>(-whole), '0') + digits;
  }
  if (whole >= count) {
    return digits + std::string(static_cast<std::size_t>(whole - count), '0');
  }
  return digits.insert(static_cast<std::size_t>(whole), ".");
}

std::optional<double> seconds_from_nanoseconds(std::string_view text) {
  double seconds = 0;
  std::from_chars_result result{};
  constexpr std::size_t kLongestText = 64;
  if (text.size() > kLongestText) {
    return std::nullopt;
  }
  const bool has_exponent = text.find_first_of("eE") != std::string_view::npos;
  const std::string shifted = has_exponent ? std::string(text) : std::string(text) + "e-9";
  result = std::from_chars(shifted.data(), shifted.data() + shifted.size(), seconds);
  if (result.ec != std::errc() || result.ptr != shifted.data() + shifted.size()) {
    return std::nullopt;
  }
  seconds = has_exponent ? seconds / 1e9 : seconds;
  if (!(seconds >= kLeastSeconds) || seconds > kMostSeconds) {
    return std::nullopt;
  }
  return seconds;
}

}  // namespace inferometer
