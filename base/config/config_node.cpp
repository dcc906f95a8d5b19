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

/// The keys of a dotted path. `fault`: what an empty one is told.
std::vector<std::string> split_path(const std::string& path, const Position& where,
                                    const std::string& fault) {
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    keys.push_back(path.substr(begin, end - begin));
    if (keys.back().empty()) {
      throw ConfigError(where, fault);
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

/// `value` below the keys of a path.
ConfigNode below(const std::vector<std::string>& keys, const Position& where, ConfigNode value) {
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    ConfigNode parent;
    parent.kind = ConfigNode::Kind::map;
    parent.where = where;
    parent.entries.push_back({*key, where, std::move(value)});
    value = std::move(parent);
  }
  return value;
}

/// Lays `over` beside what is there. Nothing may be said twice.
void add_beside(ConfigNode& base, const ConfigNode& over, const std::string& path) {
  for (const ConfigNode::Entry& entry : over.entries) {
    ConfigNode* const old = base.find(entry.key);
    const std::string entry_path = path.empty() ? entry.key : path + "." + entry.key;
    if (old == nullptr) {
      base.entries.push_back(entry);
    } else if (old->kind == ConfigNode::Kind::map && entry.value.kind == ConfigNode::Kind::map) {
      add_beside(*old, entry.value, entry_path);
    } else {
      throw ConfigError(entry.where, "says something of " + entry_path + " for the second time");
    }
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

ConfigNode opened_paths(const ConfigNode& map) {
  if (map.kind != ConfigNode::Kind::map) {
    throw ConfigError(map.where, "expected a map of keys of a scenario, such as \"{engine.policy: orca}\"");
  }
  ConfigNode opened;
  opened.kind = ConfigNode::Kind::map;
  opened.where = map.where;
  for (const ConfigNode::Entry& entry : map.entries) {
    const std::vector<std::string> keys =
        split_path(entry.key, entry.where, "\"" + entry.key + "\" has an empty key in it");
    add_beside(opened, below(keys, entry.where, entry.value), "");
  }
  return opened;
}

ConfigNode override_node(const ConfigNode& root, const std::string& assignment) {
  const Position where{"--set " + assignment, 0, 0};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) {
    throw ConfigError(where, "has no \"=\"; write --set path.to.key=value");
  }
  const std::vector<std::string> keys = split_path(
      assignment.substr(0, equals), where, "has an empty key before \"=\"; write --set path.to.key=value");
  check_path(root, keys, where);
  ConfigNode change =
      below(keys, where, read_yaml_text(std::string_view(assignment).substr(equals + 1), where.file));
  move_to(where, change);
  return change;
}

void apply_override(ConfigNode& root, const std::string& assignment) {
  overlay(root, override_node(root, assignment));
}

}  // namespace inferometer
