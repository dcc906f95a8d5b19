#include "sim/report/compare/difference_words.hpp"

#include <cmath>

#include "sim/report/compare/metric_words.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

std::string with_sign(double value, const std::string& size) {
  return (value < 0 ? "-" : "+") + size;
}

}  // namespace

std::string short_difference(const std::string& metric, const Difference& difference) {
  if (difference.is_same()) {
    return "";
  }
  if (!difference.relative) {
    return with_sign(difference.value.mean, metric_number(metric, std::abs(difference.value.mean)));
  }
  const RelativeDifference& relative = *difference.relative;
  // Twice as much and more is easier to read as a factor.
  const bool is_factor = relative.share >= 1;
  const auto number = [&](double share) {
    return is_factor ? short_number(1 + share) : with_sign(share, short_number(100 * std::abs(share)));
  };
  const std::string range =
      relative.low ? number(*relative.low) + " to " + number(*relative.high) : number(relative.share);
  return range + (is_factor ? " x" : " %");
}

std::string verdict_word(const Difference& difference) {
  std::string word;
  if (difference.verdict != DifferenceVerdict::no_difference) {
    word = to_string(difference.verdict);
  } else {
    word = difference.is_same() ? "=" : "~";
  }
  return word + (difference.is_unsteady ? "*" : "");
}

}  // namespace inferometer
