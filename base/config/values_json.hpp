#pragma once

// Resolved configuration as JSON, for results files.

#include <nlohmann/json_fwd.hpp>

#include "base/config/config_node.hpp"
#include "base/config/values.hpp"

namespace inferometer {

/// Numbers, flags and texts as such; quantities as text with their unit ("500 ms").
nlohmann::ordered_json scalar_json(const Value::Scalar& scalar);

/// A tree as it was written, every scalar as text.
nlohmann::ordered_json node_json(const ConfigNode& node);

/// Every key that has a value, in table order, defaults included. Lists become arrays, sections objects.
nlohmann::ordered_json values_json(const Values& values);

}  // namespace inferometer
