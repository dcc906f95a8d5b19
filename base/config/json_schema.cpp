// Variants are written so that editors of any draft since 7 understand them: the object lists every key of
// every variant and allows no others; "if/then" gives the keys of the chosen word their types; and each key
// that only some words have is forbidden (schema `false`) with the others.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/config/active_keys.hpp"
#include "base/config/scalar_text.hpp"
#include "base/config/table.hpp"
#include "base/config/values_json.hpp"

namespace inferometer {
namespace {

using Json = nlohmann::ordered_json;

Json section_schema(const Table& table);
Json relaxed(Json schema);

Json number_of(const Key& key, const std::string& text) {
  ConfigNode node;
  node.kind = ConfigNode::Kind::scalar;
  node.scalar = text;
  Key bare = key;
  const Parsed parsed = parse_scalar(bare, node);
  INFEROMETER_CHECK(parsed.index() == 0, "a default or bound of " + key.name + " cannot be read: " + text);
  return scalar_json(std::get<0>(parsed));
}

void add_bounds(const Key& key, Json& schema) {
  const Bounds bounds = bounds_of(key);
  if (bounds.min_text) {
    schema[bounds.min_is_open ? "exclusiveMinimum" : "minimum"] = number_of(key, *bounds.min_text);
  }
  if (bounds.max_text) {
    schema["maximum"] = number_of(key, *bounds.max_text);
  }
}

Json value_schema(const Key& key) {
  switch (key.type) {
    case ValueType::count: {
      Json schema{{"type", "integer"}};
      add_bounds(key, schema);
      return schema;
    }
    case ValueType::number: {
      Json schema{{"type", "number"}};
      add_bounds(key, schema);
      return schema;
    }
    case ValueType::flag:
      return {{"type", "boolean"}};
    case ValueType::text:
      return {{"type", {"string", "number", "boolean"}}};
    case ValueType::choice:
      return {{"enum", key.words}};
    case ValueType::tree:
      return Json::object();
    case ValueType::section:
      return key.is_partial ? relaxed(section_schema(*key.table)) : section_schema(*key.table);
    default:
      return {{"type", "string"}, {"pattern", quantity_pattern(key.type)}};
  }
}

/// What JSON Schema cannot check or an editor cannot show goes into the sentence.
std::string description_of(const Key& key) {
  std::string text = sentence(key.doc);
  if (has_unit(key.type) && key.min_text) {
    text += (key.min_is_open ? " More than " : " At least ") + *key.min_text + ".";
  }
  if (has_unit(key.type) && key.max_text) {
    text += " At most " + *key.max_text + ".";
  }
  if (!key.absent_doc.empty()) {
    text += " When absent: " + sentence(key.absent_doc);
  }
  return text;
}

Json default_json(const Key& key) {
  const ConfigNode node = default_node(key);
  if (!key.is_list || node.kind != ConfigNode::Kind::sequence) {
    return has_unit(key.type) ? Json(*key.default_text) : number_of(key, *key.default_text);
  }
  Json list = Json::array();
  for (const ConfigNode& item : node.items) {
    list.push_back(number_of(key, item.scalar));
  }
  return list;
}

Json key_schema(const Key& key) {
  Json schema{{"description", description_of(key)}};
  const Json value = value_schema(key);
  if (key.is_list && key.type == ValueType::section) {
    schema["type"] = "array";
    schema["items"] = value;
  } else if (key.is_list) {
    schema["anyOf"] = Json::array({value, Json{{"type", "array"}, {"items", value}}});
  } else {
    for (const auto& [name, part] : value.items()) {
      schema[name] = part;
    }
    schema["description"] = description_of(key);  // of the key, not of the section it holds
  }
  if (key.default_text) {
    schema["default"] = default_json(key);
  } else if (has_unit(key.type)) {
    schema["examples"] = Json::array({std::string(unit_family(key.type).example)});
  }
  return schema;
}

/// True of required keys, and of sections that hold one and may not be left out.
bool must_be_given(const Key& key) {
  if (key.is_required || key.table == nullptr || key.is_list || !key.absent_doc.empty()) {
    return key.is_required;
  }
  return std::any_of(key.table->keys().begin(), key.table->keys().end(), must_be_given);
}

void add_keys(const std::vector<Key>& keys, Json& properties, Json& required) {
  for (const Key& key : keys) {
    properties[key.name] = key_schema(key);
    if (must_be_given(key)) {
      required.push_back(key.name);
    }
  }
}

const Key* find_key(const std::vector<Key>& keys, const std::string& name) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

Json may_have(const Table& table, const std::string& name);

/// True of an object in which `selector` has one of the words, given or by default; for no words: is given.
Json selected(const Table& table, const std::string& selector, const std::vector<std::string>& words) {
  if (words.empty()) {
    return {{"required", Json::array({selector})}};
  }
  const Key* key = find_key(table.keys(), selector);
  const bool is_of_variant = key == nullptr;
  for (const Table::Variant& variant : table.variants()) {
    key = key != nullptr ? key : find_key(variant.keys, selector);
  }
  INFEROMETER_CHECK(key != nullptr, "a variant's selector must be a key: " + selector);
  Json condition{{"properties", {{selector, {{"enum", words}}}}}};
  const bool is_default =
      key->default_text && std::find(words.begin(), words.end(), *key->default_text) != words.end();
  if (!is_default) {
    condition["required"] = Json::array({selector});
  }
  return is_of_variant ? Json{{"allOf", Json::array({may_have(table, selector), condition})}} : condition;
}

/// True of an object that may have the variant key `name`: any selector with any of the words that have it.
Json may_have(const Table& table, const std::string& name) {
  Json alternatives = Json::array();
  std::vector<std::string> selectors_done;
  for (const Table::Variant& first : table.variants()) {
    if (std::find(selectors_done.begin(), selectors_done.end(), first.selector) != selectors_done.end()) {
      continue;
    }
    selectors_done.push_back(first.selector);
    std::vector<std::string> words;
    bool has_it = false;
    for (const Table::Variant& variant : table.variants()) {
      const bool is_here = find_key(variant.keys, name) != nullptr;
      if (variant.selector == first.selector && is_here) {
        has_it = true;
        words.push_back(variant.word);
      }
    }
    if (has_it) {
      const bool is_when_given = words.front().empty();
      alternatives.push_back(
          selected(table, first.selector, is_when_given ? std::vector<std::string>() : words));
    }
  }
  return alternatives.size() == 1 ? alternatives.front() : Json{{"anyOf", alternatives}};
}

void add_variants(const Table& table, Json& properties, Json& rules) {
  Json limits = Json::array();
  for (const Table::Variant& variant : table.variants()) {
    Json own = Json::object();
    Json required = Json::array();
    add_keys(variant.keys, own, required);
    std::vector<std::string> word;
    if (!variant.word.empty()) {
      word.push_back(variant.word);
    }
    rules.push_back({{"if", selected(table, variant.selector, word)}, {"then", {{"properties", own}}}});
    if (!required.empty()) {
      rules.back()["then"]["required"] = required;
    }
    for (const Key& key : variant.keys) {
      if (!properties.contains(key.name)) {
        properties[key.name] = {{"description", description_of(key)}};
        limits.push_back(
            {{"if", may_have(table, key.name)}, {"else", {{"properties", {{key.name, false}}}}}});
      }
    }
  }
  for (Json& limit : limits) {
    rules.push_back(std::move(limit));
  }
}

Json object_schema(const Table& table) {
  Json properties = Json::object();
  Json required = Json::array();
  Json rules = Json::array();
  add_keys(table.keys(), properties, required);
  add_variants(table, properties, rules);
  Json schema{{"type", "object"}};
  if (!table.summary().empty()) {
    schema["description"] = sentence(table.summary());
  }
  schema["properties"] = std::move(properties);
  schema["additionalProperties"] = false;
  if (!required.empty()) {
    schema["required"] = std::move(required);
  }
  if (!rules.empty()) {
    schema["allOf"] = std::move(rules);
  }
  return schema;
}

Json section_schema(const Table& table) {
  const Key* const bare = find_key(table.keys(), table.bare_value());
  return bare == nullptr ? object_schema(table)
                         : Json{{"anyOf", Json::array({value_schema(*bare), object_schema(table)})}};
}

/// What holds of a part of an object: nothing must be there, and what goes with a choice cannot be told. A
/// list replaces the one below it, so that its elements are whole.
Json relaxed(Json schema) {
  const bool is_list = schema.is_object() && schema.contains("type") && schema["type"] == "array";
  if (!schema.is_object() || is_list) {
    return schema;
  }
  if (schema.contains("required") && schema["required"].is_array()) {
    schema.erase("required");
  }
  if (schema.contains("allOf") && schema["allOf"].is_array()) {
    schema.erase("allOf");
  }
  for (auto& part : schema) {
    part = relaxed(std::move(part));
  }
  return schema;
}

}  // namespace

std::string json_schema(const Table& table, const std::string& overlay_key) {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
  if (!table.name().empty()) {
    schema["title"] = table.name();
  }
  const Json whole = object_schema(table);
  if (!overlay_key.empty()) {
    schema["if"] = {{"required", Json::array({overlay_key})}};
    schema["then"] = relaxed(whole);
    schema["else"] = whole;
    return schema.dump(2) + "\n";
  }
  for (const auto& [name, part] : whole.items()) {
    schema[name] = part;
  }
  return schema.dump(2) + "\n";
}

}  // namespace inferometer
