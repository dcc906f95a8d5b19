#pragma once

// The variants of a comparison, as its file has them.

#include <string>
#include <vector>

#include "base/config/config_node.hpp"
#include "base/error.hpp"

namespace inferometer {

struct Variant {
  std::string name;
  ConfigNode tree;  ///< what it changes in the base, paths written out
};

/// The key `variants`. Adds a mistake for: no map of two at least, a variant that is no map, a name that
/// cannot be shown in a line.
std::vector<Variant> read_variants(const ConfigNode& variants, Diagnostics& diagnostics);

/// A key of a scenario that the study itself sets.
struct SetKey {
  std::vector<std::string> path;  ///< {"workload", "rate"}
  std::string by;                 ///< what sets it, as a sentence
};

/// Adds a mistake for each such key that the tree has.
void refuse_keys(const ConfigNode& tree, const std::vector<SetKey>& set_keys, Diagnostics& diagnostics);

}  // namespace inferometer
