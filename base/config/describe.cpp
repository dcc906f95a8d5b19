#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/config/scalar_text.hpp"
#include "base/config/table.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kLineWidth = 110;
constexpr std::size_t kNarrowestDoc = 40;

/// Characters, not bytes, of UTF-8 text.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

std::string pad(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

struct Row {
  std::array<std::string, 4> cells;  ///< name, type, default, range
  std::string doc;
};
using Widths = std::array<std::size_t, 4>;

std::string type_word(const Key& key) {
  constexpr std::array<std::string_view, 15> kWords{
      "count",        "number", "true/false", "text",  "word",      "duration", "bytes", "bandwidth",
      "compute rate", "rate",   "price",      "power", "frequency", "section",  "map"};
  const std::string word(kWords.at(static_cast<std::size_t>(key.type)));
  const bool may_be_bare = key.table != nullptr && !key.table->bare_value().empty();
  return key.is_list ? "list of " + word : may_be_bare ? "word or section" : word;
}

std::string default_words(const Key& key) {
  if (key.is_required) {
    return "required";
  }
  if (key.default_text) {
    return key.default_text->empty() ? "\"\"" : *key.default_text;
  }
  return key.absent_doc.empty() ? "" : "optional";
}

std::string range_words(const Key& key) {
  const bool is_from = key.min_text && !key.min_is_open;
  if (is_from && key.max_text) {
    return *key.min_text + " to " + *key.max_text;
  }
  if (is_from) {
    return "from " + *key.min_text;
  }
  const std::string above = key.min_text ? "above " + *key.min_text : "";
  const std::string up_to = key.max_text ? "up to " + *key.max_text : "";
  return above + (above.empty() || up_to.empty() ? "" : ", ") + up_to;
}

std::string doc_words(const Key& key) {
  std::string doc = sentence(key.doc);
  if (key.type == ValueType::choice) {
    doc += " One of " + join_alternatives(key.words) + ".";
  } else if (has_unit(key.type) && !key.default_text) {
    doc += fmt::format(" E.g. {}.", unit_family(key.type).example);
  }
  if (!key.described_at.empty()) {
    doc += " Keys as of " + key.described_at + ".";
  }
  if (!key.absent_doc.empty()) {
    doc += " When absent: " + sentence(key.absent_doc);
  }
  return doc;
}

Row row_of(const Key& key) {
  return {{key.name, type_word(key), default_words(key), range_words(key)}, doc_words(key)};
}

Widths widths_of(const Table& table) {
  Widths widths{};
  const auto widen = [&](const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      const Row row = row_of(key);
      for (std::size_t i = 0; i < widths.size(); ++i) {
        widths[i] = std::max(widths[i], width_of(row.cells[i]));
      }
    }
  };
  widen(table.keys());
  for (const Table::Variant& variant : table.variants()) {
    widen(variant.keys);
  }
  return widths;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// The words of `doc`, broken into lines that begin below each other after `start`.
std::string wrapped(const std::string& start, const std::string& doc) {
  const std::size_t indent = width_of(start);
  const std::size_t room = std::max(kNarrowestDoc, kLineWidth - std::min(kLineWidth, indent));
  std::string text;
  std::string line = start;
  std::size_t used = 0;
  for (std::size_t begin = 0; begin < doc.size();) {
    const std::size_t end = std::min(doc.find(' ', begin), doc.size());
    const std::string word = doc.substr(begin, end - begin);
    if (used > 0 && used + 1 + width_of(word) > room) {
      text += without_trailing_spaces(std::move(line)) + "\n";
      line = std::string(indent, ' ');
      used = 0;
    }
    line += (used > 0 ? " " : "") + word;
    used += width_of(word) + (used > 0 ? 1 : 0);
    begin = end + 1;
  }
  return text + without_trailing_spaces(std::move(line)) + "\n";
}

void write_rows(const std::vector<Key>& keys, const Widths& widths, const std::string& indent,
                std::string& out) {
  for (const Key& key : keys) {
    const Row row = row_of(key);
    std::string start = indent;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      start += widths[i] == 0 ? "" : pad(row.cells[i], widths[i]) + "  ";
    }
    out += wrapped(start, row.doc);
  }
}

void write_sections(const std::vector<Key>& keys, const std::string& path, std::string& out);

void write_table(const Table& table, const std::string& path, const std::string& doc, std::string& out) {
  if (!path.empty() || !doc.empty()) {
    out += wrapped(path.empty() ? "" : path + ": ", doc);
  }
  const Widths widths = widths_of(table);
  write_rows(table.keys(), widths, "  ", out);
  for (const Table::Variant& variant : table.variants()) {
    if (variant.keys.empty()) {
      continue;
    }
    out += variant.word.empty() ? fmt::format("\n  with {}:\n", variant.selector)
                                : fmt::format("\n  with {}: {}\n", variant.selector, variant.word);
    write_rows(variant.keys, widths, "  ", out);
  }
  write_sections(table.keys(), path, out);
  for (const Table::Variant& variant : table.variants()) {
    write_sections(variant.keys, path, out);
  }
}

void write_sections(const std::vector<Key>& keys, const std::string& path, std::string& out) {
  for (const Key& key : keys) {
    if (key.table != nullptr && key.described_at.empty()) {
      out += "\n";
      const std::string& summary = key.table->summary();
      const std::string name = key.name + (key.is_list ? "[]" : "");
      write_table(*key.table, path.empty() ? name : path + "." + name,
                  sentence(summary.empty() ? key.doc : summary), out);
    }
  }
}

}  // namespace

std::string describe(const Table& table) {
  std::string out;
  write_table(table, table.name(), sentence(table.summary()), out);
  return out;
}

}  // namespace inferometer
