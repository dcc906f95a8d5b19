#pragma once

// Seconds as a file's decimal nanoseconds and back without a rounding: the point is moved in the text.

#include <optional>
#include <string>
#include <string_view>

namespace inferometer {

/// 1.62085e-05 -> "16208.5": the shortest decimal that nanoseconds_from() turns into the same seconds.
/// Precondition: a finite number from 1e-12 to 1e6.
std::string nanoseconds_text(double seconds);

/// "16208.5" -> 1.62085e-05. Nothing for what is no number, not above 0, or over 1e6 seconds.
std::optional<double> seconds_from_nanoseconds(std::string_view text);

}  // namespace inferometer
