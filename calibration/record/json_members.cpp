#include "calibration/record/json_members.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/suggest.hpp"
#include "base/text.hpp"

namespace inferometer {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(LineSource::kPaddingBytes >= simdjson::SIMDJSON_PADDING);

std::string_view without_trailing_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

/// False when the array is no list of texts.
bool read_texts(ondemand::array array, std::vector<std::string>& texts) {
  for (auto element : array) {
    std::string_view text;
    if (element.get_string().get(text) != simdjson::SUCCESS) {
      return false;
    }
    texts.emplace_back(text);
  }
  return true;
}

}  // namespace

struct JsonMembers::Parser {
  ondemand::parser parser;
};

JsonMembers::JsonMembers(const LineSource& lines, RowErrors& errors)
    : lines_(lines), errors_(errors), parser_(std::make_unique<Parser>()) {
}

JsonMembers::~JsonMembers() = default;

bool JsonMembers::read(std::string_view line) {
  members_.clear();
  is_good_ = true;
  return read_members(line);
}

bool JsonMembers::fail_syntax() {
  is_good_ = false;
  errors_.add(lines_.place(),
              "expected one JSON object of numbers, texts and lists of texts on the line, found something "
              "else: cut off, misspelt, or more behind it");
  return false;
}

bool JsonMembers::read_members(std::string_view line) {
  ondemand::document document;
  ondemand::object object;
  if (parser_->parser.iterate(line.data(), line.size(), line.size() + LineSource::kPaddingBytes)
              .get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return fail_syntax();
  }
  for (auto element : object) {
    ondemand::field field;
    std::string_view name;
    ondemand::json_type type{};
    if (std::move(element).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(name) != simdjson::SUCCESS ||
        field.value().type().get(type) != simdjson::SUCCESS) {
      return fail_syntax();
    }
    Member member;
    member.name = name;
    if (has(name)) {
      is_good_ = false;
      errors_.add(lines_.place(), fmt::format("expected {} once, found it twice", quoted_excerpt(name)));
      return false;
    }
    ondemand::value value = field.value();
    if (type == ondemand::json_type::number) {
      member.kind = Kind::number;
      member.token = without_trailing_blanks(value.raw_json_token());
      member.column = static_cast<int>(member.token.data() - line.data()) + 1;
    } else if (type == ondemand::json_type::string) {
      std::string_view text;
      if (value.get_string().get(text) != simdjson::SUCCESS) {
        return fail_syntax();
      }
      member.kind = Kind::text;
      member.texts.emplace_back(text);
    } else if (type == ondemand::json_type::array) {
      ondemand::array array;
      if (value.get_array().get(array) != simdjson::SUCCESS || !read_texts(array, member.texts)) {
        return fail_syntax();
      }
      member.kind = Kind::texts;
    } else {
      return fail_syntax();
    }
    members_.push_back(std::move(member));
  }
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS || fail_syntax();
}

bool JsonMembers::has(std::string_view name) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return member.name == name; });
}

JsonMembers::Member* JsonMembers::take(std::string_view name, Kind kind, std::string_view what) {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return member.name == name; });
  if (found == members_.end()) {
    return nullptr;
  }
  found->is_taken = true;
  if (found->kind != kind) {
    refuse(name, fmt::format("expected \"{}\" to be {}", name, what));
    return nullptr;
  }
  return &*found;
}

std::optional<std::string> JsonMembers::text(std::string_view name) {
  const Member* const member = take(name, Kind::text, "a text");
  return member == nullptr ? std::nullopt : std::optional(member->texts.front());
}

std::optional<std::vector<std::string>> JsonMembers::texts(std::string_view name) {
  const Member* const member = take(name, Kind::texts, "a list of texts");
  return member == nullptr ? std::nullopt : std::optional(member->texts);
}

std::optional<std::string_view> JsonMembers::number_text(std::string_view name) {
  const Member* const member = take(name, Kind::number, "a number");
  return member == nullptr ? std::nullopt : std::optional(member->token);
}

std::optional<double> JsonMembers::number(std::string_view name) {
  const std::optional<std::string_view> token = number_text(name);
  if (!token) {
    return std::nullopt;
  }
  double value = 0;
  const auto [stop, code] = std::from_chars(token->data(), token->data() + token->size(), value);
  if (code != std::errc() || stop != token->data() + token->size() || !std::isfinite(value)) {
    refuse(name, fmt::format("expected \"{}\" to be a number, found {}", name, quoted_excerpt(*token)));
    return std::nullopt;
  }
  return value;
}

void JsonMembers::refuse(std::string_view name, std::string message) {
  is_good_ = false;
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return member.name == name; });
  errors_.add(lines_.place(found == members_.end() ? 0 : found->column), std::move(message));
}

void JsonMembers::refuse_missing(std::string_view name) {
  if (!has(name)) {
    refuse(name, fmt::format("expected \"{}\", found none", name));
  }
}

void JsonMembers::refuse_the_rest(const std::vector<std::string>& known) {
  for (const Member& member : members_) {
    if (!member.is_taken) {
      refuse(member.name, fmt::format("unknown member {}{}", quoted_excerpt(member.name),
                                      did_you_mean(member.name, known)));
    }
  }
}

}  // namespace inferometer
