#pragma once

// What a plan's reasons call limits of an SLO and their values.

#include <string>
#include <string_view>

namespace inferometer {

/// "ttft_p99" -> "p99 TTFT"; "goodput" stays.
std::string target_in_words(std::string_view name);

/// In milliseconds, or a share for goodput, with three digits: "612 ms", "1.57 s", "98.7 %".
std::string target_amount(std::string_view name, double amount);

/// How far a limit is missed, `over` as in TargetResult: "13 % over", "173 times"; of goodput "2 % below".
std::string miss_in_words(std::string_view name, double over);

}  // namespace inferometer
