#pragma once

#include <string_view>

namespace inferometer {

/// Reports a broken internal promise: throws std::logic_error with the expression, place and sentence.
/// Never for user input, which is reported by InputError (base/error.hpp).
[[noreturn]] void check_failed(std::string_view expression, std::string_view file, int line,
                               std::string_view sentence);

}  // namespace inferometer

/// A promise between parts of the program that no input can break. Always on: keep it off inner loops.
#define INFEROMETER_CHECK(condition, sentence)                               \
  do {                                                                       \
    if (!(condition)) {                                                      \
      ::inferometer::check_failed(#condition, __FILE__, __LINE__, sentence); \
    }                                                                        \
  } while (false)
