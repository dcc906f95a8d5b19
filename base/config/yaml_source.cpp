// The only file that knows the YAML library. It listens to the library's events instead of using its node
// type: events carry positions, come before the library recurses, and show duplicate keys, anchors and tags.

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/config/config_node.hpp"
#include "base/config/file_text.hpp"
#include "base/config/utf8.hpp"
#include "base/config/yaml_hints.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kMostMistakes = 100;

/// False when `text` begins with a quote that nothing ends; the library takes the end of the file for its
/// end.
bool is_quote_closed(std::string_view text) {
  const char quote = text.empty() ? '\0' : text[0];
  if (quote != '"' && quote != '\'') {
    return true;  // a block scalar
  }
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      const bool is_doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!is_doubled) {
        return true;
      }
      ++i;
    }
  }
  return false;
}

/// Where an item of a list without a value stands. The library places it at whatever comes next, unless the
/// word for nothing is written out: the last thing before that is then the item's dash.
std::size_t empty_item(std::string_view text, std::size_t mark) {
  for (const std::string_view nothing : {"~", "null", "Null", "NULL"}) {
    if (text.substr(mark).starts_with(nothing)) {
      return mark;
    }
  }
  const std::size_t last = text.substr(0, mark).find_last_not_of(" \n");
  return last == std::string_view::npos ? mark : last;
}

class NodeBuilder final : public YAML::EventHandler {
 public:
  NodeBuilder(std::string_view text, const LineMap& lines, const YamlLimits& limits, Diagnostics& diagnostics)
      : text_(text), lines_(lines), limits_(limits), diagnostics_(diagnostics) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      const Position where = place(mark);
      const bool is_marked = text_.substr(0, offset_of(mark)).ends_with("---") ||
                             text_.substr(offset_of(mark)).starts_with("---");
      throw ConfigError(where, is_marked ? "a second YAML document starts here; only one is allowed in a file"
                                         : "not valid YAML: the document has already ended before this");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    leaf(mark, ConfigNode::Kind::null, "?", "");
    if (!open_.empty() && open_.back().node.kind == ConfigNode::Kind::sequence) {
      open_.back().node.items.back().where = lines_.position(empty_item(text_, offset_of(mark)));
    }
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    leaf(mark, ConfigNode::Kind::null, "?", "");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    leaf(mark, ConfigNode::Kind::scalar, tag, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, ConfigNode::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, ConfigNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

  [[nodiscard]] ConfigNode take() { return std::move(root_); }

 private:
  /// A sequence or map that has begun and not ended.
  struct Frame {
    ConfigNode node;
    bool has_key = false;  ///< a map that waits for the value of `key`
    bool drop_value = false;
    std::string key;
    Position key_where;
    std::map<std::string, int> line_of_key;
  };

  [[nodiscard]] std::size_t offset_of(const YAML::Mark& mark) const {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
  }
  [[nodiscard]] Position place(const YAML::Mark& mark) const { return lines_.position(offset_of(mark)); }

  ConfigNode new_node(const YAML::Mark& mark, ConfigNode::Kind kind) {
    ConfigNode node;
    node.kind = kind;
    node.where = place(mark);
    if (++nodes_ > limits_.nodes) {
      throw ConfigError(node.where,
                        "more than " + std::to_string(limits_.nodes) + " values; the file is too large");
    }
    if (diagnostics_.found().size() >= kMostMistakes) {
      throw ConfigError(node.where, "too many mistakes; the rest of the file was not read");
    }
    const std::size_t at = offset_of(mark);
    const char first = at < text_.size() ? text_[at] : '\0';
    if (at != last_refused_ && (first == '&' || first == '!' || first == '*')) {
      refuse_decoration(first, kind, node.where);
      last_refused_ = at;  // a map and its first key begin at the same place
    }
    return node;
  }

  void refuse_decoration(char first, ConfigNode::Kind kind, const Position& where) {
    if (first == '&') {
      diagnostics_.add(where, "anchors (&name) are not allowed; write the value out");
    } else if (first == '!') {
      diagnostics_.add(where, "tags (!name) are not allowed; the type follows from the key");
    } else if (kind == ConfigNode::Kind::null) {
      diagnostics_.add(where, "aliases (*name) are not allowed; write the value out");
    }
  }

  void leaf(const YAML::Mark& mark, ConfigNode::Kind kind, const std::string& tag, const std::string& value) {
    ConfigNode node = new_node(mark, kind);
    node.scalar = value;
    node.quoted = tag == "!";
    if (node.quoted && !is_quote_closed(text_.substr(offset_of(mark)))) {
      throw ConfigError(node.where, "not valid YAML: this quote is not closed");
    }
    attach(std::move(node));
  }

  void open(const YAML::Mark& mark, ConfigNode::Kind kind) {
    Frame frame;
    frame.node = new_node(mark, kind);
    if (static_cast<int>(open_.size()) >= limits_.depth) {
      throw ConfigError(frame.node.where,
                        "nested more than " + std::to_string(limits_.depth) + " levels deep");
    }
    open_.push_back(std::move(frame));
  }

  void close() {
    ConfigNode node = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(node));
  }

  void attach(ConfigNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = open_.back();
    if (frame.node.kind == ConfigNode::Kind::sequence) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.has_key) {
      begin_entry(frame, node);
    } else {
      end_entry(frame, std::move(node));
    }
  }

  void begin_entry(Frame& frame, const ConfigNode& key) {
    frame.has_key = true;
    frame.key = key.scalar;
    frame.key_where = key.where;
    frame.drop_value = true;
    if (key.kind != ConfigNode::Kind::scalar) {
      diagnostics_.add(key.where, key.kind == ConfigNode::Kind::null
                                      ? "a key is empty; every key is a word"
                                      : "a key must be a word, not a list or map");
      return;
    }
    const auto [earlier, is_new] = frame.line_of_key.emplace(key.scalar, key.where.line);
    frame.drop_value = !is_new;
    if (!is_new) {
      diagnostics_.add(key.where, "duplicate key \"" + shown(path_to(key.scalar)) +
                                      "\"; first given on line " + std::to_string(earlier->second));
    }
  }

  static void end_entry(Frame& frame, ConfigNode value) {
    frame.has_key = false;
    if (frame.drop_value) {
      return;
    }
    if (value.kind == ConfigNode::Kind::null) {
      value.where = frame.key_where;  // the library places a missing value at whatever comes next
    }
    frame.node.entries.push_back({std::move(frame.key), frame.key_where, std::move(value)});
  }

  [[nodiscard]] std::string path_to(const std::string& key) const {
    std::string path;
    for (const Frame& frame : open_) {
      if (&frame != &open_.back() && frame.has_key) {
        path += frame.key + '.';
      }
    }
    return path + key;
  }

  std::string_view text_;
  const LineMap& lines_;
  const YamlLimits& limits_;
  Diagnostics& diagnostics_;
  int documents_ = 0;
  std::size_t nodes_ = 0;
  std::size_t last_refused_ = std::string_view::npos;
  std::vector<Frame> open_;
  ConfigNode root_;
};

}  // namespace

ConfigNode read_yaml_text(std::string_view text, const std::string& name, const YamlLimits& limits) {
  if (text.size() > limits.file_bytes) {
    throw ConfigError(Position{name, 0, 0},
                      "larger than the limit of " + std::to_string(limits.file_bytes) + " bytes");
  }
  const std::string clean = check_and_normalise(text, name);
  const LineMap lines(clean, name);
  Diagnostics diagnostics;
  NodeBuilder builder(clean, lines, limits, diagnostics);
  try {
    std::istringstream stream(clean);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    const bool is_placed = error.mark.pos >= 0;
    const std::size_t offset = std::min(static_cast<std::size_t>(std::max(error.mark.pos, 0)), clean.size());
    diagnostics.add(is_placed ? lines.position(offset) : Position{name, 0, 0},
                    explain_syntax_error(clean, offset, error.msg));
  } catch (const ConfigError& error) {
    for (const Diagnostic& found : error.diagnostics()) {
      diagnostics.add(found.where, found.message);
    }
  }
  diagnostics.throw_if_any();
  ConfigNode root = builder.take();
  if (root.where.file.empty()) {
    root.where = {name, 0, 0};
  }
  return root;
}

ConfigNode read_yaml_file(const std::string& path, const YamlLimits& limits) {
  return read_yaml_text(read_regular_file(path, limits.file_bytes), path, limits);
}

}  // namespace inferometer
