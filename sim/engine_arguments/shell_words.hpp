#pragma once

// A command line as a shell splits it. Who uses it: the reader of an engine's command lines.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace inferometer {

struct ShellWord {
  std::string text;  ///< without its quotes
  Position where;    ///< of its first character, in the text that was split
};

/// Words as `sh` makes them: white space between, 'as it is', "but for \" \\ \$ and \`", \ before any
/// character, a \ before the end of a line goes on in the next. Nothing is expanded: $MODEL stays $MODEL.
/// `name` is the file of positions. Throws ConfigError for a quote that is not closed. O(length).
std::vector<ShellWord> split_shell_words(std::string_view text, const std::string& name);

}  // namespace inferometer
