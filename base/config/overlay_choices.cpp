#include "base/config/overlay_choices.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace inferometer {
namespace {

bool is_alternative(const Table& table, const std::string& name) {
  return std::find(table.alternatives().begin(), table.alternatives().end(), name) !=
         table.alternatives().end();
}

/// The word a section has chosen for a key: written, by default, or "" for none.
std::string chosen_word(const Table& table, const ConfigNode& node, const std::string& selector) {
  if (const ConfigNode* written = node.find(selector)) {
    return written->scalar;
  }
  const auto default_of = [&](const std::vector<Key>& keys) -> std::optional<std::string> {
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == selector; });
    return found == keys.end() ? std::nullopt : std::optional(found->default_text.value_or(""));
  };
  std::optional<std::string> word = default_of(table.keys());
  for (const Table::Variant& variant : table.variants()) {
    word = word ? word : default_of(variant.keys);
  }
  return word.value_or("");
}

/// Selectors of `base` whose choice `over` undoes.
std::set<std::string> undone_selectors(const ConfigNode& base, const ConfigNode& over, const Table& table) {
  std::set<std::string> undone;
  for (const ConfigNode::Entry& entry : over.entries) {
    if (is_alternative(table, entry.key) && base.find(entry.key) == nullptr) {
      std::copy_if(table.alternatives().begin(), table.alternatives().end(),
                   std::inserter(undone, undone.end()),
                   [&](const std::string& name) { return base.find(name) != nullptr; });
    }
    const bool selects =
        std::any_of(table.variants().begin(), table.variants().end(),
                    [&](const Table::Variant& v) { return v.selector == entry.key && !v.word.empty(); });
    if (selects && chosen_word(table, base, entry.key) != entry.value.scalar) {
      undone.insert(entry.key);
    }
  }
  return undone;
}

/// The table of a nested section, wherever the table declares it.
const Table* section_table(const Table& table, const std::string& name) {
  const auto search = [&](const std::vector<Key>& keys) -> const Table* {
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
    return found == keys.end() ? nullptr : found->table.get();
  };
  const Table* found = search(table.keys());
  for (const Table::Variant& variant : table.variants()) {
    found = found != nullptr ? found : search(variant.keys);
  }
  return found;
}

void drop(ConfigNode& base, const ConfigNode& over, const Table& table, const std::string& prefix,
          std::vector<std::string>& dropped) {
  if (base.kind != ConfigNode::Kind::map || over.kind != ConfigNode::Kind::map) {
    return;
  }
  std::set<std::string> undone = undone_selectors(base, over, table);
  std::set<std::string> leaving;
  for (const std::string& selector : undone) {
    if (is_alternative(table, selector) && over.find(selector) == nullptr) {
      leaving.insert(selector);
    }
  }
  for (const Table::Variant& variant : table.variants()) {
    if (undone.count(variant.selector) != 0) {
      for (const Key& key : variant.keys) {
        leaving.insert(key.name);
        undone.insert(key.name);  // a choice within the choice goes with it
      }
    }
  }
  std::erase_if(base.entries, [&](const ConfigNode::Entry& entry) {
    const bool leaves = leaving.count(entry.key) != 0;
    if (leaves && over.find(entry.key) == nullptr) {
      dropped.push_back(prefix + entry.key);
    }
    return leaves;
  });
  for (ConfigNode::Entry& entry : base.entries) {
    const ConfigNode* above = over.find(entry.key);
    const Table* nested = section_table(table, entry.key);
    if (above != nullptr && nested != nullptr) {
      drop(entry.value, *above, *nested, prefix + entry.key + ".", dropped);
    }
  }
}

}  // namespace

std::vector<std::string> overlay_choices(ConfigNode& base, const ConfigNode& over, const Table& table) {
  std::vector<std::string> dropped;
  drop(base, over, table, "", dropped);
  overlay(base, over);
  return dropped;
}

}  // namespace inferometer
