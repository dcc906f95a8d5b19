#include "sim/engine_arguments/setting_tree.hpp"

#include <utility>

#include "sim/engine_arguments/given_flags.hpp"

namespace inferometer {
namespace {

/// "a.b.c" -> "a" and "b.c"
std::pair<std::string, std::string_view> first_key(std::string_view path) {
  const std::size_t dot = path.find('.');
  return {std::string(path.substr(0, dot)), dot == std::string_view::npos ? "" : path.substr(dot + 1)};
}

}  // namespace

void SettingTree::set(std::string_view path, std::string text, const Position& where) {
  ConfigNode* node = &root_;
  while (!path.empty()) {
    auto [key, rest] = first_key(path);
    if (node->find(key) == nullptr) {
      ConfigNode::Entry entry;
      entry.key = key;
      entry.where = where;
      entry.value.kind = ConfigNode::Kind::map;
      entry.value.where = where;
      node->entries.push_back(std::move(entry));
    }
    node = node->find(key);
    path = rest;
  }
  *node = ConfigNode();
  node->kind = ConfigNode::Kind::scalar;
  node->where = where;
  node->scalar = std::move(text);
}

const ConfigNode* node_at(const ConfigNode& tree, std::string_view path) {
  const ConfigNode* node = &tree;
  while (node != nullptr && !path.empty()) {
    const auto [key, rest] = first_key(path);
    node = node->find(key);
    path = rest;
  }
  return node;
}

std::optional<std::string> text_at(const ConfigNode& tree, std::string_view path) {
  const ConfigNode* const node = node_at(tree, path);
  return node != nullptr && node->kind == ConfigNode::Kind::scalar ? std::optional(node->scalar)
                                                                   : std::nullopt;
}

std::optional<std::int64_t> count_at(const ConfigNode& tree, std::string_view path) {
  const std::optional<std::string> text = text_at(tree, path);
  return text ? human_count(*text) : std::nullopt;
}

}  // namespace inferometer
