#pragma once

// Numbers of a run as its page writes them. Who uses it: the sections of the page.

#include <optional>
#include <string>
#include <string_view>

#include "sim/report/page/page.hpp"
#include "sim/report/report.hpp"

namespace inferometer {

/// A cell that shows a number of results.json. `field`: its path there.
Cell cell(std::string text, std::string field, double value);
/// "-" where there is no number.
Cell share_cell(const std::string& field, const std::optional<double>& share);
Cell count_cell(const std::string& field, std::int64_t count);

/// 0.123 -> "12.3 %".
std::string percent(double share);
/// Dollars in digits that matter, and cents at least: "$0.322", "$12.30".
std::string dollars(double amount);
/// With its full stop, unless it ends with a stop or a question already.
std::string sentence(std::string text);
/// "1 request", "2,000 requests".
std::string counted(std::int64_t count, std::string_view noun);

/// "220 ms to 259 ms", "0.31 to 0.33", of a headline metric: latencies with their unit, others in the
/// metric's. Nothing without an interval of it.
std::optional<std::string> interval(const Report& report, std::string_view metric);
/// The same behind a figure: " (220 ms to 259 ms)", or nothing.
std::string interval_behind(const Report& report, std::string_view metric);

/// "TTFT" for "ttft".
std::string latency_name(std::string_view metric);

/// "met with 56.0 % to spare", "missed by 12.3 %", "missed: nothing to measure".
std::string outcome(const SloVerdict& verdict);
/// Whether re-runs lie on both sides of the limit, so that chance decides whether it is met. False without an
/// interval.
bool is_in_doubt(const Report& report, const SloVerdict& verdict);
/// A value or a limit with its unit: "500 ms", "95.0 %".
std::string slo_amount(const SloVerdict& verdict, double value);

}  // namespace inferometer
