#pragma once

// What is known of the flags of a serving engine's command line: how each is written and what becomes of it.
// Who uses it: the reader of command lines, their translation, and `describe`.

#include <string>
#include <string_view>
#include <vector>

namespace inferometer {

/// How a flag is written.
enum class FlagForm {
  value,   ///< --flag VALUE or --flag=VALUE
  toggle,  ///< --flag, --no-flag, --flag false
  list,    ///< --flag A B C, up to the next flag; also none
  json,    ///< --flag '{"key": 1}', also key by key: --flag.key 1
};

/// What becomes of it.
enum class FlagEffect {
  count,         ///< a whole number for the key `says`; 8k is 8000, 8K is 8192
  rank_count,    ///< the same of each data-parallel rank of attention, which a scenario counts together
  number,        ///< a number for the key `says`
  flag,          ///< true or false for the key `says`
  own,           ///< a rule of its own, which `says` describes
  not_modelled,  ///< changes what is measured, and no simulation of ours: `says` why
  none,          ///< changes nothing that is simulated
};

struct EngineFlag {
  std::vector<std::string> names;  ///< the long one first: --tensor-parallel-size, -tp
  FlagForm form;
  FlagEffect effect;
  std::string says;  ///< see FlagEffect
  std::vector<std::string>
      neutral;  ///< values of one that is not modelled which change nothing; off is always one

  [[nodiscard]] const std::string& name() const { return names.front(); }
};

/// An engine and its command line.
struct EngineProgram {
  std::string title;                 ///< "vLLM"
  std::string option;                ///< of ours that takes it, and the file in positions: "--vllm-args"
  std::string executable;            ///< "vllm"; may be left out, as may what follows it
  std::string subcommand;            ///< "serve"
  std::vector<std::string> modules;  ///< that `python -m` runs in its place
  std::vector<EngineFlag> flags;
};

/// A table of flags as text, a line each: FLAGS | form | effect | says | neutral values. A line without
/// columns goes on with the flags of the one before. Of FLAGS each long one is a flag of its own, short ones
/// are further names of the one before them. Programmer's error: a line of another form.
std::vector<EngineFlag> parse_flag_table(std::string_view table);

/// vLLM's `serve`, versions 0.6 to 0.15.
const EngineProgram& vllm_program();

/// Its flags for a terminal: those that are modelled with the keys that they set, those that are not with the
/// reason, the names of those that change nothing.
std::string describe_flags(const EngineProgram& program);

}  // namespace inferometer
