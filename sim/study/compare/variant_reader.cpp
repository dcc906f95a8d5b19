#include "sim/study/compare/variant_reader.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace inferometer {
namespace {

/// As many as columns of tables and legends of charts have room for.
constexpr std::ptrdiff_t kLongestName = 40;

std::string name_fault(const std::string& name) {
  if (name.empty()) {
    return "a variant needs a name";
  }
  // Of UTF-8, all bytes but those that go on with a character.
  const auto characters = std::count_if(
      name.begin(), name.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; });
  if (characters > kLongestName) {
    return fmt::format("a variant's name has at most {} characters, found {}", kLongestName, characters);
  }
  const bool is_line = std::all_of(name.begin(), name.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte >= 0x20 && byte != 0x7f;
  });
  return is_line ? "" : "a variant's name is one line of printable characters";
}

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
    const std::string fault = name_fault(entry.key);
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
