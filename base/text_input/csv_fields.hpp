#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/text_input/line_error.hpp"

namespace inferometer {

/// The text without the blanks and tabs around it.
inline std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// The fields of one CSV line. They may be quoted (RFC 4180, but no line breaks inside). Views into the line;
/// a quoted field without its quotes. Allocates nothing per line once it has seen as many fields.
class CsvFields {
 public:
  /// False, with `error` set, when a quote is not closed or is followed by something.
  bool split(std::string_view line, LineError& error);

  /// The fast path: the same for a line without quoted fields; false, and nothing to rely on, for one with.
  /// Precondition: kPlainSplitPadding bytes behind the line may be read, whatever they hold.
  bool split_plain(std::string_view line);
  static constexpr std::size_t kPlainSplitPadding = 64;

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return fields_[i]; }
  /// Where a field begins in the line, from 1.
  [[nodiscard]] int column_of(std::size_t i) const { return static_cast<int>(fields_[i].data() - line_) + 1; }

  /// Index of the field with that text, ignoring case and blanks around it.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  /// Index of the second such field.
  [[nodiscard]] std::optional<std::size_t> find_second(std::string_view name) const;

 private:
  [[nodiscard]] std::optional<std::size_t> find_from(std::size_t first, std::string_view name) const;
  bool split_quoted(std::string_view line, std::size_t& begin, LineError& error);
  void add(std::string_view field);
  void make_room_for(std::size_t more);

  const char* line_ = nullptr;
  std::vector<std::string_view> fields_;  // the first count_ are of this line
  std::size_t count_ = 0;
};

}  // namespace inferometer
