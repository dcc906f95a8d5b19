#pragma once

// Keys whose text names a file, or something built in.

#include <string>

#include "base/config/values.hpp"

namespace inferometer {

/// Relative paths start at the folder of the file they are written in; on the command line, where it runs.
std::string directory_of(const Values& section, const std::string& key);

/// A built-in name stays; anything that looks like a path (has a slash, or ends in .json, .yaml or .yml)
/// starts from where it is written.
std::string path_or_name(const Values& section, const std::string& key);

}  // namespace inferometer
