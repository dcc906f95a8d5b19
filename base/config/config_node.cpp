#include "base/config/config_node.hpp"

#include <algorithm>

namespace inferometer {
namespace {

void move_to(const Position& where, ConfigNode& node) {
  node.where = where;
  for (ConfigNode& item : node.items) {
    move_to(where, item);
  }
  for (ConfigNode::Entry& entry : node.entries) {
    entry.where = where;
    move_to(where, entry.value);
  }
}

/// The keys of a dotted path.
std::vector<std::string> split_path(const std::string& path, const Position& where) {
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    keys.push_back(path.substr(begin, end - begin));
    if (keys.back().empty()) {
      throw ConfigError(where, "has an empty key before \"=\"; write --set path.to.key=value");
    }
    begin = end + 1;
  }
  return keys;
}

/// Throws when the path leads through something that is neither a map nor empty.
void check_path(const ConfigNode& root, const std::vector<std::string>& keys, const Position& where) {
  const ConfigNode* node = &root;
  std::string walked;
  for (const std::string& key : keys) {
    if (node == nullptr || node->kind == ConfigNode::Kind::null) {
      return;
    }
    if (node->kind != ConfigNode::Kind::map) {
      const std::string what =
          node->kind == ConfigNode::Kind::sequence ? "a list" : "\"" + node->scalar + "\"";
      throw ConfigError(where, "cannot set \"" + key + "\" in " + (walked.empty() ? "the file" : walked) +
                                   ", which is " + what + " and not a map");
    }
    node = node->find(key);
    walked += (walked.empty() ? "" : ".") + key;
  }
}

}  // namespace

const ConfigNode* ConfigNode::find(std::string_view key) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

ConfigNode* ConfigNode::find(std::string_view key) {
  return const_cast<ConfigNode*>(static_cast<const ConfigNode*>(this)->find(key));
}

void overlay(ConfigNode& base, const ConfigNode& over) {
  if (base.kind != ConfigNode::Kind::map || over.kind != ConfigNode::Kind::map) {
    base = over;
    return;
  }
  for (const ConfigNode::Entry& entry : over.entries) {
    const auto old = std::find_if(base.entries.begin(), base.entries.end(),
                                  [&](const ConfigNode::Entry& each) { return each.key == entry.key; });
    if (old == base.entries.end()) {
      base.entries.push_back(entry);
    } else if (old->value.kind == ConfigNode::Kind::map && entry.value.kind == ConfigNode::Kind::map) {
      overlay(old->value, entry.value);
    } else {
      *old = entry;
    }
  }
}

ConfigNode override_node(const ConfigNode& root, const std::string& assignment) {
  const Position where{"--set " + assignment, 0, 0};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) {
    throw ConfigError(where, "has no \"=\"; write --set path.to.key=value");
  }
  const std::vector<std::string> keys = split_path(assignment.substr(0, equals), where);
  check_path(root, keys, where);
  ConfigNode change = read_yaml_text(std::string_view(assignment).substr(equals + 1), where.file);
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    ConfigNode parent;
    parent.kind = ConfigNode::Kind::map;
    parent.entries.push_back({*key, where, std::move(change)});
    change = std::move(parent);
  }
  move_to(where, change);
  return change;
}

void apply_override(ConfigNode& root, const std::string& assignment) {
  overlay(root, override_node(root, assignment));
}

}  // namespace inferometer
