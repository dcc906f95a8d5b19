#pragma once

// A YAML document as the rest of the project sees it: text with positions, no types yet. Only yaml_source.cpp
// knows the YAML library. Types are given by a Table (base/config/table.hpp).

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace inferometer {

class ConfigNode {
 public:
  enum class Kind { null, scalar, sequence, map };
  struct Entry;

  Kind kind = Kind::null;
  Position where;
  std::string scalar;             ///< the text as written, without quotes; for Kind::scalar
  bool quoted = false;            ///< written in quotes: always text, never a number or a flag
  std::vector<ConfigNode> items;  ///< for Kind::sequence
  std::vector<Entry> entries;     ///< for Kind::map, in file order, keys unique

  /// nullptr when this is not a map or has no such key.
  [[nodiscard]] const ConfigNode* find(std::string_view key) const;
  [[nodiscard]] ConfigNode* find(std::string_view key);
};

struct ConfigNode::Entry {
  std::string key;
  Position where;  ///< of the key
  ConfigNode value;
};

/// Limits that keep a hostile file from taking the machine: checked while reading.
struct YamlLimits {
  std::size_t file_bytes = 4u << 20;
  int depth = 32;
  std::size_t nodes = 200'000;
};

/// Reads one YAML document. Throws ConfigError for a missing or unreadable file, a directory, a file over the
/// limits, invalid UTF-8, YAML syntax errors, duplicate keys (all of them), anchors, aliases and tags (we
/// allow none), several documents.
ConfigNode read_yaml_file(const std::string& path, const YamlLimits& limits = {});
/// The same for text in memory; `name` stands for the file in messages.
ConfigNode read_yaml_text(std::string_view text, const std::string& name, const YamlLimits& limits = {});

/// Lays `over` upon `base`: maps merge key by key, anything else is replaced. Positions stay with their
/// values.
void overlay(ConfigNode& base, const ConfigNode& over);

/// A map whose keys may be dotted paths, written out: `engine.policy: orca` becomes `engine: {policy: orca}`.
/// Keys below the first level are left as they are. Throws ConfigError for anything but a map, for a path
/// with an empty key in it, and where two keys say something of the same thing.
ConfigNode opened_paths(const ConfigNode& map);

/// What `path.to.key=value` (value in YAML flow syntax) lays over `root`: maps down to the value. Every
/// position is "--set path.to.key=value". Throws ConfigError there: no "=", bad YAML, a path through
/// something that is no map.
ConfigNode override_node(const ConfigNode& root, const std::string& assignment);

/// Lays that over `root`. Creates missing maps on the way.
void apply_override(ConfigNode& root, const std::string& assignment);

}  // namespace inferometer
