#pragma once

// Regression trees as text that is short enough for a file: three characters a code.

#include <string>
#include <string_view>
#include <vector>

namespace inferometer {

/// Each code plus 2^17 as three digits of base 64, the first the highest: A..Z a..z 0..9 + /.
/// Precondition: -2^17 <= code < 2^17.
std::string tree_text(const std::vector<int>& codes);

/// Throws ConfigError without a place: a length that is no multiple of three, another character.
std::vector<int> codes_from_text(std::string_view text);

}  // namespace inferometer
