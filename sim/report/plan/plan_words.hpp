#pragma once

// Figures of a plan in words: what its terminal text and its page have in common.

#include <optional>
#include <string>
#include <string_view>

#include "sim/study/plan/plan_result.hpp"

namespace inferometer {

/// Hours of a month, for what a fleet costs in one: a year has 8,760.
inline constexpr double kHoursOfMonth = 730;

/// "ttft_p99" and "p99_ttft_ms" -> "p99 TTFT"; names of another form stay, with blanks for underscores.
std::string target_in_words(std::string_view name);
std::string metric_in_words(std::string_view metric);

/// What of Outcome::metrics a target limits: "ttft_p99" -> "p99_ttft_ms", "goodput" -> "goodput_share".
std::string metric_of_target(std::string_view name);

/// "612 ms"; of goodput "98.7 %".
std::string amount_in_words(const TargetResult& target, double amount);

/// "612 ms (598-626)", or "612 ms" without an interval, "nothing measured" without a value. A bound below 0,
/// which no latency can have, is shown as 0.
std::string value_in_words(const TargetResult& target);

/// "p99 TTFT 612 ms (598-626) of 800 ms"; "goodput 98.7 % of at least 99.0 %".
std::string target_sentence(const TargetResult& target);

/// "p99 TTFT 612 of 800 ms", for a column.
std::string target_in_brief(const TargetResult& target);

/// "$8.85/h". "no price" for 0, which stands for GPUs without one.
std::string dollars_per_hour_in_words(double dollars);

/// 700 -> "700 W", 2100 -> "2.10 kW".
std::string power_in_words(double watts);

/// What is minimised: "cost", "number of GPUs", "power".
std::string objective_in_words(Objective objective);

/// A size's cost in what is minimised, with its unit: "$8.85/h", "3 GPUs", "2.10 kW".
std::string cost_in_words(Objective objective, const Size& size);

/// So many units: "3 x (1 x h100-sxm)" of units "1 x (1 x h100-sxm)", else "3 x [prefill 1 x (...), ...]".
std::string setup_in_words(const ShapeResult& shape, std::int64_t units);

/// What the setup does not show, and `known` has not the same of: "policy chunked_prefill,
/// max_num_batched_tokens 1024"; may be empty. `known` may be nullptr.
std::string settings_in_words(const ShapeResult& shape, const ShapeResult* known);

/// "14.2-14.5 req/s", "at least 14.2 req/s" where no higher rate failed, "less than 3.1 req/s".
std::string rate_in_words(const SustainedRate& rate);

/// The same for a column: "14.2-14.5", ">= 14.2", "< 3.10".
std::string rate_in_brief(const SustainedRate& rate);

/// By which part the sustained rate is above what is offered; absent when nothing is sustained or offered.
std::optional<double> headroom(const SustainedRate& rate, double offered_per_second);

/// "18 % above" or "4.0 % below".
std::string part_in_words(double part);

/// With a full stop at the end; "" stays.
std::string with_stop(std::string text);

/// "1 shape", "2 shapes".
std::string counted(std::int64_t number, const std::string& noun);

/// What became of shapes, behind their number: "proven to cost no less than the answer".
std::string fate_in_words(ShapeFate fate);

/// "meets", "misses the SLO", "saturated", ...
std::string verdict_in_words(Verdict verdict);

}  // namespace inferometer
