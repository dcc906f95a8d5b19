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

/// Whole numbers that do not fit are refused, in all commands; the library would take the largest that fits
/// in their place. Called once all options are there.
void refuse_numbers_too_large(CLI::App& app);

}  // namespace inferometer
