#pragma once

// The fast path of trace reading: numbers written the way nearly all traces write them. Each function returns
// false for any text it does not know, be it right or wrong; then the strict reader of the same name in
// trace_fields.hpp decides. Where one returns true, the strict reader gives the same value
// (plain_numbers_test.cpp).
//
// Precondition of all: kPlainNumberPadding bytes behind the text may be read, whatever they hold.

#include <string_view>

#include "base/text_input/eight_bytes.hpp"
#include "workloads/trace_format.hpp"

namespace inferometer {

inline constexpr std::size_t kPlainNumberPadding = 16;

/// 1 to 8 digits.
inline bool read_plain_integer(std::string_view text, std::int64_t& value) {
  if (text.empty() || text.size() > 8) {
    return false;
  }
  const std::uint64_t digits = load_eight(text.data()) ^ eight_times('0');
  // Up against the end: the bytes behind the text fall out, zeros lead.
  const std::uint64_t aligned = digits << (64 - 8 * text.size());
  value = static_cast<std::int64_t>(number_of(aligned));
  return places_from(aligned, 10) == 0;
}

/// 1 to 8 digits; then nothing, or a point and at most 12 digits, the picoseconds.
bool read_plain_seconds(std::string_view text, WidePicoseconds& time);

/// "YYYY-MM-DD HH:MM:SS", or with T for the blank; then nothing, or a point and 1 to 9 digits; then nothing
/// or "+00:00".
bool read_plain_timestamp(std::string_view text, WidePicoseconds& time);

}  // namespace inferometer
