#pragma once

#include <optional>
#include <string>

#include "base/config/path_text.hpp"
#include "base/config/values.hpp"
#include "base/error.hpp"

namespace inferometer {

/// Loads what `key` names. What is wrong with the name itself is reported at its place in the scenario.
template <class Load>
auto load_named(const Values& section, const std::string& key, Diagnostics& diagnostics, Load load)
    -> std::optional<decltype(load(std::string()))> {
  try {
    return load(path_or_name(section, key));
  } catch (const ConfigError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      const bool is_about_name = diagnostic.where.line == 0;
      diagnostics.add(is_about_name ? section.where(key) : diagnostic.where,
                      diagnostic.where.file.empty() || !is_about_name
                          ? diagnostic.message
                          : diagnostic.where.file + ": " + diagnostic.message);
    }
    return std::nullopt;
  }
}

}  // namespace inferometer
