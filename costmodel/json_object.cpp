#include "costmodel/json_object.hpp"

#include <algorithm>
#include <utility>

namespace inferometer {
namespace {

Position position_at(std::string_view text, std::size_t offset, const std::string& file) {
  Position position{file, 1, 1};
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++position.line;
      position.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) !=
               0x80U) {  // continuation bytes of UTF-8 take no column
      ++position.column;
    }
  }
  return position;
}

/// The offset just behind the string that starts at `open`, or the end of the text when it is not closed.
std::size_t skip_string(std::string_view text, std::size_t open) {
  std::size_t i = open + 1;
  while (i < text.size() && text[i] != '"') {
    i += text[i] == '\\' ? 2 : 1;
  }
  return std::min(i + 1, text.size());
}

/// Before the library sees the text, so that no parser has to bear what lies deeper.
void check_depth(std::string_view text, const std::string& file) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      i = skip_string(text, i);
      continue;
    }
    if (text[i] == '{' || text[i] == '[') {
      if (++depth > JsonObject::kMaxDepth) {
        throw ConfigError(position_at(text, i, file),
                          "nested deeper than " + std::to_string(JsonObject::kMaxDepth) + " levels");
      }
    } else if (text[i] == '}' || text[i] == ']') {
      --depth;
    }
    ++i;
  }
}

/// The library's message without its own prefix and position, which we give in our form.
std::string reason_of(const nlohmann::json::exception& error) {
  const std::string what = error.what();
  for (const std::string_view marker : {": syntax error ", "] "}) {
    const std::size_t at = what.find(marker);
    if (at != std::string::npos) {
      return what.substr(at + marker.size());
    }
  }
  return what;
}

nlohmann::json parse_json(std::string_view text, const std::string& file) {
  // The library takes a NUL byte for the end of its input; what follows would go unchecked.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw ConfigError(position_at(text, nul, file), "invalid JSON: a NUL byte");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw ConfigError(Position{file}, "the file is empty; expected a JSON object");
  }
  try {
    return nlohmann::json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t offset = error.byte == 0 ? 0 : error.byte - 1;
    throw ConfigError(position_at(text, std::min(offset, text.size()), file),
                      "invalid JSON: " + reason_of(error));
  } catch (const nlohmann::json::exception& error) {
    throw ConfigError(Position{file}, "invalid JSON: " + reason_of(error));
  }
}

}  // namespace

JsonObject::JsonObject(std::string_view text, std::string file) : file_(std::move(file)), whole_{file_} {
  check_depth(text, file_);
  root_ = parse_json(text, file_);
  if (!root_.is_object()) {
    throw ConfigError(Position{file_}, std::string("expected a JSON object, found ") + root_.type_name());
  }
  scan_keys(text);
}

void JsonObject::scan_keys(std::string_view text) {
  Diagnostics twice;
  Position here{file_, 1, 1};
  std::size_t seen = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '"') {
      depth += (text[i] == '{' || text[i] == '[') ? 1 : 0;
      depth -= (text[i] == '}' || text[i] == ']') ? 1 : 0;
      ++i;
      continue;
    }
    const std::size_t end = skip_string(text, i);
    const std::size_t next = std::min(text.find_first_not_of(" \t\r\n", end), text.size());
    if (depth == 1 && next < text.size() && text[next] == ':') {
      const Position step = position_at(text.substr(seen), i - seen, file_);
      here.column = step.line == 1 ? here.column + step.column - 1 : step.column;
      here.line += step.line - 1;
      seen = i;
      std::string key = nlohmann::json::parse(text.substr(i, end - i)).get<std::string>();
      if (const Position first = where(key); first.line != 0) {
        twice.add(here, "key \"" + key + "\" occurs twice; first on line " + std::to_string(first.line));
      }
      places_.emplace(std::move(key), here);
    }
    i = end;
  }
  twice.throw_if_any();
}

const nlohmann::json* JsonObject::find(std::string_view key) const {
  const auto found = root_.find(std::string(key));
  return found == root_.end() ? nullptr : &*found;
}

Position JsonObject::where(std::string_view key) const {
  const auto found = places_.find(key);
  return found == places_.end() ? whole_ : found->second;
}

JsonObject JsonObject::inside(std::string_view key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr || !value->is_object()) {
    throw ConfigError(where(key),
                      std::string(key) + (value == nullptr ? " is missing" : " is not an object"));
  }
  return {*value, file_, where(key)};
}

}  // namespace inferometer
