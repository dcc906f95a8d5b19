#include "sim/study/variant_name.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace inferometer {
namespace {

/// As many as columns of tables and legends of charts have room for.
constexpr std::ptrdiff_t kLongestName = 40;

}  // namespace

std::string variant_name_fault(const std::string& name) {
  if (name.empty()) {
    return "a variant needs a name";
  }
  // Of UTF-8, all bytes but those that go on with a character.
  const auto characters = std::count_if(
      name.begin(), name.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; });
  if (characters > kLongestName) {
    return fmt::format("a variant's name has at most {} characters, found {}", kLongestName, characters);
  }
  const bool is_line = std::all_of(name.begin(), name.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte >= 0x20 && byte != 0x7f;
  });
  return is_line ? "" : "a variant's name is one line of printable characters";
}

}  // namespace inferometer
