#include "base/config/yaml_hints.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/config/utf8.hpp"
#include "base/error.hpp"

namespace inferometer {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7F;
}

/// The line that holds `offset`, without its end.
std::string_view line_around(std::string_view text, std::size_t offset) {
  const std::size_t newline_before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = newline_before == std::string_view::npos ? 0 : newline_before + 1;
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

bool has_tab_in_indentation(std::string_view line) {
  const std::size_t indentation = std::min(line.find_first_not_of(" \t"), line.size());
  return indentation < line.size() && line.substr(0, indentation).find('\t') != std::string_view::npos;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The key of a line like `rate:12`, whose colon needs a space.
std::optional<std::string_view> key_without_space(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(" -"), line.size());
  std::size_t end = begin;
  while (end < line.size() && is_word(line[end])) {
    ++end;
  }
  const bool glued = end > begin && end + 1 < line.size() && line[end] == ':' && line[end + 1] != ' ';
  return glued ? std::optional(line.substr(begin, end - begin)) : std::nullopt;
}

/// The library's words where they are clear, ours where a user would not know what to do.
std::string plainer_words(std::string_view text, std::size_t offset, const std::string& library_words) {
  if (library_words == "illegal map value") {
    return "a colon that begins no value here; check the indentation, or quote a text that has \": \" in it";
  }
  if (library_words == "end of map not found" || library_words == "end of sequence not found") {
    return "this does not continue what stands above; check the indentation and the quotes";
  }
  if (library_words == "end of map flow not found") {
    return "a \"{\" is not closed by \"}\", or a comma is missing before this";
  }
  if (library_words == "end of sequence flow not found") {
    return "a \"[\" is not closed by \"]\", or a comma is missing before this";
  }
  if (library_words == "unknown token" && offset < text.size()) {
    return fmt::format("\"{}\" cannot begin a value; put the value in quotes", text[offset]);
  }
  return library_words;
}

}  // namespace

std::string check_and_normalise(std::string_view text, const std::string& name) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  if (const std::optional<std::size_t> bad = first_invalid_utf8(text)) {
    throw ConfigError(LineMap(text, name).position(*bad),
                      fmt::format("byte 0x{:02X} is not valid UTF-8; save the file as UTF-8",
                                  static_cast<unsigned char>(text[*bad])));
  }
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      continue;
    }
    if (is_control(text[i])) {
      throw ConfigError(
          LineMap(text, name).position(i),
          fmt::format("control character 0x{:02X} is not allowed", static_cast<unsigned char>(text[i])));
    }
    clean += text[i];
  }
  return clean;
}

std::string explain_syntax_error(std::string_view text, std::size_t offset,
                                 const std::string& library_words) {
  if (offset < text.size() && text[offset] == '*') {
    return "aliases (*name) are not allowed; write the value out";
  }
  const std::string_view line = line_around(text, offset);
  const std::size_t line_begin = static_cast<std::size_t>(line.data() - text.data());
  const std::string_view line_before = line_begin == 0 ? "" : line_around(text, line_begin - 1);
  for (const std::string_view suspect : {line, line_before}) {
    if (has_tab_in_indentation(suspect)) {
      return "not valid YAML: a tab in the indentation; indent with spaces";
    }
  }
  for (const std::string_view suspect : {line, line_before}) {
    if (const auto key = key_without_space(suspect)) {
      return fmt::format("not valid YAML: write \"{0}: …\" with a space after the colon of \"{0}\"", *key);
    }
  }
  const std::size_t first = text.find_first_not_of(" \n\t");
  if (first != std::string_view::npos && text[first] == '<') {
    return "not YAML but HTML or XML; was a web page saved in place of the file?";
  }
  return "not valid YAML: " + plainer_words(text, offset, library_words);
}

}  // namespace inferometer
