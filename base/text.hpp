#pragma once

// Small pieces of text output that every report shares.

#include <string>
#include <vector>

#include "base/units.hpp"

namespace inferometer {

/// "16.06 GB" (1 GB = 1e9 bytes).
std::string gigabytes(Bytes bytes);

/// Rows of cells as aligned columns, two spaces apart: the first `left` columns flush left, the others flush
/// right. Every line ends in a newline and none in spaces. Widths count UTF-8 characters.
std::string align_columns(const std::vector<std::vector<std::string>>& rows, std::size_t left);

}  // namespace inferometer
