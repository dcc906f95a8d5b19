#include "sim/scenario/preset_layers.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/config/overlay_choices.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "costmodel/cost_options.hpp"
#include "hardware/gpu_spec.hpp"
#include "sim/scenario/disaggregation.hpp"
#include "sim/scheduler/engine_preset.hpp"

namespace inferometer {
namespace {

constexpr std::array kSections{"engine", "cost_model"};

ConfigNode empty_map(const Position& where) {
  ConfigNode map;
  map.kind = ConfigNode::Kind::map;
  map.where = where;
  return map;
}

const ConfigNode* find_path(const ConfigNode& tree, const std::string& path) {
  const std::size_t dot = path.find('.');
  const ConfigNode* const section = tree.find(path.substr(0, dot));
  return section == nullptr || dot == std::string::npos ? section : section->find(path.substr(dot + 1));
}

const ConfigNode* scalar_at(const ConfigNode& tree, const std::string& path) {
  const ConfigNode* const node = find_path(tree, path);
  return node != nullptr && node->kind == ConfigNode::Kind::scalar ? node : nullptr;
}

/// Nothing for a name that nobody knows.
std::optional<GpuSpec> gpu_of(const std::string& name) {
  try {
    return load_gpu(name);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

/// Everything written for one engine: of the scenario, or of a pool with the scenario's below.
class Written {
 public:
  Written(ConfigNode tree, const PolicyRegistry& policies)
      : tree_(std::move(tree)), engine_table_(engine_table(policies, disaggregation_split(policies))) {}

  /// From here on as a pool's engine has it: of prefill and decode apart the batch policy is its policy, and
  /// what splits requests is not its business.
  void become_pool(const PolicyRegistry& policies) {
    if (!is_disaggregated(tree_.find("engine"))) {
      return;
    }
    const EngineSplit split = disaggregation_split(policies);
    ConfigNode& engine = section_of(tree_, "engine");
    const ConfigNode* const named = engine.find(split.inner);
    const std::optional<ConfigNode> policy = named == nullptr ? std::nullopt : std::optional(*named);
    std::erase_if(engine.entries, [&](const ConfigNode::Entry& entry) {
      return entry.key == "policy" || std::any_of(split.keys.begin(), split.keys.end(),
                                                  [&](const Key& key) { return key.name == entry.key; });
    });
    if (policy) {
      engine.entries.push_back({"policy", policy->where, *policy});
    }
    engine_table_ = engine_table(policies);
  }

  /// The pool's own sections go over the scenario's.
  void lay_over(const ConfigNode& pool) {
    for (const char* section : kSections) {
      const ConfigNode* const own = pool.find(section);
      if (own != nullptr && own->kind == ConfigNode::Kind::map) {
        overlay_choices(section_of(tree_, section), *own, table_of(section));
      }
    }
  }

  [[nodiscard]] const ConfigNode* preset() const { return scalar_at(tree_, "engine.preset"); }

  /// The section with the preset below it. Adds the keys of the preset that other choices leave out.
  ConfigNode over_preset(const char* section, const EnginePreset& preset, const GpuSpec& gpu,
                         std::vector<std::string>& left_out) {
    ConfigNode below = settings_of(section, preset, gpu);
    const std::vector<std::string> left =
        overlay_choices(below, section_of(tree_, section), table_of(section));
    for (const std::string& key : left) {
      left_out.push_back(std::string(section) + "." + key);
    }
    below.where = section_of(tree_, section).where;
    return below;
  }

  static ConfigNode& section_of(ConfigNode& tree, const char* name) {
    ConfigNode* section = tree.find(name);
    if (section == nullptr) {
      tree.entries.push_back({name, tree.where, empty_map(tree.where)});
      section = &tree.entries.back().value;
    } else if (section->kind == ConfigNode::Kind::null) {
      *section = empty_map(section->where);
    }
    return *section;
  }

 private:
  [[nodiscard]] Table table_of(const std::string& section) const {
    return section == "engine" ? engine_table_ : cost_model_table();
  }

  /// Of prefill and decode apart, the preset's policy is that of the pools' engines.
  [[nodiscard]] std::string key_here(const std::string& key) const {
    const bool is_split = key == "policy" && is_disaggregated(tree_.find("engine"));
    return is_split ? std::string(kBatchPolicy) : key;
  }

  [[nodiscard]] ConfigNode settings_of(const std::string& section, const EnginePreset& preset,
                                       const GpuSpec& gpu) const {
    const Position where = this->preset()->where;
    ConfigNode map = empty_map(where);
    for (const EnginePreset::Setting& setting : preset.settings) {
      const bool is_here = setting.key.rfind(section + ".", 0) == 0;
      const bool is_off = !setting.unless_named.empty() && find_path(tree_, setting.unless_named) != nullptr;
      if (!is_here || is_off || !setting.holds_on(gpu)) {
        continue;
      }
      const std::string key = key_here(setting.key.substr(section.size() + 1));
      std::erase_if(map.entries, [&](const ConfigNode::Entry& entry) { return entry.key == key; });
      ConfigNode value;
      value.kind = ConfigNode::Kind::scalar;
      value.where = where;
      value.scalar = setting.value;
      map.entries.push_back({key, where, std::move(value)});
    }
    return map;
  }

  ConfigNode tree_;
  Table engine_table_;
};

bool has_sections(const ConfigNode& tree) {
  return std::all_of(kSections.begin(), kSections.end(), [&](const char* name) {
    const ConfigNode* const section = tree.find(name);
    return section == nullptr || section->kind == ConfigNode::Kind::map ||
           section->kind == ConfigNode::Kind::null;
  });
}

/// Fills the sections of `target`, the scenario or a pool.
void lay_preset(Written written, const ConfigNode* gpu_name, ConfigNode& target, const std::string& name,
                std::vector<std::string>& notes) {
  const ConfigNode* const preset_name = written.preset();
  if (preset_name == nullptr || gpu_name == nullptr) {
    return;
  }
  const std::vector<std::string> known = engine_preset_names();
  const std::optional<GpuSpec> gpu = gpu_of(gpu_name->scalar);
  if (!gpu || std::find(known.begin(), known.end(), preset_name->scalar) == known.end()) {
    return;
  }
  const EnginePreset preset = load_engine_preset(preset_name->scalar);
  std::vector<std::string> left_out;
  for (const char* section : kSections) {
    Written::section_of(target, section) = written.over_preset(section, preset, *gpu, left_out);
  }
  if (!left_out.empty()) {
    notes.push_back("left out of preset " + preset.name + name +
                    ", since the scenario makes another choice: " + join_alternatives(left_out, "and"));
  }
}

}  // namespace

std::vector<std::string> lay_engine_presets(ConfigNode& tree, const PolicyRegistry& policies) {
  std::vector<std::string> notes;
  if (tree.kind != ConfigNode::Kind::map || !has_sections(tree)) {
    return notes;
  }
  const Written written(tree, policies);
  const ConfigNode* const gpu = scalar_at(tree, "hardware.gpu");
  ConfigNode* const cluster = tree.find("cluster");
  ConfigNode* const pools = cluster == nullptr ? nullptr : cluster->find("pools");
  if (pools != nullptr) {
    for (ConfigNode::Entry& pool : pools->entries) {
      const ConfigNode* const own_gpu = scalar_at(pool.value, "gpu");
      const bool is_own = own_gpu != nullptr || scalar_at(pool.value, "engine.preset") != nullptr;
      if (is_own && has_sections(pool.value)) {
        Written of_pool = written;
        of_pool.become_pool(policies);
        of_pool.lay_over(pool.value);
        lay_preset(std::move(of_pool), own_gpu != nullptr ? own_gpu : gpu, pool.value, " in pool " + pool.key,
                   notes);
      }
    }
  }
  const std::optional<ConfigNode> gpu_copy = gpu == nullptr ? std::nullopt : std::optional(*gpu);
  lay_preset(written, gpu_copy ? &*gpu_copy : nullptr, tree, "", notes);
  return notes;
}

}  // namespace inferometer
