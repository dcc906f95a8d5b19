#include "sim/engine_arguments/vllm_translation.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "costmodel/model_spec.hpp"

namespace inferometer {
namespace {

/// JSON is YAML as well. A single word is text.
ConfigNode read_json(const std::string& text, const Position& where) {
  ConfigNode node;
  try {
    node = read_yaml_text(text, where.file);
  } catch (const ConfigError& error) {
    throw ConfigError(where, "is no JSON: " + error.diagnostics().front().message);
  }
  return node;
}

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

/// {"a": {"b": value}} of "a.b".
ConfigNode below_key(const std::string& key, ConfigNode value) {
  const std::size_t dot = key.rfind('.');
  ConfigNode::Entry entry;
  entry.key = key.substr(dot == std::string::npos ? 0 : dot + 1);
  entry.value = std::move(value);
  ConfigNode map;
  map.kind = ConfigNode::Kind::map;
  map.entries.push_back(std::move(entry));
  return dot == std::string::npos ? map : below_key(key.substr(0, dot), std::move(map));
}

}  // namespace

const GivenFlag* VllmTranslation::last(const std::string& name) const {
  const auto found = std::find_if(command.flags.rbegin(), command.flags.rend(),
                                  [&](const GivenFlag& given) { return given.flag->name() == name; });
  return found == command.flags.rend() ? nullptr : &*found;
}

std::optional<std::string> VllmTranslation::text(const std::string& path) const {
  const std::optional<std::string> own = text_at(tree.root(), path);
  return own ? own : text_at(below, path);
}

std::int64_t VllmTranslation::count(const std::string& path, std::int64_t otherwise) const {
  const std::optional<std::int64_t> own = count_at(tree.root(), path);
  return own ? *own : count_at(below, path).value_or(otherwise);
}

std::optional<std::int64_t> VllmTranslation::count_of(const GivenFlag& given) {
  const std::optional<std::int64_t> count = human_count(given.value);
  if (!count) {
    mistakes.add(given.value_where, given.flag->name() +
                                        " is a whole number such as 8192, 8k (8000) or 8K (8192), found " +
                                        quoted_excerpt(given.value));
  }
  return count;
}

void VllmTranslation::refuse(const GivenFlag& given, const std::vector<std::string>& allowed) {
  mistakes.add(given.value_where, given.flag->name() + " is " + join_alternatives(allowed) + ", found " +
                                      quoted_excerpt(given.value) + did_you_mean(given.value, allowed));
}

void VllmTranslation::note(const GivenFlag& given, const std::string& what) {
  notes.push_back(given.flag->name() + " of --vllm-args " + what);
}

std::optional<ConfigNode> VllmTranslation::json_of(const std::string& name) {
  ConfigNode all;
  all.kind = ConfigNode::Kind::map;
  for (const GivenFlag& given : command.flags) {
    if (given.flag->name() != name) {
      continue;
    }
    try {
      ConfigNode node = read_json(given.value, given.value_where);
      if (!given.key.empty()) {
        node = below_key(given.key, std::move(node));
      }
      move_to(given.value_where, node);
      overlay(all, node);
    } catch (const ConfigError& error) {
      mistakes.add(given.value_where, name + " " + error.diagnostics().front().message);
      return std::nullopt;
    }
  }
  return all;
}

std::optional<bool> VllmTranslation::has_experts() const {
  const std::optional<std::string> name = text("model");
  if (!name) {
    return std::nullopt;
  }
  std::string path = *name;
  if (!text_at(tree.root(), "model") && (path.find('/') != std::string::npos || path.ends_with(".json"))) {
    path = (std::filesystem::path(node_at(below, "model")->where.file).parent_path() / path).string();
  }
  try {
    return load_model(path).moe.has_value();
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

}  // namespace inferometer
