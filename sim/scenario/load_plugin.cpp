#include "sim/scenario/load_plugin.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include "base/config/config_node.hpp"
#include "base/error.hpp"
#include "sim/plugin/plugin.hpp"
#include "sim/scenario/disaggregation.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/shared_object.hpp"

namespace inferometer {
namespace {

constexpr const char* kSymbol = "inferometer_plugin";

/// Names -> file.
using Origins = std::map<std::string, std::string>;

Origins& policy_origins() {
  static Origins origins;
  return origins;
}

Origins& router_origins() {
  static Origins origins;
  return origins;
}

std::string origin_of(const std::string& name, const Origins& origins) {
  const auto found = origins.find(name);
  return found != origins.end() ? found->second : "";
}

[[noreturn]] void refuse(const std::string& plugin, const std::string& fault) {
  throw ConfigError(Position{"--plugin"}, plugin + " " + fault);
}

/// The loader's words, without the path that they begin with.
std::string loader_fault(const std::string& path) {
  const char* const words = dlerror();
  const std::string fault = words != nullptr ? words : "unknown reason";
  return fault.starts_with(path + ": ") ? fault.substr(path.size() + 2) : fault;
}

/// `path` is absolute: another would be looked for among the system's libraries.
void* open_plugin(const std::string& plugin, const std::string& path) {
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable)) {
    refuse(plugin, std::filesystem::exists(path, unreadable) ? "is no file" : "is not there");
  }
  if (const std::string fault = cut_off_fault(path); !fault.empty()) {
    refuse(plugin, fault);
  }
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    refuse(plugin, "cannot be loaded: " + loader_fault(path));
  }
  return opened;
}

const PluginDescription& description_in(void* opened, const std::string& plugin) {
  void* const function = dlsym(opened, kSymbol);
  if (function == nullptr) {
    refuse(plugin, "is no plugin of inferometer: it has no function " + std::string(kSymbol) +
                       ", which INFEROMETER_PLUGIN makes (sim/plugin/plugin.hpp)");
  }
  return *reinterpret_cast<const PluginDescription* (*)()>(function)();
}

void check_build(const PluginDescription& description, const std::string& plugin) {
  const std::string remedy = "; build it anew against the package that was installed with this program";
  if (description.interface_number != kPluginInterface) {
    refuse(plugin, "was built for version " + std::to_string(description.interface_number) +
                       " of the interface of plugins, and this program has version " +
                       std::to_string(kPluginInterface) + remedy);
  }
  if (std::strcmp(description.standard_library, kPluginStandardLibrary) != 0) {
    refuse(plugin, std::string("was built with ") + description.standard_library +
                       ", and this program with " + kPluginStandardLibrary + "; both need the same");
  }
  if (std::strcmp(description.sources_digest, plugin_sources_digest()) != 0) {
    refuse(plugin, "was built from the sources of another inferometer than this program" + remedy);
  }
}

void run_registration(const PluginDescription& description, PluginHost host, const std::string& plugin) {
  try {
    description.register_with(host);
  } catch (const std::exception& error) {
    refuse(plugin, std::string("failed as it registered what it has: ") + error.what());
  } catch (...) {
    refuse(plugin, "failed as it registered what it has");
  }
}

bool is_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

/// Puts entries of a plugin among those that are there; `kind` is "policy" or "router", `origins` where those
/// come from.
template <class Entry>
void add_entries(const Registry<Entry>& entries, Registry<Entry>& known, const std::string& kind,
                 const Origins& origins, const std::string& plugin) {
  for (const Entry& entry : entries.entries()) {
    const std::string named = kind + " \"" + entry.name + "\"";
    if (!is_name(entry.name)) {
      refuse(plugin, "has a " + named + ", which is no name: letters, digits, _ and - make one");
    }
    if (known.find(entry.name) != nullptr || entry.name == kDisaggregated) {
      const std::string origin = origin_of(entry.name, origins);
      refuse(plugin, "has a " + named + ", which " +
                         (origin.empty() ? "is built in" : "comes from " + origin) +
                         "; give it another name");
    }
    if (!entry.make || entry.summary.empty()) {
      refuse(plugin, "has a " + named + " without " + (entry.make ? "a summary" : "a function `make`"));
    }
    known.add(entry);
  }
}

template <class Entry>
void remember_origin(const Registry<Entry>& entries, const std::string& path, Origins& origins) {
  for (const std::string& name : entries.names()) {
    origins.emplace(name, path);
  }
}

/// Reads the keys as a scenario that names the entry would, for what is wrong with their declarations to show
/// here.
void check_keys(const Table& table, const std::vector<std::string>& taken, const std::string& name,
                const std::vector<Key>& keys, const std::string& plugin) {
  std::vector<std::string> seen = taken;
  for (const Key& key : keys) {
    if (std::find(seen.begin(), seen.end(), key.name) != seen.end()) {
      refuse(plugin, "has a key \"" + key.name + "\" of " + name + ", which is there already");
    }
    seen.push_back(key.name);
  }
  ConfigNode word;
  word.kind = ConfigNode::Kind::scalar;
  word.scalar = name;
  ConfigNode section;
  section.kind = ConfigNode::Kind::map;
  section.entries.push_back({"policy", {}, word});
  try {
    Diagnostics of_missing_keys;
    parse(table, section, of_missing_keys);
    describe(table);
  } catch (const std::logic_error& fault) {
    refuse(plugin, "has keys of " + name + " that are not declared rightly: " + fault.what());
  }
}

std::vector<std::string> names_of(const std::vector<Key>& keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) {
    names.push_back(key.name);
  }
  return names;
}

}  // namespace

void load_plugin(const std::string& plugin) {
  const std::string path = std::filesystem::absolute(plugin).lexically_normal().string();
  const PluginDescription& description = description_in(open_plugin(plugin, path), plugin);
  check_build(description, plugin);
  PolicyRegistry its_policies;
  RouterRegistry its_routers;
  run_registration(description, {its_policies, its_routers}, plugin);
  if (its_policies.entries().empty() && its_routers.entries().empty()) {
    refuse(plugin, "registers neither a policy nor a router");
  }
  PolicyRegistry policies = policy_registry();
  RouterRegistry routers = router_registry();
  add_entries(its_policies, policies, "policy", policy_origins(), plugin);
  add_entries(its_routers, routers, "router", router_origins(), plugin);
  std::vector<std::string> taken = names_of(engine_table(PolicyRegistry()).keys());
  const std::vector<std::string> of_split = names_of(disaggregation_split(policies).keys);
  taken.insert(taken.end(), of_split.begin(), of_split.end());
  for (const PolicyEntry& entry : its_policies.entries()) {
    if (!entry.step_tokens) {
      refuse(plugin, "has a policy \"" + entry.name + "\" without a function `step_tokens`");
    }
    check_keys(engine_table(policies), taken, entry.name, entry.keys, plugin);
  }
  for (const RouterEntry& entry : its_routers.entries()) {
    check_keys(router_table(routers), names_of(router_table(RouterRegistry()).keys()), entry.name, entry.keys,
               plugin);
  }
  policy_registry() = std::move(policies);
  router_registry() = std::move(routers);
  remember_origin(its_policies, path, policy_origins());
  remember_origin(its_routers, path, router_origins());
}

std::string plugin_of_policy(const std::string& name) {
  return origin_of(name, policy_origins());
}

std::string plugin_of_router(const std::string& name) {
  return origin_of(name, router_origins());
}

std::vector<std::string> loaded_plugins() {
  std::set<std::string> files;
  for (const Origins* const origins : {&policy_origins(), &router_origins()}) {
    for (const auto& [name, file] : *origins) {
      files.insert(file);
    }
  }
  return {files.begin(), files.end()};
}

}  // namespace inferometer
