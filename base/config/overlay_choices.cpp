#include "base/config/overlay_choices.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/config/active_keys.hpp"

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

/// Keys of `base` that may go with a choice that `over` undoes.
std::set<std::string> keys_undone(const ConfigNode& base, const ConfigNode& over, const Table& table) {
  std::set<std::string> undone = undone_selectors(base, over, table);
  std::set<std::string> keys;
  std::copy_if(undone.begin(), undone.end(), std::inserter(keys, keys.end()), [&](const std::string& name) {
    return is_alternative(table, name) && over.find(name) == nullptr;
  });
  for (const Table::Variant& variant : table.variants()) {
    if (undone.count(variant.selector) != 0) {
      for (const Key& key : variant.keys) {
        keys.insert(key.name);
        undone.insert(key.name);  // a choice within the choice goes with it
      }
    }
  }
  return keys;
}

bool are_declared_alike(const Key& a, const Key& b) {
  const auto facts = [](const Key& key) {
    return std::tie(key.type, key.doc, key.is_list, key.is_required, key.default_text, key.absent_doc,
                    key.min_text, key.max_text, key.min_is_open, key.words);
  };
  return facts(a) == facts(b);
}

ConfigNode without(const ConfigNode& node, const std::set<std::string>& keys) {
  ConfigNode rest = node;
  std::erase_if(rest.entries, [&](const ConfigNode::Entry& entry) { return keys.count(entry.key) != 0; });
  return rest;
}

/// Takes out of `leaving` what means the same to the new choices as to the former ones.
void keep_what_goes_on(const ConfigNode& base, const ConfigNode& over, const Table& table,
                       std::set<std::string>& leaving) {
  const ActiveKeys before(table, base);
  const auto goes_on = [&](const std::string& name) {
    if (base.find(name) == nullptr || is_alternative(table, name)) {
      return false;
    }
    ConfigNode changed = without(base, leaving);
    overlay(changed, over);
    const ActiveKeys after(table, changed);
    const Key* const old_key = before.active_key(name);
    const Key* const new_key = after.active_key(name);
    return old_key != nullptr && new_key != nullptr && are_declared_alike(*old_key, *new_key);
  };
  // What is kept may be a choice with keys of its own.
  for (auto kept = leaving.begin(); kept != leaving.end();) {
    kept = std::find_if(leaving.begin(), leaving.end(), goes_on);
    if (kept != leaving.end()) {
      leaving.erase(kept);
      kept = leaving.begin();
    }
  }
}

void drop(ConfigNode& base, const ConfigNode& over, const Table& table, const std::string& prefix,
          std::vector<std::string>& dropped) {
  if (base.kind != ConfigNode::Kind::map || over.kind != ConfigNode::Kind::map) {
    return;
  }
  std::set<std::string> leaving = keys_undone(base, over, table);
  keep_what_goes_on(base, over, table, leaving);
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
