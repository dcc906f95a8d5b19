#pragma once

// What goes before and after the YAML library: bytes it must not see, and words for its syntax errors.

#include <cstddef>
#include <string>
#include <string_view>

namespace inferometer {

/// The text without byte-order mark and with plain line ends. Throws ConfigError for the first byte that is
/// not UTF-8 or is a control character (tab and line ends excepted).
std::string check_and_normalise(std::string_view text, const std::string& name);

/// A sentence for a syntax error that the library noticed at `offset`: names a tab in the indentation or a
/// missing space after a colon when that is the likely cause, and falls back on the library's own words.
std::string explain_syntax_error(std::string_view text, std::size_t offset, const std::string& library_words);

}  // namespace inferometer
