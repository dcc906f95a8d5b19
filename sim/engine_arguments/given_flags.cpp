#include "sim/engine_arguments/given_flags.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "sim/engine_arguments/shell_words.hpp"

namespace inferometer {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// -4 is a value, -tp a flag.
bool looks_like_flag(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && !is_digit(word[1]) && word[1] != '.';
}

/// NAME=VALUE before a command.
bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && equals > 0 && !is_digit(word.front()) &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](char c) { return (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); });
}

/// "/opt/venv/bin/vllm" -> "vllm"
std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

class Reader {
 public:
  Reader(const EngineProgram& program, const std::string& text)
      : program_(program), words_(split_shell_words(text, program.option)) {}

  GivenCommand read() {
    skip_command();
    while (at_ < words_.size()) {
      const ShellWord& word = words_[at_++];
      if (looks_like_flag(word.text)) {
        read_flag(word);
      } else if (command_.model.empty()) {
        command_.model = word.text;
        command_.model_where = word.where;
      } else {
        mistakes_.add(word.where, quoted_excerpt(word.text) + " belongs to no flag, and the model is " +
                                      quoted_excerpt(command_.model) + " already");
      }
    }
    mistakes_.throw_if_any();
    return std::move(command_);
  }

 private:
  [[nodiscard]] bool is_at(const std::string& word) const {
    return at_ < words_.size() && words_[at_].text == word;
  }

  /// What starts the engine.
  void skip_command() {
    while (at_ < words_.size() && is_assignment(words_[at_].text)) {
      command_.environment.push_back(words_[at_++].text);
    }
    if (at_ < words_.size() && base_name(words_[at_].text).starts_with("python")) {
      const Position where = words_[at_++].where;
      at_ += is_at("-m") ? 1 : 0;
      const std::string module = at_ < words_.size() ? words_[at_++].text : "";
      if (std::find(program_.modules.begin(), program_.modules.end(), module) == program_.modules.end()) {
        mistakes_.add(where, "Python runs " + program_.title + " as \"-m " + program_.modules.front() +
                                 "\", not as " + quoted_excerpt(module));
      }
    } else if (!program_.executable.empty() && at_ < words_.size() &&
               base_name(words_[at_].text) == program_.executable) {
      ++at_;
    }
    at_ += !program_.subcommand.empty() && is_at(program_.subcommand) ? 1 : 0;
  }

  /// Of exactly that name.
  [[nodiscard]] const EngineFlag* named(const std::string& name) const {
    const auto found =
        std::find_if(program_.flags.begin(), program_.flags.end(), [&](const EngineFlag& flag) {
          return std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end();
        });
    return found == program_.flags.end() ? nullptr : &*found;
  }

  /// Of a name that is cut short, the flags that it may be: argparse takes it when that is one.
  [[nodiscard]] std::vector<const EngineFlag*> beginning_with(const std::string& name) const {
    std::vector<const EngineFlag*> found;
    for (const EngineFlag& flag : program_.flags) {
      if (name.starts_with("--") && name.size() > 2 && flag.name().starts_with(name)) {
        found.push_back(&flag);
      }
    }
    return found;
  }

  /// Finds the flag of a word; fills in what its name says already. False: there is none, which is told.
  bool find_flag(const std::string& written, GivenFlag& given) {
    std::string name = written;
    std::replace(name.begin(), name.end(), '_', '-');
    given.flag = named(name);
    const std::size_t dot = name.find('.');
    if (given.flag == nullptr && dot != std::string::npos) {
      given.flag = named(name.substr(0, dot));
      if (given.flag != nullptr && given.flag->form == FlagForm::json) {
        given.key = written.substr(dot + 1);
        return true;
      }
      given.flag = nullptr;
    }
    if (given.flag == nullptr && name.starts_with("--no-")) {
      given.flag = named("--" + name.substr(5));
      given.is_on = given.flag == nullptr || given.flag->form != FlagForm::toggle;
      given.flag = given.is_on ? nullptr : given.flag;
    }
    if (given.flag != nullptr) {
      return true;
    }
    const std::vector<const EngineFlag*> candidates = beginning_with(name);
    if (candidates.size() == 1) {
      given.flag = candidates.front();
      return true;
    }
    mistakes_.add(given.where, unknown(name, candidates));
    return false;
  }

  [[nodiscard]] std::string unknown(const std::string& name,
                                    const std::vector<const EngineFlag*>& candidates) const {
    std::vector<std::string> names;
    for (const EngineFlag* flag : candidates) {
      names.push_back(flag->name());
    }
    if (!names.empty() && names.size() <= 6) {
      return quoted_excerpt(name) + " may be " + join_alternatives(names) + "; write it out";
    }
    names.clear();
    for (const EngineFlag& flag : program_.flags) {
      names.insert(names.end(), flag.names.begin(), flag.names.end());
    }
    const std::string near = did_you_mean(name, names);
    return program_.title + " has no flag " + quoted_excerpt(name) +
           (near.empty()
                ? "; \"inferometer describe " + program_.option.substr(2) + "\" lists those that are known"
                : near);
  }

  /// -O3 for -O 3: of flags of one letter.
  [[nodiscard]] bool has_value_attached(const std::string& word) const {
    return word.size() > 2 && word[1] != '-' && word[2] != '=' &&
           named(word.substr(0, word.find('='))) == nullptr && word.find('.') != 3 &&
           named(word.substr(0, word.find('.'))) == nullptr && named(word.substr(0, 2)) != nullptr;
  }

  void read_flag(const ShellWord& word) {
    GivenFlag given;
    given.where = given.value_where = word.where;
    const bool is_attached = has_value_attached(word.text);
    const std::size_t equals = is_attached ? 2 : word.text.find('=');
    const std::string name = word.text.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos) {
      value = word.text.substr(equals + (is_attached ? 0 : 1));
      given.value_where.column += static_cast<int>(word.text.size() - value->size());
    }
    if (!find_flag(name, given)) {
      at_ += !value && at_ < words_.size() && !looks_like_flag(words_[at_].text)
                 ? 1
                 : 0;  // its value, most likely
      return;
    }
    read_value(given, std::move(value));
  }

  void read_value(GivenFlag& given, std::optional<std::string> value) {
    const bool is_word_next = at_ < words_.size() && !looks_like_flag(words_[at_].text);
    switch (given.flag->form) {
      case FlagForm::toggle:
        read_toggle(given, value);
        break;
      case FlagForm::list:
        if (value) {
          given.values.push_back(*value);
        }
        while (!value && at_ < words_.size() && !looks_like_flag(words_[at_].text)) {
          given.values.push_back(words_[at_++].text);
        }
        break;
      case FlagForm::value:
      case FlagForm::json:
        if (!value && !is_word_next) {
          mistakes_.add(given.where, given.flag->name() + " has no value behind it");
          return;
        }
        if (!value) {
          given.value_where = words_[at_].where;
          value = words_[at_++].text;
        }
        given.value = *value;
        break;
    }
    command_.flags.push_back(std::move(given));
  }

  void read_toggle(GivenFlag& given, const std::optional<std::string>& value) {
    const std::optional<bool> literal = value                 ? literal_flag(*value)
                                        : at_ < words_.size() ? literal_flag(words_[at_].text)
                                                              : std::nullopt;
    if (value && !literal) {
      mistakes_.add(given.value_where,
                    given.flag->name() + " is true or false, found " + quoted_excerpt(*value));
    } else if (literal) {
      given.is_on = given.is_on == *literal;
      at_ += value ? 0 : 1;
    }
  }

  const EngineProgram& program_;
  std::vector<ShellWord> words_;
  std::size_t at_ = 0;
  GivenCommand command_;
  Diagnostics mistakes_;
};

}  // namespace

GivenCommand read_command(const EngineProgram& program, const std::string& text) {
  return Reader(program, text).read();
}

std::optional<std::int64_t> human_count(std::string_view text) {
  static constexpr std::string_view kDecimal = "kmgt";
  static constexpr std::string_view kBinary = "KMGT";
  constexpr std::size_t kMostDigits = 15;
  std::int64_t unit = 1;
  std::size_t decimal = text.empty() ? std::string_view::npos : kDecimal.find(text.back());
  const std::size_t binary = text.empty() ? std::string_view::npos : kBinary.find(text.back());
  for (std::size_t i = 0; decimal != std::string_view::npos && i <= decimal; ++i) {
    unit *= 1000;
  }
  for (std::size_t i = 0; binary != std::string_view::npos && i <= binary; ++i) {
    unit *= 1024;
  }
  if (unit > 1) {
    text.remove_suffix(1);
  }
  const std::size_t dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  const std::string_view fraction = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  const bool has_only_digits = std::all_of(whole.begin(), whole.end(), is_digit) &&
                               std::all_of(fraction.begin(), fraction.end(), is_digit);
  const bool may_have_fraction = decimal != std::string_view::npos;
  if (whole.empty() || !has_only_digits || whole.size() > kMostDigits || fraction.size() > kMostDigits ||
      (dot != std::string_view::npos && (fraction.empty() || !may_have_fraction))) {
    return std::nullopt;
  }
  std::int64_t count = 0;
  for (const char c : whole) {
    count = 10 * count + (c - '0');
  }
  if (count > INT64_MAX / 2 / unit) {
    return std::nullopt;
  }
  count *= unit;
  for (const char c : fraction) {  // of a unit of so many thousands: what is below one is cut off
    unit /= 10;
    count += unit * (c - '0');
  }
  return count;
}

std::optional<bool> literal_flag(std::string_view text) {
  if (text == "true" || text == "True") {
    return true;
  }
  return text == "false" || text == "False" ? std::optional(false) : std::nullopt;
}

}  // namespace inferometer
