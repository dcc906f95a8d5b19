#include "workloads/json_line.hpp"

#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/text.hpp"
#include "base/text_input/line_source.hpp"
#include "workloads/trace_fields.hpp"

namespace inferometer {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(LineSource::kPaddingBytes >= simdjson::SIMDJSON_PADDING);

constexpr const char* kBlanks = " \t";

std::string_view without_trailing_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// The value's text in the line, whatever its type.
simdjson::simdjson_result<std::string_view> text_of(ondemand::value value) {
  ondemand::json_type type{};
  if (const simdjson::error_code code = value.type().get(type)) {
    return code;
  }
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    const simdjson::error_code code = value.get_array().get(array);
    return code ? simdjson::simdjson_result<std::string_view>(code) : array.raw_json();
  }
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    const simdjson::error_code code = value.get_object().get(object);
    return code ? simdjson::simdjson_result<std::string_view>(code) : object.raw_json();
  }
  if (type == ondemand::json_type::string) {
    std::string_view checked;
    if (const simdjson::error_code code = value.get_string().get(checked)) {
      return code;
    }
  }
  return without_trailing_blanks(value.raw_json_token());
}

}  // namespace

struct JsonLine::Parser {
  ondemand::parser parser;
};

JsonLine::JsonLine(std::vector<std::string_view> keys)
    : parser_(std::make_unique<Parser>()), keys_(std::move(keys)), values_(keys_.size()) {
}

JsonLine::~JsonLine() = default;

bool JsonLine::read(std::string_view line, LineError& error) {
  line_ = line.data();
  values_.assign(keys_.size(), {});
  return read_members(line, error);
}

bool JsonLine::read_members(std::string_view line, LineError& error) {
  // In words of ours: the library's change from version to version.
  const auto not_json = [&error] {
    error = {0,
             "expected one JSON object on the line, found text that is none: cut off, misspelt, or more "
             "behind it"};
    return false;
  };
  ondemand::document document;
  ondemand::object object;
  if (parser_->parser.iterate(line.data(), line.size(), line.size() + LineSource::kPaddingBytes)
              .get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return not_json();
  }
  for (auto member : object) {
    ondemand::field field;
    std::string_view text;
    if (std::move(member).get(field) != simdjson::SUCCESS) {
      return not_json();
    }
    const ondemand::raw_json_string key = field.key();
    std::size_t index = 0;
    while (index < keys_.size() && !key.unsafe_is_equal(keys_[index])) {
      ++index;
    }
    if (text_of(field.value()).get(text) != simdjson::SUCCESS) {
      return not_json();
    }
    if (index == keys_.size() || text == "null") {
      continue;
    }
    if (has(index)) {
      error = {static_cast<int>(text.data() - line_) + 1,
               fmt::format("expected \"{}\" once, found it twice", keys_[index])};
      return false;
    }
    values_[index] = text;
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return not_json();
  }
  return true;
}

int JsonLine::column_of(std::size_t key) const {
  return has(key) ? static_cast<int>(values_[key].data() - line_) + 1 : 0;
}

bool JsonLine::fail(std::size_t key, std::string message, LineError& error) const {
  error = {column_of(key), std::move(message)};
  return false;
}

bool JsonLine::require(std::size_t key, LineError& error) const {
  return has(key) || fail(key, fmt::format("expected \"{}\", found none", keys_[key]), error);
}

bool JsonLine::read_time(std::size_t key, int power, WidePicoseconds& time, LineError& error) const {
  return require(key, error) && (read_seconds(value(key), power, time) ||
                                 fail(key,
                                      fmt::format("expected \"{}\" to be a number {}, found {}", keys_[key],
                                                  seconds_range(power), quoted_excerpt(value(key))),
                                      error));
}

bool JsonLine::read_tokens(std::size_t key, bool is_output, std::int64_t& tokens, LineError& error) const {
  return require(key, error) &&
         ((read_integer(value(key), tokens) && tokens >= 1 && tokens <= kMostTokens) ||
          fail(key, token_count_message(fmt::format("\"{}\"", keys_[key]), value(key), is_output), error));
}

bool JsonLine::read_integer_member(std::size_t key, std::int64_t least, std::int64_t most,
                                   std::int64_t& number, LineError& error) const {
  return require(key, error) &&
         ((read_integer(value(key), number) && number >= least && number <= most) ||
          fail(key,
               fmt::format("expected \"{}\" to be a whole number from {} to {}, found {}", keys_[key], least,
                           most, quoted_excerpt(value(key))),
               error));
}

}  // namespace inferometer
