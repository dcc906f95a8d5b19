#pragma once

// Small pieces that texts for a terminal are laid out with.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace inferometer {

/// 1234567 -> "1,234,567".
std::string grouped(std::int64_t number);

/// Three digits that matter and no exponent: 0.1234 -> "0.123", 12.345 -> "12.3", 1234.5 -> "1,235".
std::string short_number(double number);

/// A span of time in the unit that suits it: 0.01234 ms -> "12.3 us", 1500 ms -> "1.50 s".
std::string short_duration(double milliseconds);

/// Items with a separator between them, or a new line where the next item would pass `width` characters. New
/// lines are indented by `indent` spaces; the first is taken to start at column `indent`. No newline at the
/// end.
std::string joined(const std::vector<std::string>& items, std::string_view separator, int indent, int width);

/// The words of a sentence, laid out likewise.
std::string wrapped(std::string_view sentence, int indent, int width);

struct BarPart {
  char letter = ' ';
  double share = 0;  ///< of the whole
};

/// A bar of exactly `width` characters. Each part ends where the shares up to it end, rounded to whole
/// characters, so that no rounding error adds up; what the shares leave is spaces. Precondition: shares >= 0,
/// sum <= 1.
std::string stacked_bar(const std::vector<BarPart>& parts, int width);

}  // namespace inferometer
