#include "sim/engine_arguments/engine_flag.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"

namespace inferometer {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    part = part.substr(0, part.find_last_not_of(' ') + 1);
    parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all = split(text, ' ');
  std::erase(all, "");
  return all;
}

template <class Enum, std::size_t N>
Enum named(const std::array<std::pair<std::string_view, Enum>, N>& names, std::string_view word) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& pair) { return pair.first == word; });
  INFEROMETER_CHECK(found != names.end(), "a word in a table of flags");
  return found->second;
}

constexpr std::array<std::pair<std::string_view, FlagForm>, 4> kForms = {{{"value", FlagForm::value},
                                                                          {"toggle", FlagForm::toggle},
                                                                          {"list", FlagForm::list},
                                                                          {"json", FlagForm::json}}};
constexpr std::array<std::pair<std::string_view, FlagEffect>, 7> kEffects = {
    {{"count", FlagEffect::count},
     {"rank_count", FlagEffect::rank_count},
     {"number", FlagEffect::number},
     {"flag", FlagEffect::flag},
     {"own", FlagEffect::own},
     {"not_modelled", FlagEffect::not_modelled},
     {"none", FlagEffect::none}}};

void add_flags(std::string_view names, const EngineFlag& like, std::vector<EngineFlag>& flags) {
  for (const std::string& name : words(names)) {
    if (name.starts_with("--")) {
      flags.push_back(like);
    }
    flags.back().names.push_back(name);
  }
}

/// Names one after the other, in lines of a terminal.
std::string wrapped(const std::vector<std::string>& names) {
  constexpr std::size_t kWidth = 108;
  std::string text;
  std::string line = " ";
  for (const std::string& name : names) {
    if (line.size() + 1 + name.size() > kWidth) {
      text += line + "\n";
      line = " ";
    }
    line += " " + name;
  }
  return text + line + "\n";
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

std::vector<EngineFlag> parse_flag_table(std::string_view table) {
  std::vector<EngineFlag> flags;
  EngineFlag like{};
  for (const std::string& line : split(table, '\n')) {
    const std::vector<std::string> cells = split(line, '|');
    if (cells.size() > 1) {
      INFEROMETER_CHECK(cells.size() == 5, "five columns in a table of flags");
      like = {{}, named(kForms, cells[1]), named(kEffects, cells[2]), cells[3], words(cells[4])};
    }
    add_flags(cells.front(), like, flags);
  }
  return flags;
}

std::string describe_flags(const EngineProgram& program) {
  std::vector<std::vector<std::string>> modelled{{"flag", "what it sets"}};
  std::vector<std::vector<std::string>> not_modelled{{"flag", "not modelled, said in the notes of a run"}};
  std::vector<std::string> nothing;
  for (const EngineFlag& flag : program.flags) {
    if (flag.effect == FlagEffect::none) {
      nothing.push_back(flag.name());
    } else {
      (flag.effect == FlagEffect::not_modelled ? not_modelled : modelled)
          .push_back(
              {joined(flag.names),
               flag.says + (flag.effect == FlagEffect::rank_count ? ", times the ranks of attention" : "")});
    }
  }
  return align_columns(modelled, 2) + "\n" + align_columns(not_modelled, 2) +
         "\nChange nothing that is simulated:\n" + wrapped(nothing);
}

}  // namespace inferometer
