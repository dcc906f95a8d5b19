#include "costmodel/kernels/tree_text.hpp"

#include <array>
#include <cstdint>

#include "base/check.hpp"
#include "base/error.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int kOffset = 1 << 17;
constexpr int kNoDigit = -1;

constexpr std::array<std::int8_t, 256> digit_values() {
  std::array<std::int8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}

}  // namespace

std::string tree_text(const std::vector<int>& codes) {
  std::string text;
  text.reserve(3 * codes.size());
  for (const int code : codes) {
    INFEROMETER_CHECK(code >= -kOffset && code < kOffset, "a code of more than 18 bits");
    const auto number = static_cast<unsigned>(code + kOffset);
    text += kDigits[number >> 12];
    text += kDigits[(number >> 6) & 63];
    text += kDigits[number & 63];
  }
  return text;
}

std::vector<int> codes_from_text(std::string_view text) {
  static constexpr std::array<std::int8_t, 256> kValues = digit_values();
  if (text.size() % 3 != 0) {
    throw ConfigError(Position{}, "trees are written three characters a code; this text is cut off");
  }
  std::vector<int> codes;
  codes.reserve(text.size() / 3);
  for (std::size_t i = 0; i < text.size(); i += 3) {
    int number = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      const int digit = kValues[static_cast<unsigned char>(text[j])];
      if (digit == kNoDigit) {
        throw ConfigError(Position{}, "trees are written in letters, digits, + and /; character " +
                                          std::to_string(j + 1) + " is none of them");
      }
      number = 64 * number + digit;
    }
    codes.push_back(number - kOffset);
  }
  return codes;
}

}  // namespace inferometer
