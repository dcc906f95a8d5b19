#include "sim/cli/usage_error.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/suggest.hpp"

namespace inferometer {
namespace {

/// How the library begins when a word is not of the option's type. All our typed options are numbers.
constexpr std::string_view kNotConverted = "Could not convert: ";

/// The command the user got to: `workload inspect` of `inferometer workload inspect --hel`.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.back());
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::string see_help(const CLI::App& app, const CLI::App& command) {
  std::string path = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent != nullptr; parent = parent->get_parent()) {
    path = parent->get_name() + " " + path;
  }
  return "; see \"" + (&command == &app ? app.get_name() : path) + " --help\"";
}

std::string describe_unknown_word(const CLI::App& app, const CLI::App& command, const std::string& word) {
  const std::string scope = &command == &app ? "" : " of " + command.get_name();
  if (word.size() > 1 && word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    const std::string near = did_you_mean(name, option_names(command));
    return "unknown option \"" + name + "\"" + scope + (near.empty() ? see_help(app, command) : near);
  }
  const std::vector<std::string> commands = command_names(command);
  if (commands.empty()) {
    return "unexpected argument \"" + word + "\"" + scope + see_help(app, command);
  }
  const std::string near = did_you_mean(word, commands);
  return "unknown command \"" + word + "\"" + scope +
         (near.empty() ? "; the commands are " + join_alternatives(commands) : near);
}

std::string number_fault(const std::string& word) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  return code == std::errc::result_out_of_range ? "\"" + word + "\" is outside the range of numbers" : "";
}

}  // namespace

void refuse_numbers_too_large(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (option->get_type_name() == "INT" || option->get_type_name() == "N") {
      option->check(number_fault);
    }
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    refuse_numbers_too_large(*command);
  }
}

std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> not_understood = app.remaining(true);
  if (!not_understood.empty()) {
    return describe_unknown_word(app, command, not_understood.front());
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !command_names(command).empty()) {
    return "a command is missing: " + join_alternatives(command_names(command)) + see_help(app, command);
  }
  const std::string message = error.what();
  if (message.starts_with(kNotConverted)) {
    return "cannot be read as a number: " + message.substr(kNotConverted.size()) + see_help(app, command);
  }
  return message + see_help(app, command);
}

}  // namespace inferometer
