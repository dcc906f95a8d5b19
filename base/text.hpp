#pragma once

// Small pieces of text that reports and messages share.

#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// The text in quotes for a message: bytes that do not print as \xNN, long text cut.
std::string quoted_excerpt(std::string_view text);

/// "16.06 GB" (1 GB = 1e9 bytes).
std::string gigabytes(Bytes bytes);

/// Rows of cells as aligned columns, two spaces apart: the first `left` columns flush left, the others flush
/// right. Every line ends in a newline and none in spaces. Widths count UTF-8 characters.
std::string align_columns(const std::vector<std::vector<std::string>>& rows, std::size_t left);

}  // namespace inferometer
