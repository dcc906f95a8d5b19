#include "sim/study/plan/target_words.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace inferometer {
namespace {

bool is_share(std::string_view target) {
  return target == "goodput";
}

/// From here on a multiple says more than a percentage.
constexpr double kManyTimes = 1;
constexpr double kMillisecondsOfSecond = 1e3;

}  // namespace

std::string target_in_words(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLatencies = {
      {{"ttft", "TTFT"}, {"tpot", "TPOT"}, {"itl", "ITL"}, {"e2el", "E2E"}}};
  const std::size_t last = name.rfind('_');
  for (const auto& [key, word] : kLatencies) {
    if (last != std::string_view::npos && name.substr(0, last) == key) {
      return fmt::format("{} {}", name.substr(last + 1), word);
    }
  }
  return std::string(name);
}

std::string target_amount(std::string_view name, double amount) {
  if (is_share(name)) {
    return fmt::format("{:.3g} %", 100 * amount);
  }
  return amount < kMillisecondsOfSecond ? fmt::format("{:.3g} ms", amount)
                                        : fmt::format("{:.4g} s", amount / kMillisecondsOfSecond);
}

std::string miss_in_words(std::string_view name, double over) {
  if (is_share(name)) {
    return fmt::format("{:.3g} % below", 100 * over);
  }
  return over > kManyTimes ? fmt::format("{:.3g} times", 1 + over) : fmt::format("{:.3g} % over", 100 * over);
}

}  // namespace inferometer
