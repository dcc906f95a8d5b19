#pragma once

// Single values as traces write them. No locale, no allocation on the way that succeeds.

#include <cstdint>
#include <string>
#include <string_view>

#include "workloads/trace_format.hpp"

namespace inferometer {

/// More tokens than this in one prompt or output is a broken line.
inline constexpr std::int64_t kMostTokens = std::int64_t{1} << 31;

/// A whole number without sign other than '-', and nothing else. False when it is not one or does not fit.
bool read_integer(std::string_view text, std::int64_t& value);

/// A decimal number >= 0 ("12", "0.25", "1e-05") times 10^`power` seconds, to the nearest picosecond (exact
/// up to 12 + power digits behind the point; halves up). False when it is not one, is negative or is over
/// 10^12 seconds.
bool read_seconds(std::string_view text, int power, WidePicoseconds& time);

/// What read_seconds() takes, for messages: "from 0 to 1e12 (exponents within +-10000)"; the power is the
/// same.
std::string seconds_range(int power);

/// A date and time of day, "2023-11-16 18:15:46.6805900": 'T' or a blank between, 0 to 9 digits of a
/// fraction, then nothing, "Z" or an offset "+00:00" (which is subtracted). Since 1970, exact. False when it
/// is not one.
bool read_timestamp(std::string_view text, WidePicoseconds& time);

/// `value` / 10^`digits`, exactly and without trailing zeros: decimal_text(1500, 3) is "1.5".
std::string decimal_text(std::int64_t value, int digits);

/// "expected NAME to be a whole number from 1 to 2147483648, found ..." for a token count; for an
/// output of 0 it adds why traces have them.
std::string token_count_message(std::string_view name, std::string_view found, bool is_output);

}  // namespace inferometer
