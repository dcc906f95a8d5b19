#include "base/config/scalar_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/config/decimal.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

bool is_decimal(std::string_view text) {
  return !text.empty() && decimal_length(text) == text.size();
}

/// A guess at the number that was meant, without separators and leading zeros; "" when there is none.
std::string repaired_number(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '_' && c != ',' && c != '+') {
      digits += c;
    }
  }
  while (digits.size() > 1 && digits[0] == '0' && digits[1] != '.') {
    digits.erase(0, 1);
  }
  if (!digits.empty() && digits[0] == '.') {
    digits.insert(0, 1, '0');
  }
  return is_decimal(digits) ? digits : "";
}

std::string quotes_in_the_way(std::string_view text) {
  return fmt::format("\"{0}\" is text because of its quotes; write {0} without them", text);
}

/// What `0x40` stands for, written in decimals; "" for anything else.
std::string decimal_of_hexadecimal(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) {
    return "";
  }
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data() + 2, end, value, 16);
  return fault == std::errc() && stop == end && value >= 0 ? std::to_string(value) : "";
}

Parsed parse_count(std::string_view text, bool quoted) {
  if (const std::string decimal = decimal_of_hexadecimal(text); !decimal.empty()) {
    return fmt::format("\"{}\" is not written as a plain whole number; write {}", text, decimal);
  }
  const std::string meant = repaired_number(text);
  if (!meant.empty()) {
    const IntegerResult integer = to_integer(read_decimal(meant), 0, 1);
    if (integer.fault == IntegerFault::too_large) {
      return fmt::format("{} is too large; at most {}", text, std::numeric_limits<std::int64_t>::max());
    }
    if (integer.fault == IntegerFault::not_whole) {
      return fmt::format("\"{}\" is not a whole number", text);
    }
    const std::string plain = std::to_string(integer.value);
    if (plain != text) {
      return fmt::format("\"{}\" is not written as a plain whole number; write {}", text, plain);
    }
    return quoted ? Parsed(quotes_in_the_way(text)) : Parsed(Value::Scalar(integer.value));
  }
  const std::size_t length = decimal_length(text);
  if (length > 0) {
    return fmt::format("\"{}\" is not a whole number; it takes no unit, write e.g. {}", text,
                       text.substr(0, length));
  }
  return fmt::format("\"{}\" is not a whole number; write e.g. 256", text);
}

Parsed parse_number(std::string_view text, bool quoted) {
  if (is_decimal(text)) {
    const std::optional<double> number = to_double(read_decimal(text), 0);
    if (!number) {
      return fmt::format("{} is outside the range of numbers", text);
    }
    return quoted ? Parsed(quotes_in_the_way(text)) : Parsed(Value::Scalar(*number));
  }
  const std::string meant = repaired_number(text);
  if (!meant.empty()) {
    return fmt::format("\"{}\" is not written as a plain number; write {}", text, meant);
  }
  if (text.ends_with('%') && is_decimal(text.substr(0, text.size() - 1))) {
    Decimal part = read_decimal(text.substr(0, text.size() - 1));
    part.exponent -= part.digits.empty() ? 0 : 2;
    return fmt::format("\"{}\" is not a number; write {}", text, to_text(part));
  }
  const std::size_t length = decimal_length(text);
  if (length > 0) {
    return fmt::format("\"{}\" is not a number; it takes no unit, write e.g. {}", text,
                       text.substr(0, length));
  }
  return fmt::format("\"{}\" is not a finite number; write e.g. 0.9", text);
}

Parsed parse_flag(std::string_view text, bool quoted) {
  if (text == "true" || text == "false") {
    return quoted ? Parsed(quotes_in_the_way(text)) : Parsed(Value::Scalar(text == "true"));
  }
  std::string lower;
  for (const char c : text) {
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const bool is_yes = lower == "yes" || lower == "on" || lower == "1" || lower == "y" || lower == "true";
  const bool is_no = lower == "no" || lower == "off" || lower == "0" || lower == "n" || lower == "false";
  if (is_yes || is_no) {
    return fmt::format("\"{}\" is neither true nor false; write {}", text, is_yes ? "true" : "false");
  }
  return fmt::format("\"{}\" is neither true nor false", text);
}

Parsed parse_choice(const Key& key, const std::string& text) {
  if (std::find(key.words.begin(), key.words.end(), text) != key.words.end()) {
    return Value::Scalar(text);
  }
  return fmt::format("\"{}\" is not one of {}{}", text, join_alternatives(key.words),
                     did_you_mean(text, key.words));
}

/// Precondition: of one type, which is ordered.
bool is_less(const Value::Scalar& a, const Value::Scalar& b) {
  return std::visit([&](const auto& left) { return left < std::get<std::decay_t<decltype(left)>>(b); }, a);
}

Value::Scalar bound_value(const Key& key, const std::string& text) {
  ConfigNode node;
  node.kind = ConfigNode::Kind::scalar;
  node.scalar = text;
  const Parsed parsed = parse_scalar(key, node);
  INFEROMETER_CHECK(parsed.index() == 0, "a bound of the key " + key.name + " cannot be read: " + text);
  return std::get<0>(parsed);
}

bool has_bounds(ValueType type) {
  return type == ValueType::count || type == ValueType::number || has_unit(type);
}

}  // namespace

Parsed parse_scalar(const Key& key, const ConfigNode& node) {
  switch (key.type) {
    case ValueType::count:
      return parse_count(node.scalar, node.quoted);
    case ValueType::number:
      return parse_number(node.scalar, node.quoted);
    case ValueType::flag:
      return parse_flag(node.scalar, node.quoted);
    case ValueType::text:
      return Value::Scalar(node.scalar);
    case ValueType::choice:
      return parse_choice(key, node.scalar);
    default:
      return parse_quantity(node.scalar, key.type);
  }
}

Bounds bounds_of(const Key& key) {
  Bounds bounds{key.min_text, key.max_text, key.min_is_open};
  if (!bounds.min_text && key.type == ValueType::count) {
    bounds.min_text = "0";
  } else if (!bounds.min_text && has_unit(key.type)) {
    bounds.min_text = "0 " + std::string(unit_family(key.type).usual_unit);
    bounds.min_is_open = true;
  }
  return bounds;
}

std::string range_fault(const Key& key, const Value::Scalar& value) {
  if (!has_bounds(key.type)) {
    return "";
  }
  const Bounds bounds = bounds_of(key);
  if (bounds.min_text) {
    const Value::Scalar min = bound_value(key, *bounds.min_text);
    if (bounds.min_is_open ? !is_less(min, value) : is_less(value, min)) {
      return fmt::format("{} is too small; it must be {} {}", to_text(value),
                         bounds.min_is_open ? "more than" : "at least", *bounds.min_text);
    }
  }
  if (bounds.max_text && is_less(bound_value(key, *bounds.max_text), value)) {
    return fmt::format("{} is too large; it must be at most {}", to_text(value), *bounds.max_text);
  }
  return "";
}

std::string example_of(const Key& key) {
  if (key.default_text && !key.default_text->empty()) {
    return *key.default_text;
  }
  switch (key.type) {
    case ValueType::count:
      return key.min_text ? *key.min_text : "1";
    case ValueType::number:
      return !key.max_text ? "0.9" : range_fault(key, Value::Scalar(1.0)).empty() ? "1" : *key.max_text;
    case ValueType::flag:
      return "true";
    case ValueType::text:
      return "…";
    case ValueType::choice:
      return key.words.front();
    case ValueType::section:
    case ValueType::tree:
      return "{…}";
    default:
      return std::string(unit_family(key.type).example);
  }
}

std::string sentence(const std::string& text) {
  const bool is_closed = text.empty() || text.back() == '.' || text.back() == '?' || text.back() == '!';
  return is_closed ? text : text + ".";
}

std::string type_in_words(const Key& key) {
  switch (key.type) {
    case ValueType::count:
      return "a whole number";
    case ValueType::number:
      return "a number";
    case ValueType::flag:
      return "true or false";
    case ValueType::text:
      return "text";
    case ValueType::choice:
      return "one of " + join_alternatives(key.words);
    case ValueType::section:
      return key.is_list ? "a list of maps" : "a map";
    case ValueType::tree:
      return "a map";
    default:
      return fmt::format("{} such as \"{}\"", unit_family(key.type).what, unit_family(key.type).example);
  }
}

}  // namespace inferometer
