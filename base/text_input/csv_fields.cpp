#include "base/text_input/csv_fields.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/text_input/byte_search.hpp"

namespace inferometer {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool CsvFields::split(std::string_view line, LineError& error) {
  line_ = line.data();
  count_ = 0;
  for (std::size_t begin = 0;;) {
    if (begin < line.size() && line[begin] == '"') {
      if (!split_quoted(line, begin, error)) {
        return false;
      }
    } else {
      const std::size_t comma = std::min(line.find(',', begin), line.size());
      add(line.substr(begin, comma - begin));
      begin = comma;
    }
    if (begin == line.size()) {
      return true;
    }
    ++begin;
  }
}

// On return `begin` is at the comma behind the field or at the end of the line.
bool CsvFields::split_quoted(std::string_view line, std::size_t& begin, LineError& error) {
  const std::size_t first = begin + 1;
  std::size_t close = line.find('"', first);
  while (close != std::string_view::npos && close + 1 < line.size() && line[close + 1] == '"') {
    close = line.find('"', close + 2);
  }
  if (close == std::string_view::npos) {
    error = {static_cast<int>(begin) + 1, "expected a closing quote on the same line, found none"};
    return false;
  }
  if (close + 1 < line.size() && line[close + 1] != ',') {
    error = {static_cast<int>(close) + 2, fmt::format("expected a comma after the closing quote, found {}",
                                                      quoted_excerpt(line.substr(close + 1, 1)))};
    return false;
  }
  add(line.substr(first, close - first));
  begin = close + 1;
  return true;
}

std::optional<std::size_t> CsvFields::find(std::string_view name) const {
  return find_from(0, name);
}

std::optional<std::size_t> CsvFields::find_second(std::string_view name) const {
  const std::optional<std::size_t> first = find(name);
  return first ? find_from(*first + 1, name) : std::nullopt;
}

std::optional<std::size_t> CsvFields::find_from(std::size_t first, std::string_view name) const {
  for (std::size_t i = first; i < count_; ++i) {
    if (equal_ignoring_case(trimmed(fields_[i]), name)) {
      return i;
    }
  }
  return std::nullopt;
}

bool CsvFields::split_plain(std::string_view line) {
  line_ = line.data();
  count_ = 0;
  const char* const end = line.data() + line.size();
  const char* begin = line.data();
  bool has_quoted = false;
  for (const char* block = begin; block <= end; block += kSearchBlock) {
    std::uint64_t stops = find_byte(block, ',');
    const auto left = static_cast<std::size_t>(end - block);
    if (left < kSearchBlock) {  // the end of the line stops a field as well, and nothing behind it counts
      const std::uint64_t at_end = std::uint64_t{1} << left;
      stops = (stops & (at_end - 1)) | at_end;
    }
    make_room_for(kSearchBlock);
    std::string_view* field = fields_.data() + count_;
    for (; stops != 0; stops &= stops - 1) {
      const char* stop = block + std::countr_zero(stops);
      has_quoted |= *begin == '"';
      *field++ = std::string_view(begin, static_cast<std::size_t>(stop - begin));
      begin = stop + 1;
    }
    count_ = static_cast<std::size_t>(field - fields_.data());
  }
  return !has_quoted;
}

void CsvFields::add(std::string_view field) {
  make_room_for(1);
  fields_[count_++] = field;
}

void CsvFields::make_room_for(std::size_t more) {
  if (fields_.size() < count_ + more) {
    fields_.resize(count_ + more);
  }
}

}  // namespace inferometer
