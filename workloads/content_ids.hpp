#pragma once

// Numbers for what generated prompts consist of. Each kind has its own range, and within it the number says
// which one it is: no two things share a number, and none depends on the order in which anything finishes.

#include <cstdint>

#include "base/check.hpp"

namespace inferometer {

enum class ContentKind : std::uint64_t {
  prefix = 1,       ///< of a group
  shared_question,  ///< of a group and a number in it
  question,         ///< of a request, or of a session and a turn
  answer            ///< of a session and a turn
};

inline constexpr int kContentPartBits = 20;  ///< of the second number
inline constexpr int kContentKindShift = 56;

/// Precondition: 0 <= whole < 2^36, 0 <= part < 2^20. Above 0 and below 2^63.
inline std::uint64_t content_id(ContentKind kind, std::int64_t whole, std::int64_t part = 0) {
  INFEROMETER_CHECK(whole >= 0 && whole < std::int64_t{1} << (kContentKindShift - kContentPartBits),
                    "a number of content fits its bits");
  INFEROMETER_CHECK(part >= 0 && part < std::int64_t{1} << kContentPartBits,
                    "a part of content fits its bits");
  return static_cast<std::uint64_t>(kind) << kContentKindShift |
         static_cast<std::uint64_t>(whole) << kContentPartBits | static_cast<std::uint64_t>(part);
}

}  // namespace inferometer
