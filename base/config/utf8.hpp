#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace inferometer {

/// Offset of the first byte that does not belong to well-formed UTF-8 (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF), or nothing. O(length).
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// `text` as it may stand in a message of one line: line ends and tabs as spaces, cut short with "…".
std::string shown(std::string_view text);

/// Turns byte offsets of a text into lines and columns, columns counted in characters. Made once in
/// O(length), asked in O(log length), whatever the order of questions.
class LineMap {
 public:
  /// Keeps offsets only: `text` need not live on.
  LineMap(std::string_view text, std::string file);
  [[nodiscard]] Position position(std::size_t offset) const;

 private:
  std::string file_;
  std::vector<std::size_t> line_starts_;
  std::vector<std::size_t> continuation_bytes_;
};

}  // namespace inferometer
