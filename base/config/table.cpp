#include "base/config/table.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace inferometer {

Key& Key::by_default(std::string text) {
  default_text = std::move(text);
  return *this;
}

Key& Key::required() {
  is_required = true;
  default_text.reset();
  return *this;
}

Key& Key::optional(std::string what_then) {
  absent_doc = std::move(what_then);
  default_text.reset();
  return *this;
}

Key& Key::range(std::string min, std::string max) {
  if (!min.empty()) {
    min_text = std::move(min);
    min_is_open = false;
  }
  if (!max.empty()) {
    max_text = std::move(max);
  }
  return *this;
}

Key& Key::above(std::string min) {
  min_text = std::move(min);
  min_is_open = true;
  return *this;
}

Key& Table::add(std::string name, ValueType type, std::string sentence) {
  const bool is_new =
      std::none_of(keys_.begin(), keys_.end(), [&](const Key& key) { return key.name == name; });
  INFEROMETER_CHECK(is_new, "two keys of one name in a table: " + name);
  return keys_.emplace_back(std::move(name), type, std::move(sentence));
}

Key& Table::add_list(std::string name, ValueType element, std::string sentence) {
  INFEROMETER_CHECK(element != ValueType::section,
                    "a list of sections is added by add_section_list: " + name);
  Key& key = add(std::move(name), element, std::move(sentence));
  key.is_list = true;
  return key;
}

Key& Table::add_choice(std::string name, std::vector<std::string> words, std::string sentence) {
  Key& key = add(std::move(name), ValueType::choice, std::move(sentence));
  key.words = std::move(words);
  return key;
}

Key& Table::add_section(std::string name, Table table, std::string sentence) {
  Key& key = add(std::move(name), ValueType::section, std::move(sentence));
  key.table = std::make_shared<const Table>(std::move(table));
  return key;
}

Key& Table::add_section_list(std::string name, Table element, std::string sentence) {
  Key& key = add_section(std::move(name), std::move(element), std::move(sentence));
  key.is_list = true;
  key.default_text = "[]";
  return key;
}

void Table::add_variant(const std::string& selector, const std::string& word, std::vector<Key> keys) {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) { return key.name == selector; });
  INFEROMETER_CHECK(found != keys_.end() && found->type == ValueType::choice && !found->is_list,
                    "a variant needs a choice key: " + selector);
  INFEROMETER_CHECK(std::find(found->words.begin(), found->words.end(), word) != found->words.end(),
                    "a variant of a word that " + selector + " does not have: " + word);
  variants_.push_back({selector, word, std::move(keys)});
}

void Table::set_alternatives(std::vector<std::string> keys) {
  for (const std::string& name : keys) {
    INFEROMETER_CHECK(
        std::any_of(keys_.begin(), keys_.end(), [&](const Key& key) { return key.name == name; }),
        "an alternative the table does not have: " + name);
  }
  alternatives_ = std::move(keys);
}

void Table::add_when_given(const std::string& key, std::vector<Key> keys) {
  const bool exists =
      std::any_of(keys_.begin(), keys_.end(), [&](const Key& each) { return each.name == key; });
  INFEROMETER_CHECK(exists, "keys that go with a key the table does not have: " + key);
  variants_.push_back({key, "", std::move(keys)});
}

}  // namespace inferometer
