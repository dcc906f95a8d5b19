#include "sim/scenario/pool_layers.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/config/overlay_choices.hpp"
#include "base/suggest.hpp"
#include "costmodel/cost_options.hpp"
#include "sim/scenario/disaggregation.hpp"

namespace inferometer {
namespace {

bool same_place(const Position& a, const Position& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

void add_places(const ConfigNode& node, std::vector<Position>& places) {
  places.push_back(node.where);
  for (const ConfigNode& item : node.items) {
    add_places(item, places);
  }
  for (const ConfigNode::Entry& entry : node.entries) {
    places.push_back(entry.where);
    add_places(entry.value, places);
  }
}

ConfigNode empty_map(const Position& where) {
  ConfigNode map;
  map.kind = ConfigNode::Kind::map;
  map.where = where;
  return map;
}

/// The scenario's section as its pools have it if they say nothing.
ConfigNode section_below(const ConfigNode& tree, std::string_view name) {
  const ConfigNode* const section = tree.find(name);
  return section == nullptr || section->kind == ConfigNode::Kind::null ? empty_map(tree.where) : *section;
}

/// The engine of the pools of a disaggregated cluster: with the batch policy, without the keys that split
/// requests.
ConfigNode engine_of_pools(ConfigNode engine, const EngineSplit& split) {
  const ConfigNode* const named = engine.find(split.inner);
  ConfigNode policy = named != nullptr ? *named : *engine.find("policy");
  std::erase_if(engine.entries, [&](const ConfigNode::Entry& entry) {
    return entry.key == "policy" || std::any_of(split.keys.begin(), split.keys.end(),
                                                [&](const Key& key) { return key.name == entry.key; });
  });
  if (named == nullptr) {
    const auto key = std::find_if(split.keys.begin(), split.keys.end(),
                                  [&](const Key& each) { return each.name == split.inner; });
    policy.scalar = *key->default_text;
  }
  engine.entries.insert(engine.entries.begin(), {"policy", policy.where, policy});
  return engine;
}

class Layering {
 public:
  Layering(ConfigNode& tree, const PolicyRegistry& policies)
      : split_(disaggregation_split(policies)),
        engine_table_(engine_table(policies)),
        cost_table_(cost_model_table()),
        engine_(section_below(tree, "engine")),
        cost_model_(section_below(tree, "cost_model")) {
    add_places(engine_, layers_.shared);
    add_places(cost_model_, layers_.shared);
    if (engine_.kind == ConfigNode::Kind::map && is_disaggregated(&engine_)) {
      lay_system_below(*tree.find("engine"));
      engine_ = engine_of_pools(std::move(engine_), split_);
      is_split_ = true;
    }
  }

  void lay_below(ConfigNode& pool, const std::string& name) {
    if (pool.kind == ConfigNode::Kind::null) {
      pool = empty_map(pool.where);
    }
    if (pool.kind != ConfigNode::Kind::map) {
      return;
    }
    if (is_split_ && pool.find("engine") == nullptr) {
      pool.entries.push_back({"engine", pool.where, empty_map(pool.where)});
    }
    lay(pool, "engine", engine_, engine_table_, name);
    lay(pool, "cost_model", cost_model_, cost_table_, name);
  }

  PoolLayers finish() { return std::move(layers_); }

 private:
  void lay(ConfigNode& pool, const std::string& section, const ConfigNode& below, const Table& table,
           const std::string& name) {
    ConfigNode* const own = pool.find(section);
    if (own == nullptr || below.kind != ConfigNode::Kind::map) {
      return;
    }
    if (own->kind == ConfigNode::Kind::null) {
      *own = empty_map(own->where);
    }
    if (own->kind != ConfigNode::Kind::map) {
      return;
    }
    ConfigNode whole = below;
    const std::vector<std::string> left_out = overlay_choices(whole, *own, table);
    if (!left_out.empty()) {
      layers_.notes.push_back("left out of pool " + name + ", whose " + section +
                              " makes another choice: " + join_alternatives(left_out, "and"));
    }
    whole.where = own->where;
    *own = std::move(whole);
  }

  EngineSplit split_;
  Table engine_table_;
  Table cost_table_;
  ConfigNode engine_;
  ConfigNode cost_model_;
  bool is_split_ = false;
  PoolLayers layers_;
};

}  // namespace

PoolLayers lay_below_pools(ConfigNode& tree, const PolicyRegistry& policies) {
  Layering layering(tree, policies);
  ConfigNode* const cluster = tree.find("cluster");
  ConfigNode* const pools = cluster == nullptr ? nullptr : cluster->find("pools");
  if (pools != nullptr) {
    for (ConfigNode::Entry& entry : pools->entries) {
      layering.lay_below(entry.value, entry.key);
    }
  }
  return layering.finish();
}

Diagnostics told_once(const Diagnostics& found, const PoolLayers& layers) {
  Diagnostics once;
  for (const Diagnostic& diagnostic : found.found()) {
    const bool is_shared =
        std::any_of(layers.shared.begin(), layers.shared.end(),
                    [&](const Position& place) { return same_place(place, diagnostic.where); });
    const bool is_of_pool = diagnostic.message.find("cluster.pools.") != std::string::npos;
    if (!is_shared || !is_of_pool) {
      once.add(diagnostic.where, diagnostic.message);
    }
  }
  // Words of the user's own may look like a pool's, too: a mistake is never left untold.
  return once.found().empty() ? found : once;
}

}  // namespace inferometer
