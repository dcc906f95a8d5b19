#include "sim/scenario/scenario_layers.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/config/overlay_choices.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

constexpr std::size_t kMaxExtends = 16;

/// What stands at a dotted path, if anything.
void remove(ConfigNode& tree, const std::string& path) {
  const std::size_t dot = path.find('.');
  const std::string key = path.substr(0, dot);
  if (dot == std::string::npos) {
    std::erase_if(tree.entries, [&](const ConfigNode::Entry& entry) { return entry.key == key; });
  } else if (ConfigNode* const child = tree.find(key)) {
    remove(*child, path.substr(dot + 1));
  }
}

class Stack {
 public:
  Stack(const std::string& file, const Table& table) : table_(table) { visit(file); }

  /// Puts what `node` extends below it.
  ConfigNode with_base(ConfigNode node, const std::string& directory) {
    const ConfigNode* const extends = node.find("extends");
    if (extends == nullptr) {
      return node;
    }
    const std::string path = base_path(*extends, directory).string();
    layers_.extended.push_back({extends->scalar, path});
    ConfigNode base = with_base(read_yaml_file(path), std::filesystem::path(path).parent_path().string());
    std::erase_if(node.entries, [](const ConfigNode::Entry& entry) { return entry.key == "extends"; });
    lay(base, node, std::filesystem::path(node.where.file).filename().string());
    base.where = node.where;
    return base;
  }

  void lay(ConfigNode& base, const ConfigNode& over, const std::string& cause) {
    const std::vector<std::string> left_out = overlay_choices(base, over, table_);
    if (!left_out.empty()) {
      layers_.notes.push_back("left out, since " + cause +
                              " makes another choice: " + join_alternatives(left_out, "and"));
    }
  }

  void lay_layer(ConfigNode& base, const ScenarioLayer& layer) {
    for (const std::string& path : layer.replaced) {
      remove(base, path);
    }
    lay(base, layer.tree, layer.cause);
    layers_.notes.insert(layers_.notes.end(), layer.notes.begin(), layer.notes.end());
  }

  ScenarioLayers finish(ConfigNode tree) {
    layers_.tree = std::move(tree);
    return std::move(layers_);
  }

 private:
  bool visit(const std::string& file) {
    const std::string canonical = std::filesystem::weakly_canonical(file).string();
    const bool is_new = std::find(visited_.begin(), visited_.end(), canonical) == visited_.end();
    visited_.push_back(canonical);
    return is_new;
  }

  std::filesystem::path base_path(const ConfigNode& extends, const std::string& directory) {
    if (extends.kind != ConfigNode::Kind::scalar || extends.scalar.empty()) {
      throw ConfigError(extends.where, "extends names a file, e.g. \"extends: quickstart.yaml\"");
    }
    const std::filesystem::path path = (std::filesystem::path(directory) / extends.scalar).lexically_normal();
    if (!visit(path.string())) {
      throw ConfigError(extends.where, "extends: goes round in a circle, back to " + path.string());
    }
    if (visited_.size() > kMaxExtends) {
      throw ConfigError(extends.where,
                        "extends: goes through more than " + std::to_string(kMaxExtends) + " files");
    }
    if (!std::filesystem::exists(path)) {
      throw ConfigError(extends.where, "extends: there is no file " + path.string());
    }
    return path;
  }

  const Table& table_;
  std::vector<std::string> visited_;
  ScenarioLayers layers_;
};

void refuse_extends(const ConfigNode& over, const std::string& fault) {
  if (const ConfigNode* extends = over.find("extends")) {
    throw ConfigError(extends->where, fault);
  }
}

}  // namespace

ScenarioLayers stack_layers(ConfigNode node, const std::string& file, const std::string& directory,
                            const ScenarioOverrides& overrides, const Table& table) {
  Stack stack(file, table);
  ConfigNode tree = stack.with_base(std::move(node), directory);
  for (const ScenarioLayer& layer : overrides.layers) {
    refuse_extends(layer.tree, "extends belongs into a scenario; a study lays nothing below one");
    stack.lay_layer(tree, layer);
  }
  if (overrides.engine_command) {
    stack.lay_layer(tree, overrides.engine_command(tree));
  }
  std::vector<std::string> assignments = overrides.assignments;
  if (overrides.seed) {
    assignments.push_back("seed=" + std::to_string(*overrides.seed));
  }
  for (const std::string& assignment : assignments) {
    const ConfigNode over = override_node(tree, assignment);
    refuse_extends(over, "extends belongs into a file; a command line lays nothing below one");
    stack.lay(tree, over, "--set " + assignment);
  }
  return stack.finish(std::move(tree));
}

}  // namespace inferometer
