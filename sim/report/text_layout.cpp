#include "sim/report/text_layout.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace inferometer {

std::string grouped(std::int64_t number) {
  std::string text = fmt::format("{}", number);
  const std::size_t first_digit = number < 0 ? 1 : 0;
  for (std::size_t place = text.size(); place > first_digit + 3;) {
    place -= 3;
    text.insert(place, ",");
  }
  return text;
}

std::string short_number(double number) {
  const double size = std::abs(number);
  if (size >= 999.5) {
    return grouped(std::llround(number));
  }
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 || number == 0 ? 2 : 3;
  return fmt::format("{:.{}f}", number, decimals);
}

std::string short_duration(double milliseconds) {
  if (milliseconds >= 999.5) {
    return short_number(milliseconds / 1e3) + " s";
  }
  return milliseconds >= 0.9995 || milliseconds == 0 ? short_number(milliseconds) + " ms"
                                                     : short_number(milliseconds * 1e3) + " us";
}

std::string joined(const std::vector<std::string>& items, std::string_view separator, int indent, int width) {
  std::string lines;
  std::size_t column = static_cast<std::size_t>(indent);
  for (const std::string& item : items) {
    if (!lines.empty()) {
      const bool fits = column + separator.size() + item.size() <= static_cast<std::size_t>(width);
      lines += fits ? std::string(separator) : "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      column = fits ? column + separator.size() : static_cast<std::size_t>(indent);
    }
    lines += item;
    column += item.size();
  }
  return lines;
}

std::string wrapped(std::string_view sentence, int indent, int width) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', begin), sentence.size());
    if (end > begin) {
      words.emplace_back(sentence.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return joined(words, " ", indent, width);
}

std::string stacked_bar(const std::vector<BarPart>& parts, int width) {
  std::string bar;
  double share = 0;
  for (const BarPart& part : parts) {
    share += part.share;
    const auto end =
        static_cast<std::size_t>(std::clamp<std::int64_t>(std::llround(share * width), 0, width));
    bar.resize(std::max(end, bar.size()), part.letter);
  }
  bar.resize(static_cast<std::size_t>(width), ' ');
  return bar;
}

}  // namespace inferometer
