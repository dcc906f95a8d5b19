#include "base/config/active_keys.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/config/utf8.hpp"
#include "base/suggest.hpp"

namespace inferometer {
namespace {

const Key* find_key(const std::vector<Key>& keys, const std::string& name) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

/// The word in force for a choice key, given or by default; nothing when absent. It may be a wrong word.
std::optional<std::string> word_of(const Key& selector, const ConfigNode& node) {
  const ConfigNode* given = node.find(selector.name);
  return given != nullptr ? std::optional(given->scalar) : selector.default_text;
}

std::string list_of(const std::vector<const Key*>& keys) {
  std::string text;
  for (const Key* key : keys) {
    text += (text.empty() ? "" : ", ") + key->name;
  }
  return text;
}

/// The sections of `table` that have a key `name` of their own.
std::vector<std::string> sections_with(const Table& table, const std::string& name) {
  std::vector<std::string> sections;
  for (const Key& key : table.keys()) {
    if (key.table == nullptr) {
      continue;
    }
    const auto& variants = key.table->variants();
    const bool has_it = find_key(key.table->keys(), name) != nullptr ||
                        std::any_of(variants.begin(), variants.end(), [&](const Table::Variant& each) {
                          return find_key(each.keys, name) != nullptr;
                        });
    if (has_it) {
      sections.push_back("\"" + key.name + "\"");
    }
  }
  return sections;
}

}  // namespace

ActiveKeys::ActiveKeys(const Table& table, const ConfigNode& node) : table_(table), node_(node) {
  for (const Key& key : table.keys()) {
    keys_.push_back(&key);
  }
  for (const Table::Variant& variant : table.variants()) {
    states_.push_back(state_of(variant));
    if (states_.back() == State::active) {
      for (const Key& key : variant.keys) {
        keys_.push_back(&key);
      }
    }
  }
}

const Key* ActiveKeys::active_key(const std::string& name) const {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key* key) { return key->name == name; });
  return found == keys_.end() ? nullptr : *found;
}

bool ActiveKeys::is_undecided(const std::string& name) const {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] == State::undecided && find_key(table_.variants()[i].keys, name) != nullptr) {
      return true;
    }
  }
  return false;
}

ActiveKeys::State ActiveKeys::state_of(const Table::Variant& variant) const {
  if (variant.word.empty()) {
    return node_.find(variant.selector) != nullptr ? State::active : State::inactive;
  }
  const Key* const found = active_key(variant.selector);
  if (found == nullptr) {
    return is_undecided(variant.selector) ? State::undecided : State::inactive;
  }
  const Key& selector = *found;
  const std::optional<std::string> word = word_of(selector, node_);
  if (!word) {
    return selector.is_required ? State::undecided : State::inactive;
  }
  if (std::find(selector.words.begin(), selector.words.end(), *word) == selector.words.end()) {
    return State::undecided;
  }
  return *word == variant.word ? State::active : State::inactive;
}

std::string ActiveKeys::unknown_key_fault(const std::string& name, const std::string& path) const {
  if (active_key(name) != nullptr || is_undecided(name)) {
    return "";
  }
  const std::string other_variant = other_variant_fault(name, path);
  if (!other_variant.empty()) {
    return other_variant;
  }
  const std::string start = fmt::format("unknown key \"{}{}\"", path.empty() ? "" : path + ".", shown(name));
  std::vector<std::string> known;
  for (const Key* key : keys_) {
    known.push_back(key->name);
  }
  const std::string before_colon = name.substr(0, name.find(':'));
  if (before_colon != name && std::find(known.begin(), known.end(), before_colon) != known.end()) {
    return fmt::format("{}; write \"{}: …\" with a space after the colon", start, before_colon);
  }
  const bool is_misspelt = !nearest_word(name, known).empty();
  const std::vector<std::string> sections = sections_with(table_, name);
  if (!sections.empty() && !is_misspelt) {
    return start + "; it belongs under " + join_alternatives(sections);
  }
  for (const Table::Variant& variant : table_.variants()) {
    for (const Key& key : variant.keys) {
      known.push_back(key.name);
    }
  }
  const std::string suggestion = did_you_mean(name, known);
  return start + (suggestion.empty() ? "; allowed: " + list_of(keys_) : suggestion);
}

/// The choice that keeps a key of other choices out: of those that the section makes and whose other words
/// have the key, the last, for it says most (one within another); "" when it makes none of them.
std::string ActiveKeys::deciding_selector(const std::string& name) const {
  std::string selector;
  bool is_within_another = false;
  for (const Table::Variant& variant : table_.variants()) {
    const Key* const choice = variant.word.empty() ? nullptr : active_key(variant.selector);
    if (choice == nullptr || !word_of(*choice, node_) || find_key(variant.keys, name) == nullptr) {
      continue;
    }
    const bool is_within = find_key(table_.keys(), variant.selector) == nullptr;
    if (selector.empty() || (is_within && !is_within_another)) {
      selector = variant.selector;
      is_within_another = is_within;
    }
  }
  return selector;
}

std::string ActiveKeys::other_variant_fault(const std::string& name, const std::string& path) const {
  const std::string decided = deciding_selector(name);
  std::vector<std::string> selectors;  // any of which would do, in table order
  std::vector<std::string> words;      // of the first of them
  for (const Table::Variant& variant : table_.variants()) {
    if (find_key(variant.keys, name) == nullptr || (!decided.empty() && variant.selector != decided)) {
      continue;
    }
    if (std::find(selectors.begin(), selectors.end(), variant.selector) == selectors.end()) {
      selectors.push_back(variant.selector);
    }
    if (variant.selector == selectors.front()) {
      words.push_back(variant.word);
    }
  }
  if (selectors.empty()) {
    return "";
  }
  const std::string start = fmt::format("\"{}{}\" goes with", path.empty() ? "" : path + ".", name);
  if (!decided.empty()) {
    std::erase(words, "");  // the key is given, so the word is what is amiss
    return fmt::format("{} {} {}, not with {}", start, decided, join_alternatives(words),
                       *word_of(*active_key(decided), node_));
  }
  if (selectors.size() > 1) {
    return fmt::format("{} {}, {} of which is given", start, join_alternatives(selectors),
                       selectors.size() == 2 ? "neither" : "none");
  }
  return words.front().empty() ? fmt::format("{} the key {}, which is not given", start, selectors.front())
                               : fmt::format("{0} {1} {2}, and {1} is not given", start, selectors.front(),
                                             join_alternatives(words));
}

ConfigNode default_node(const Key& key) {
  if (key.is_list && key.default_text->starts_with('[')) {
    return read_yaml_text(*key.default_text, "default of " + key.name);
  }
  ConfigNode node;
  node.kind = ConfigNode::Kind::scalar;
  node.scalar = *key.default_text;
  return node;
}

}  // namespace inferometer
