#include "sim/study/compare/variant_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/study/variant_name.hpp"

namespace inferometer {
namespace {

/// What a variant changes; nothing for one that says nothing.
ConfigNode changes_of(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::null) {
    return opened_paths(node);
  }
  ConfigNode nothing;
  nothing.kind = ConfigNode::Kind::map;
  nothing.where = node.where;
  return nothing;
}

}  // namespace

std::vector<Variant> read_variants(const ConfigNode& variants, Diagnostics& diagnostics) {
  if (variants.kind != ConfigNode::Kind::map || variants.entries.size() < 2) {
    diagnostics.add(
        variants.where,
        "variants: expected a map of two variants at least, such as \"{small chunks: "
        "{engine.max_num_batched_tokens: 512}, large chunks: {engine.max_num_batched_tokens: 4096}}\"");
    return {};
  }
  std::vector<Variant> result;
  for (const ConfigNode::Entry& entry : variants.entries) {
    const std::string fault = variant_name_fault(entry.key);
    if (!fault.empty()) {
      diagnostics.add(entry.where, "variants: " + fault);
    }
    try {
      result.push_back({entry.key, changes_of(entry.value)});
    } catch (const ConfigError& error) {
      for (const Diagnostic& mistake : error.diagnostics()) {
        diagnostics.add(mistake.where, fmt::format("variant {}: {}", entry.key, mistake.message));
      }
    }
  }
  return result;
}

void refuse_keys(const ConfigNode& tree, const std::vector<SetKey>& set_keys, Diagnostics& diagnostics) {
  for (const SetKey& set : set_keys) {
    const ConfigNode* found = &tree;
    for (const std::string& key : set.path) {
      found = found != nullptr ? found->find(key) : nullptr;
    }
    if (found != nullptr) {
      diagnostics.add(found->where,
                      fmt::format("{} cannot be changed here: {}", fmt::join(set.path, "."), set.by));
    }
  }
}

}  // namespace inferometer
