#include "sim/report/page/page_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/config/utf8.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Well-formed UTF-8 without control characters.
std::string cleaned(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  const auto add = [&](std::string_view valid) {
    for (const char byte : valid) {
      const bool is_control =
          (static_cast<unsigned char>(byte) < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
      if (is_control) {
        clean += kReplacement;
      } else {
        clean += byte;
      }
    }
  };
  while (const auto invalid = first_invalid_utf8(text)) {
    add(text.substr(0, *invalid));
    clean += kReplacement;
    text.remove_prefix(*invalid + 1);
  }
  add(text);
  return clean;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (const char byte : cleaned(text)) {
    switch (byte) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += byte;
    }
  }
  return escaped;
}

std::string json_string(std::string_view text) {
  const std::string clean = cleaned(text);
  std::string json = "\"";
  for (std::size_t at = 0; at < clean.size(); ++at) {
    const char byte = clean[at];
    // U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
    if (clean.compare(at, 2, "\xE2\x80") == 0 && (clean[at + 2] == '\xA8' || clean[at + 2] == '\xA9')) {
      json += clean[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else if (byte == '<' || byte == '>' || byte == '&' || byte == '\n' || byte == '\t') {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
    } else {
      if (byte == '"' || byte == '\\') {
        json += '\\';
      }
      json += byte;
    }
  }
  return json + "\"";
}

std::string exact_number(double number) {
  INFEROMETER_CHECK(std::isfinite(number), "a page shows finite numbers only");
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

std::string readable_number(double number) {
  INFEROMETER_CHECK(std::isfinite(number), "a page shows finite numbers only");
  constexpr int kDigits = 6;
  constexpr double kLeast = 1e-4;
  constexpr double kMost = 1e15;
  const double size = std::abs(number);
  if (number != 0 && (size < kLeast || size >= kMost)) {
    return fmt::format("{:.{}g}", number, kDigits);
  }
  const int before_point = size < 1 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
  const int leading_zeros =
      number == 0 || size >= 1 ? 0 : static_cast<int>(-std::floor(std::log10(size))) - 1;
  const int decimals = size < 1 ? kDigits + leading_zeros : std::max(0, kDigits - before_point);
  std::string text = fmt::format("{:.{}f}", number, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
      text.pop_back();
    }
  }
  return text == "-0" ? "0" : text;
}

}  // namespace inferometer
