#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace inferometer {

/// What is wrong with the command line, in a sentence or two, after app.parse() threw `error`. For a word
/// that is not known it names the nearest command or option.
std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace inferometer
