#pragma once

#include "base/config/config_node.hpp"
#include "base/error.hpp"

namespace inferometer {

/// The same mistakes; to those about a word in `scenario` that names no policy and no router it is added that
/// a plugin may have it.
Diagnostics with_plugin_hints(const Diagnostics& found, const ConfigNode& scenario);

}  // namespace inferometer
