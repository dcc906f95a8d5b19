#include "sim/scenario/plugin_hint.hpp"

#include <algorithm>

#include "sim/scenario/disaggregation.hpp"
#include "sim/scenario/scenario.hpp"

namespace inferometer {
namespace {

bool names_nothing(const std::string& word) {
  return !word.empty() && word != kDisaggregated && policy_registry().find(word) == nullptr &&
         router_registry().find(word) == nullptr;
}

/// Keys whose values plugins add to.
bool takes_plugins(std::string_view key) {
  return key == "policy" || key == "batch_policy" || key.ends_with("router");
}

/// Whether a policy or router is named at this place that there is not. `key`: that of `node`.
bool is_unknown_at(const Position& place, const ConfigNode& node, std::string_view key) {
  if (node.kind == ConfigNode::Kind::scalar) {
    return takes_plugins(key) && node.where.file == place.file && node.where.line == place.line &&
           node.where.column == place.column && names_nothing(node.scalar);
  }
  return std::any_of(node.entries.begin(), node.entries.end(), [&](const ConfigNode::Entry& entry) {
    return is_unknown_at(place, entry.value, entry.key);
  });
}

}  // namespace

Diagnostics with_plugin_hints(const Diagnostics& found, const ConfigNode& scenario) {
  Diagnostics hinted;
  for (const Diagnostic& mistake : found.found()) {
    const bool may_be_elsewhere = is_unknown_at(mistake.where, scenario, "");
    hinted.add(mistake.where, mistake.message + (may_be_elsewhere ? " (--plugin FILE loads others)" : ""));
  }
  return hinted;
}

}  // namespace inferometer
