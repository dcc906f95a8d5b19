#include "sim/report/run/figures.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/report/text_layout.hpp"

namespace inferometer {

Cell cell(std::string text, std::string field, double value) {
  return {std::move(text), ResultsNumber{std::move(field), value}};
}

Cell share_cell(const std::string& field, const std::optional<double>& share) {
  return share ? cell(percent(*share), field, *share) : Cell("-");
}

Cell count_cell(const std::string& field, std::int64_t count) {
  return cell(grouped(count), field, static_cast<double>(count));
}

std::string percent(double share) {
  return short_number(100 * share) + " %";
}

std::string dollars(double amount) {
  constexpr double kCentsMatter = 10;
  return amount >= kCentsMatter && amount < 1e3 ? fmt::format("${:.2f}", amount) : "$" + short_number(amount);
}

std::string sentence(std::string text) {
  return text.ends_with('.') || text.ends_with('?') ? text : text + ".";
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::optional<std::string> interval(const Report& report, std::string_view metric) {
  const MetricInterval* found = report.uncertainty ? report.uncertainty->find(metric) : nullptr;
  if (found == nullptr) {
    return std::nullopt;
  }
  const auto text = metric.ends_with("_ms") ? short_duration : short_number;
  return text(found->low) + " to " + text(found->high);
}

std::string interval_behind(const Report& report, std::string_view metric) {
  const std::optional<std::string> found = interval(report, metric);
  return found ? " (" + *found + ")" : "";
}

std::string latency_name(std::string_view metric) {
  if (metric == "e2el") {
    return "E2E latency";
  }
  if (metric == "queue_delay") {
    return "queue delay";
  }
  std::string name(metric);
  for (char& letter : name) {
    letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return name;
}

std::string outcome(const SloVerdict& verdict) {
  if (!verdict.over) {
    return verdict.met ? "met" : "missed: nothing to measure";
  }
  return fmt::format("{} {} %{}", verdict.met ? "met with" : "missed by",
                     short_number(100 * std::abs(*verdict.over)), verdict.met ? " to spare" : "");
}

bool is_in_doubt(const Report& report, const SloVerdict& verdict) {
  const std::size_t end = verdict.name.rfind('_');
  if (!report.uncertainty || verdict.is_share() || end == std::string::npos) {
    return false;
  }
  const MetricInterval* found = report.uncertainty->find(
      fmt::format("{}_{}_ms", verdict.name.substr(end + 1), verdict.name.substr(0, end)));
  return found != nullptr && found->low <= verdict.limit && verdict.limit < found->high;
}

std::string slo_amount(const SloVerdict& verdict, double value) {
  return verdict.is_share() ? percent(value) : short_duration(value);
}

}  // namespace inferometer
