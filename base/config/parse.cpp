#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/config/active_keys.hpp"
#include "base/config/scalar_text.hpp"
#include "base/config/table.hpp"
#include "base/config/utf8.hpp"

namespace inferometer {
namespace {

class Reader {
 public:
  explicit Reader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  /// `where` is the place of the section: of its key, or the whole file.
  Values section(const Table& table, const ConfigNode& node, const std::string& path, const Position& where);

 private:
  void report(const Position& where, const std::string& path, const std::string& fault) {
    diagnostics_.add(where, path.empty() ? fault : path + ": " + fault);
  }
  void report_missing(const Key& key, const std::string& path, const Position& where);
  void given_value(const Key& key, const ConfigNode& node, const std::string& path, Value& value);
  void list_of_sections(const Key& key, const ConfigNode& node, const std::string& path, Value& value);
  void one_scalar(const Key& key, const ConfigNode& node, const std::string& path, Value& value);
  void absent_value(const Key& key, const std::string& path, const Position& where, Values& values);

  Diagnostics& diagnostics_;
};

std::string join_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

/// `{policy: chunked_prefill}`: what a section looks like, from the first key that must be there or else the
/// first.
std::string section_example(const Table& table) {
  const bool some_required = std::any_of(table.keys().begin(), table.keys().end(), [](const Key& key) {
    return key.is_required && key.type != ValueType::section;
  });
  for (const Key& key : table.keys()) {
    if (key.type != ValueType::section && key.is_required == some_required) {
      return fmt::format("{{{}: {}}}", key.name, example_of(key));
    }
  }
  return "{…}";
}

std::string not_a_map(const Table& table, const ConfigNode& node, const std::string& path) {
  const bool has_name = !path.empty() && !path.ends_with(']');  // an element of a list has none
  const std::string prefix = has_name ? path.substr(path.rfind('.') + 1) + ": " : "";
  const std::string example = fmt::format("write e.g. \"{}{}\"", prefix, section_example(table));
  if (node.kind == ConfigNode::Kind::sequence) {
    return "expected a map, found a list; " + example + ", without dashes";
  }
  const std::size_t colon = node.scalar.find(':');
  if (!node.quoted && colon != std::string::npos && colon + 1 < node.scalar.size()) {
    return fmt::format("expected a map, found \"{}\"; is a space missing after the colon?",
                       shown(node.scalar));
  }
  return fmt::format("expected a map, found \"{}\"; {}", shown(node.scalar), example);
}

/// `name: value` where the table lets a bare value stand for one key.
ConfigNode written_out(const Table& table, const ConfigNode& node) {
  ConfigNode map;
  map.kind = ConfigNode::Kind::map;
  map.where = node.where;
  map.entries.push_back({table.bare_value(), node.where, node});
  return map;
}

/// Of a key that is a list of sections.
std::string not_a_list(const Key& key, const ConfigNode& node) {
  const std::string example = fmt::format("write e.g. \"{}: [{}]\"", key.name, section_example(*key.table));
  if (node.kind == ConfigNode::Kind::null) {
    return "has no value; expected a list of maps; " + example;
  }
  if (node.kind == ConfigNode::Kind::map) {
    return "expected a list of maps, found a map; " + example + ", or a dash before each map";
  }
  return fmt::format("expected a list of maps, found \"{}\"; {}", shown(node.scalar), example);
}

Values Reader::section(const Table& table, const ConfigNode& node, const std::string& path,
                       const Position& where) {
  if (node.kind == ConfigNode::Kind::scalar && !table.bare_value().empty()) {
    return section(table, written_out(table, node), path, where);
  }
  Values values;
  values.set_where(where);
  if (node.kind != ConfigNode::Kind::map && node.kind != ConfigNode::Kind::null) {
    report(node.where, path, not_a_map(table, node, path));
    return values;
  }
  const ActiveKeys active(table, node);
  for (const ConfigNode::Entry& entry : node.entries) {
    const std::string fault = active.unknown_key_fault(entry.key, path);
    if (!fault.empty()) {
      diagnostics_.add(entry.where, fault);
    }
  }
  for (const Key* key : active.keys()) {
    if (key->is_required && node.find(key->name) == nullptr) {
      report_missing(*key, path, where);
    }
  }
  for (const Key* key : active.keys()) {
    const ConfigNode* child = node.find(key->name);
    if (child == nullptr) {
      absent_value(*key, path, where, values);
      continue;
    }
    Value value;
    value.key = key->name;
    value.type = key->type;
    value.where = child->where;
    value.given = true;
    value.is_list = key->is_list;
    given_value(*key, *child, join_path(path, key->name), value);
    values.add(std::move(value));
  }
  return values;
}

void Reader::report_missing(const Key& key, const std::string& path, const Position& where) {
  diagnostics_.add(where,
                   fmt::format("missing key \"{}\" ({})", join_path(path, key.name), type_in_words(key)));
}

void Reader::given_value(const Key& key, const ConfigNode& node, const std::string& path, Value& value) {
  if (key.type == ValueType::section) {
    if (key.is_list) {
      list_of_sections(key, node, path, value);
    } else {
      value.section = std::make_shared<const Values>(section(*key.table, node, path, node.where));
    }
    return;
  }
  if (key.type == ValueType::tree) {
    if (node.kind == ConfigNode::Kind::null) {
      report(node.where, path, "has no value");
    }
    value.tree = std::make_shared<const ConfigNode>(node);
    return;
  }
  if (!key.is_list || node.kind != ConfigNode::Kind::sequence) {
    one_scalar(key, node, path, value);
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    one_scalar(key, node.items[i], fmt::format("{}[{}]", path, i), value);
  }
}

void Reader::list_of_sections(const Key& key, const ConfigNode& node, const std::string& path, Value& value) {
  if (node.kind != ConfigNode::Kind::sequence) {
    report(node.where, path, not_a_list(key, node));
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const ConfigNode& item = node.items[i];
    const std::string item_path = fmt::format("{}[{}]", path, i);
    if (item.kind == ConfigNode::Kind::null) {
      report(item.where, item_path, "has no value; expected a map");
      continue;
    }
    value.sections.push_back(
        std::make_shared<const Values>(section(*key.table, item, item_path, item.where)));
  }
}

void Reader::one_scalar(const Key& key, const ConfigNode& node, const std::string& path, Value& value) {
  if (node.kind == ConfigNode::Kind::null) {
    report(node.where, path,
           fmt::format("has no value; expected {}{}", type_in_words(key),
                       key.is_required || key.is_list ? "" : ", or leave the key out"));
    return;
  }
  if (node.kind != ConfigNode::Kind::scalar) {
    report(node.where, path,
           fmt::format("expected {}, found a {}", type_in_words(key),
                       node.kind == ConfigNode::Kind::map ? "map" : "list"));
    return;
  }
  if (key.type != ValueType::text && node.scalar != shown(node.scalar)) {
    report(node.where, path,
           fmt::format("expected {}, found \"{}\"", type_in_words(key), shown(node.scalar)));
    return;
  }
  Parsed parsed = parse_scalar(key, node);
  if (parsed.index() == 1) {
    report(node.where, path, std::get<1>(parsed));
    return;
  }
  const std::string fault = range_fault(key, std::get<0>(parsed));
  if (!fault.empty()) {
    report(node.where, path, fault);
    return;
  }
  value.scalars.push_back(std::get<0>(std::move(parsed)));
}

void Reader::absent_value(const Key& key, const std::string& path, const Position& where, Values& values) {
  if (key.is_required || !key.absent_doc.empty()) {
    return;
  }
  Value value;
  value.key = key.name;
  value.type = key.type;
  value.where = where;
  value.is_list = key.is_list;
  const std::string key_path = join_path(path, key.name);
  if (key.type == ValueType::section && !key.is_list) {
    value.section = std::make_shared<const Values>(section(*key.table, ConfigNode(), key_path, where));
  } else {
    INFEROMETER_CHECK(key.default_text.has_value(),
                      "the key " + key_path + " is neither required nor optional and has no default");
    Diagnostics faults;
    Reader(faults).given_value(key, default_node(key), key_path, value);
    INFEROMETER_CHECK(faults.empty(), "a bad default: " + faults.found().front().message);
  }
  values.add(std::move(value));
}

}  // namespace

Values parse(const Table& table, const ConfigNode& node, Diagnostics& diagnostics) {
  const Position where = table.name().empty() ? Position{node.where.file, 0, 0} : node.where;
  return Reader(diagnostics).section(table, node, table.name(), where);
}

}  // namespace inferometer
