#include "base/config/values_json.hpp"

#include <type_traits>

#include <nlohmann/json.hpp>

#include "base/config/table.hpp"

namespace inferometer {

nlohmann::ordered_json scalar_json(const Value::Scalar& scalar) {
  return std::visit(
      [&](const auto& value) -> nlohmann::ordered_json {
        if constexpr (requires { value.count(); }) {
          return to_text(scalar);
        } else {
          return value;
        }
      },
      scalar);
}

nlohmann::ordered_json node_json(const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::null:
      return nullptr;
    case ConfigNode::Kind::scalar:
      return node.scalar;
    case ConfigNode::Kind::sequence: {
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const ConfigNode& item : node.items) {
        list.push_back(node_json(item));
      }
      return list;
    }
    case ConfigNode::Kind::map:
      break;
  }
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const ConfigNode::Entry& entry : node.entries) {
    object[entry.key] = node_json(entry.value);
  }
  return object;
}

nlohmann::ordered_json values_json(const Values& values) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Value& value : values.all()) {
    if (value.section != nullptr) {
      object[value.key] = values_json(*value.section);
    } else if (value.tree != nullptr) {
      object[value.key] = node_json(*value.tree);
    } else if (value.is_list && value.type == ValueType::section) {
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const std::shared_ptr<const Values>& element : value.sections) {
        list.push_back(values_json(*element));
      }
      object[value.key] = std::move(list);
    } else if (value.is_list) {
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const Value::Scalar& scalar : value.scalars) {
        list.push_back(scalar_json(scalar));
      }
      object[value.key] = std::move(list);
    } else if (!value.scalars.empty()) {
      object[value.key] = scalar_json(value.scalars.front());
    }
  }
  return object;
}

}  // namespace inferometer
