#include "base/config/utf8.hpp"

#include <algorithm>
#include <utility>

namespace inferometer {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool is_continuation(unsigned byte) {
  return (byte & 0xC0u) == 0x80u;
}

/// Length of the well-formed sequence at `i`, 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const unsigned lead = byte_at(text, i);
  if (lead < 0x80u) {
    return 1;
  }
  const std::size_t length = lead < 0xC2u ? 0 : lead < 0xE0u ? 2 : lead < 0xF0u ? 3 : lead < 0xF5u ? 4 : 0;
  if (length == 0 || length > text.size() - i) {
    return 0;
  }
  for (std::size_t k = 1; k < length; ++k) {
    if (!is_continuation(byte_at(text, i + k))) {
      return 0;
    }
  }
  const unsigned second = byte_at(text, i + 1);
  const bool overlong = (lead == 0xE0u && second < 0xA0u) || (lead == 0xF0u && second < 0x90u);
  const bool surrogate = lead == 0xEDu && second >= 0xA0u;
  const bool beyond_unicode = lead == 0xF4u && second >= 0x90u;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}

}  // namespace

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    if (length == 0) {
      return i;
    }
    i += length;
  }
  return std::nullopt;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMostBytes = 60;
  std::size_t length = text.size();
  if (length > kMostBytes) {
    length = kMostBytes;
    while (length > 0 && is_continuation(byte_at(text, length))) {
      --length;
    }
  }
  std::string result(text.substr(0, length));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return length < text.size() ? result + "…" : result;
}

LineMap::LineMap(std::string_view text, std::string file) : file_(std::move(file)), line_starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      line_starts_.push_back(i + 1);
    } else if (is_continuation(byte_at(text, i))) {
      continuation_bytes_.push_back(i);
    }
  }
}

Position LineMap::position(std::size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const std::size_t line_start = *(after - 1);
  const auto first = std::lower_bound(continuation_bytes_.begin(), continuation_bytes_.end(), line_start);
  const auto last = std::lower_bound(first, continuation_bytes_.end(), offset);
  const std::size_t characters = offset - line_start - static_cast<std::size_t>(last - first);
  return {file_, static_cast<int>(after - line_starts_.begin()), static_cast<int>(characters + 1)};
}

}  // namespace inferometer
