#pragma once

// An engine's command line, its words matched with the flags that the engine has. Who uses it: translations
// of command lines to scenarios.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/engine_arguments/engine_flag.hpp"

namespace inferometer {

/// One flag as it stands on the command line.
struct GivenFlag {
  const EngineFlag* flag = nullptr;
  Position where;                   ///< of the flag
  std::string value;                ///< of FlagForm::value and json, without shell quotes
  Position value_where;             ///< of the value, or else of the flag
  bool is_on = true;                ///< of FlagForm::toggle
  std::vector<std::string> values;  ///< of FlagForm::list
  std::string key;                  ///< of FlagForm::json written key by key: "a.b" of --flag.a.b
};

struct GivenCommand {
  std::vector<GivenFlag> flags;          ///< as they come
  std::string model;                     ///< what stands without a flag; "": nothing
  Position model_where;                  ///< of that
  std::vector<std::string> environment;  ///< NAME=VALUE before the command
};

/// Reads `text` as `program` would: NAME=VALUE, `vllm serve` or `python -m MODULE` at its start may be there
/// or not; flags in full or as far as they are unique, with - or _, with their value behind them or behind a
/// "=", toggles with --no- before them or true or false behind them. Throws ConfigError with all mistakes at
/// once, each at its place in the text: quotes that do not close, unknown flags (with the nearest), flags
/// without their value. O(words * flags).
GivenCommand read_command(const EngineProgram& program, const std::string& text);

/// The whole number that a command line of these engines means: "8192", "8k" is 8000, "8K" 8192, "25.6k"
/// 25600; m, g, t and M, G, T likewise; nothing for anything else, a fraction before a capital letter among
/// it.
std::optional<std::int64_t> human_count(std::string_view text);

/// "true", "True", "false" and "False"; nothing for other words.
std::optional<bool> literal_flag(std::string_view text);

}  // namespace inferometer
