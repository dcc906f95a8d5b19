#include "sim/report/sensitivity_sentence.hpp"

#include <utility>

#include <fmt/format.h>

namespace inferometer {
namespace {

std::string changes(const Sensitivity& sensitivity, double Sensitivity::Change::*side) {
  std::string text;
  for (const auto& [name, metric] : {std::pair("TTFT", "mean_ttft_ms"), std::pair("TPOT", "mean_tpot_ms"),
                                     std::pair("E2E", "mean_e2el_ms")}) {
    if (const Sensitivity::Change* const change = sensitivity.find(metric)) {
      text += fmt::format("{}{} {:+.1f} %", text.empty() ? "" : ", ", name, 100 * (change->*side));
    }
  }
  return text;
}

}  // namespace

std::string sensitivity_sentence(const std::optional<Sensitivity>& sensitivity) {
  if (!sensitivity || sensitivity->changes.empty()) {
    return "";
  }
  const double percent = 100 * sensitivity->step_time;
  return fmt::format("were steps {:g} % longer: {} on average; {:g} % shorter: {}", percent,
                     changes(*sensitivity, &Sensitivity::Change::longer), percent,
                     changes(*sensitivity, &Sensitivity::Change::shorter));
}

}  // namespace inferometer
