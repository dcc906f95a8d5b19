#include "workloads/trace_fields.hpp"

#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "base/text.hpp"

namespace inferometer {
namespace {

constexpr int kPicosecondDigits = 12;
constexpr int kMostDigits = 30;  // ten times so much still fits 128 bits
constexpr std::int64_t kMostExponent = 10'000;
constexpr std::int64_t kPicosecondsPerSecondWhole = 1'000'000'000'000;
constexpr int kLargestTimePower = 12;  // of ten, in seconds
const WidePicoseconds kLargestTime =
    static_cast<WidePicoseconds>(kPicosecondsPerSecondWhole) * 1'000'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

WidePicoseconds power_of_ten(int exponent) {
  WidePicoseconds result = 1;
  for (int i = 0; i < exponent; ++i) {
    result *= 10;
  }
  return result;
}

// mantissa * 10^exponent picoseconds, halves up.
bool scale(WidePicoseconds mantissa, std::int64_t exponent, WidePicoseconds& time) {
  if (mantissa == 0 || exponent < -kMostDigits - 1) {
    time = 0;
    return true;
  }
  if (exponent < 0) {
    const WidePicoseconds divisor = power_of_ten(static_cast<int>(-exponent));
    time = mantissa / divisor + (mantissa % divisor >= divisor - mantissa % divisor ? 1 : 0);
    return time <= kLargestTime;
  }
  for (; exponent > 0 && mantissa <= kLargestTime; --exponent) {
    mantissa *= 10;
  }
  time = mantissa;
  return mantissa <= kLargestTime;
}

bool read_exponent(std::string_view text, std::int64_t& exponent) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text[0])) {
      return false;
    }
  }
  return read_integer(text, exponent) && exponent >= -kMostExponent && exponent <= kMostExponent;
}

// Exactly `count` digits at `position`, or -1.
int digits_at(std::string_view text, std::size_t position, std::size_t count) {
  if (position + count > text.size()) {
    return -1;
  }
  int value = 0;
  for (std::size_t i = position; i < position + count; ++i) {
    if (!is_digit(text[i])) {
      return -1;
    }
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool read_date(std::string_view text, std::int64_t& days) {
  const int year = digits_at(text, 0, 4);
  const int month = digits_at(text, 5, 2);
  const int day = digits_at(text, 8, 2);
  if (year < 0 || month < 0 || day < 0 || text[4] != '-' || text[7] != '-') {
    return false;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  days = std::chrono::sys_days(date).time_since_epoch().count();
  return date.ok();
}

// "", "Z", "+HH:MM" or "-HH:MM"
bool read_offset(std::string_view text, std::int64_t& seconds) {
  seconds = 0;
  if (text.empty() || text == "Z") {
    return true;
  }
  const int hours = digits_at(text, 1, 2);
  const int minutes = digits_at(text, 4, 2);
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':' || hours < 0 || hours > 23 ||
      minutes < 0 || minutes > 59) {
    return false;
  }
  seconds = (hours * 60 + minutes) * 60;
  if (text[0] == '-') {
    seconds = -seconds;
  }
  return true;
}

}  // namespace

bool read_integer(std::string_view text, std::int64_t& value) {
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && stop == end;
}

bool read_seconds(std::string_view text, int power, WidePicoseconds& time) {
  WidePicoseconds mantissa = 0;
  int kept_digits = 0;
  std::int64_t exponent = kPicosecondDigits + power;
  std::size_t i = 0;
  bool has_digits = false;
  bool is_fraction = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !is_fraction) {
      is_fraction = true;
      continue;
    }
    if (!is_digit(text[i])) {
      break;
    }
    has_digits = true;
    if (kept_digits < kMostDigits) {
      mantissa = mantissa * 10 + (text[i] - '0');
      kept_digits += mantissa != 0 ? 1 : 0;
      exponent -= is_fraction ? 1 : 0;
    } else {
      exponent += is_fraction ? 0 : 1;
    }
  }
  if (!has_digits) {
    return false;
  }
  if (i < text.size()) {
    std::int64_t written = 0;
    if ((text[i] != 'e' && text[i] != 'E') || !read_exponent(text.substr(i + 1), written)) {
      return false;
    }
    exponent += written;
  }
  return scale(mantissa, exponent, time);
}

std::string seconds_range(int power) {
  return fmt::format("from 0 to 1e{} (exponents within +-{})", kLargestTimePower - power, kMostExponent);
}

bool read_timestamp(std::string_view text, WidePicoseconds& time) {
  constexpr std::size_t kSecondsEnd = 19;  // of "YYYY-MM-DD HH:MM:SS"
  std::int64_t days = 0;
  if (text.size() < kSecondsEnd || !read_date(text, days) || (text[10] != ' ' && text[10] != 'T') ||
      text[13] != ':' || text[16] != ':') {
    return false;
  }
  const int hour = digits_at(text, 11, 2);
  const int minute = digits_at(text, 14, 2);
  const int second = digits_at(text, 17, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
    return false;
  }
  std::int64_t fraction_ps = 0;
  std::size_t i = kSecondsEnd;
  if (i < text.size() && text[i] == '.') {
    std::int64_t digit_ps = kPicosecondsPerSecondWhole / 10;
    const std::size_t first = ++i;
    for (; i < text.size() && is_digit(text[i]); ++i, digit_ps /= 10) {
      fraction_ps += (text[i] - '0') * digit_ps;
    }
    if (i == first || i - first > 9) {
      return false;
    }
  }
  std::int64_t offset_seconds = 0;
  if (!read_offset(text.substr(i), offset_seconds)) {
    return false;
  }
  const std::int64_t seconds = ((days * 24 + hour) * 60 + minute) * 60 + second - offset_seconds;
  time = static_cast<WidePicoseconds>(seconds) * kPicosecondsPerSecondWhole + fraction_ps;
  return true;
}

std::string decimal_text(std::int64_t value, int digits) {
  std::string text = fmt::format(
      "{:0{}}", value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value),
      digits + 1);
  text.insert(text.size() - static_cast<std::size_t>(digits), 1, '.');
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) {
    text.pop_back();
  }
  return (value < 0 ? "-" : "") + text;
}

std::string token_count_message(std::string_view name, std::string_view found, bool is_output) {
  const bool is_empty_output = is_output && found == "0";
  return fmt::format(
      "expected {} to be a whole number from 1 to {}, found {}{}", name, kMostTokens, quoted_excerpt(found),
      is_empty_output ? " (a request that failed or emitted nothing; skipping bad lines leaves it out)" : "");
}

}  // namespace inferometer
