#include "sim/report/compare/difference_words.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/report/compare/metric_words.hpp"
#include "sim/report/text_layout.hpp"

namespace inferometer {
namespace {

/// None in any pair: chance had no part in that.
bool is_same(const Difference& difference) {
  return difference.value.mean == 0 && !difference.p_value;
}

std::string with_sign(double value, const std::string& size) {
  return (value < 0 ? "-" : "+") + size;
}

}  // namespace

std::string short_difference(const std::string& metric, const Difference& difference) {
  if (is_same(difference)) {
    return "";
  }
  const std::optional<double> share = difference.share();
  if (!share) {
    return with_sign(difference.value.mean, metric_number(metric, std::abs(difference.value.mean)));
  }
  const std::optional<double> half_width = difference.share_half_width();
  // Twice as much and more is easier to read as a factor.
  if (*share >= 1) {
    return short_number(1 + *share) + (half_width ? " +-" + short_number(*half_width) : "") + " x";
  }
  return with_sign(*share, short_number(100 * std::abs(*share))) +
         (half_width ? " +-" + short_number(100 * *half_width) : "") + " %";
}

std::string verdict_word(const Difference& difference) {
  std::string word;
  if (difference.verdict != Verdict::no_difference) {
    word = to_string(difference.verdict);
  } else {
    word = is_same(difference) ? "=" : "~";
  }
  return word + (difference.is_unsteady ? "*" : "");
}

}  // namespace inferometer
