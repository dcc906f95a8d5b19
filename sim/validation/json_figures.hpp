#pragma once

// Numbers out of the JSON of benchmark tools, with mistakes at line and column. Who uses it: the JSON readers
// of formats/.

#include <optional>
#include <string>
#include <string_view>

#include "costmodel/json_object.hpp"
#include "sim/validation/measured_run.hpp"

namespace inferometer {

/// The number of a key; nothing when it is missing or null. Throws ConfigError, at the key, for anything else
/// and for a number below 0.
std::optional<double> number_of(const JsonObject& object, std::string_view key);

/// A whole number from `least`; throws ConfigError when it is missing or another.
std::int64_t needed_count(const JsonObject& object, std::string_view key, std::int64_t least);

/// Appends the figure. Tools write 0 for what they did not measure: that is left out, with a note.
void add_figure(MeasuredRun& run, std::string_view metric, std::optional<double> value);

/// The number at `path` ("a.b.c") below a value; nothing when it is missing or no number.
std::optional<double> number_below(const nlohmann::json& value, std::string_view path);

/// The text at `path` below a value; "" when it is missing or no text.
std::string text_below(const nlohmann::json& value, std::string_view path);

/// Throws ConfigError at the file when the run has no figure at all.
void check_has_figures(const MeasuredRun& run, const std::string& path, const std::string& keys);

}  // namespace inferometer
