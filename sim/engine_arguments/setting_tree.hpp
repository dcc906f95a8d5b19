#pragma once

// A scenario's tree made of single settings. Who uses it: translations of an engine's command line.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/config/config_node.hpp"

namespace inferometer {

class SettingTree {
 public:
  /// `path` is dotted; `text` as a scenario would have it. What stood there is replaced.
  void set(std::string_view path, std::string text, const Position& where);
  [[nodiscard]] bool empty() const { return root_.entries.empty(); }
  [[nodiscard]] const ConfigNode& root() const { return root_; }

 private:
  ConfigNode root_ = [] {
    ConfigNode map;
    map.kind = ConfigNode::Kind::map;
    return map;
  }();
};

/// The node at a dotted path; nullptr when there is none.
const ConfigNode* node_at(const ConfigNode& tree, std::string_view path);

/// The scalar there; nothing when there is none.
std::optional<std::string> text_at(const ConfigNode& tree, std::string_view path);

/// The whole number there; nothing when there is none.
std::optional<std::int64_t> count_at(const ConfigNode& tree, std::string_view path);

}  // namespace inferometer
